// Danger: an exception has the type of something that was made on the way to it, or none.
// hooks: malloc
// not with: asan, tsan (they have a malloc of their own, which is not recorded)
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"
#include "refusal.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace allocscope_test;

// Only the constructor that the code calls tells what it throws.
#define ALLOCSCOPE_REFUSE_IF(x) ((x) ? throw shop::refusal(#x) : (void)0)

namespace shop {

struct failure : std::runtime_error {
    std::vector<int> codes;
    failure(const char* why, std::vector<int> all)
        : std::runtime_error(why), codes(std::move(all)) {}
};
struct part {
    int number;
};

failure made(int number) {
    return failure("made by a function", {number});
}

[[noreturn]] __attribute__((noinline)) void raise(int number) {
    switch (number) {
        case 0:
            throw failure("with a list", {1, 2, 3});
        case 1:
            throw std::out_of_range(std::to_string(number));
        case 2:
            throw part{3};
        case 3:
            throw made(number);
        case 4:
            throw number;
        case 5:
            throw std::vector<part>{{4}};
        case 6: {
            const part known{5};
            throw known;
        }
        default:
            throw new part{6};  // the exception is a pointer
    }
}

class desk {
public:
    struct lost : failure {
        explicit lost(int number);
    };
    [[noreturn]] void open(int number) const;
};
__attribute__((noinline)) desk::lost::lost(int number) : failure("at a desk", {number}) {}
__attribute__((noinline)) void desk::open(int number) const {
    throw lost(number);
}

template <class T>
[[noreturn]] __attribute__((noinline)) void raise_value(const T& value) {
    throw T(value);
}

}  // namespace shop

namespace {

// How many of the live objects that the rows show at those lines have the type.
template <class Raise>
std::uint64_t thrown_as(const char* type, const Raise& raise) {
    const allocscope::scope window{"exceptions"};
    std::uint64_t objects = 0;
    const auto count = [&] {
        for (const allocscope::snapshot::row& row : window.stats()) {
            std::printf("%llu %s:%d:%s\n", static_cast<unsigned long long>(row.objects), row.file,
                        row.line, row.type);
            if (std::strcmp(row.type, type) == 0) objects += row.objects;
        }
    };
    try {
        raise();
    } catch (shop::part* made) {
        count();
        delete made;
    } catch (...) {
        count();
    }
    return objects;
}

}  // namespace

int main() {
    watchdog();
    const char* const types[] = {
        "shop::failure", "std::out_of_range",       "shop::part", "shop::failure",
        "int",           "std::vector<shop::part>", "shop::part"};
    int number = 0;
    for (const char* type : types) {
        ALLOCSCOPE_EXPECT_EQUAL(thrown_as(type, [&] { shop::raise(number); }), 1);
        ++number;
    }
    ALLOCSCOPE_EXPECT_EQUAL(thrown_as("shop::part", [] { shop::raise(7); }), 1);
    ALLOCSCOPE_EXPECT_EQUAL(thrown_as("?", [] { shop::raise(7); }), 1);
    ALLOCSCOPE_EXPECT_EQUAL(thrown_as("shop::part", [] { shop::raise_value(shop::part{7}); }), 1);
    ALLOCSCOPE_EXPECT_EQUAL(thrown_as("shop::desk::lost", [] { shop::desk().open(8); }), 1);
    const auto refuse = [&] { ALLOCSCOPE_REFUSE_IF(number > 3); };
    ALLOCSCOPE_EXPECT_EQUAL(thrown_as("shop::refusal", refuse), 1);
    std::vector<int> numbers(3);
    opaque(numbers.data());
    ALLOCSCOPE_EXPECT_EQUAL(thrown_as("std::out_of_range", [&] { opaque(&numbers.at(7)); }), 1);
    return verdict();
}
