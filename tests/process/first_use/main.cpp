// Allocations made while a function-local static is initialised are told from all others, whatever
// stands around them in the same function.
// not with: tsan (its code stands between a call and the question after it)
// about: stacks

#include <allocscope/unwind/first_use.hpp>

#include <cstdint>
#include <string>

#include "support/process_test.hpp"

namespace {

using allocscope_test::watchdog;

// Stands in the place of an allocation: asks about its own caller.
__attribute__((noinline)) bool is_inside_first_use() {
    return allocscope::detail::initialisation_around(
               reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))) != 0;
}

std::size_t length = 50;  // not a constant: a static made of it is initialised at run time

bool in_a_static() {
    static const bool answer = is_inside_first_use();
    return answer;
}

bool in_the_second_of_two_statics() {
    static const std::string one(length, 'x');
    static const bool answer = is_inside_first_use();
    return answer && !one.empty();
}

bool in_a_loop_with_a_static(bool& outside) {
    bool answer = false;
    for (std::size_t i = 0; i < length; ++i) {
        outside = is_inside_first_use() || outside;
        static const bool first = is_inside_first_use();
        static const std::string other(length, 'y');
        outside = is_inside_first_use() || outside || other.empty();
        answer = first;
    }
    return answer;
}

bool before_a_static() {
    const bool answer = is_inside_first_use();
    static const std::string kept(length, 'x');
    return answer || kept.empty();
}

bool behind_a_static() {
    static const std::string kept(length, 'x');
    const bool answer = is_inside_first_use();
    return answer || kept.empty();
}

bool between_two_statics() {
    static const std::string one(length, 'x');
    const bool answer = is_inside_first_use();
    static const std::string two(length, 'y');
    return answer || one == two;
}

bool in_a_static_in_a_static(bool& inside, bool& behind) {
    static const bool answer = [&]() __attribute__((always_inline)) {
        static const bool inner = is_inside_first_use();
        behind = is_inside_first_use();  // still in the outer one
        return inner;
    }
    ();
    inside = answer;
    return is_inside_first_use();
}

bool without_a_static() {
    const bool answer = is_inside_first_use();
    return answer || length == 0;
}

}  // namespace

int main() {
    watchdog();
    // A program that is bound lazily knows where __cxa_guard_release is once it has been called. A
    // check asks later than that.
    static const std::string bound(length, 'x');
    ALLOCSCOPE_EXPECT(!bound.empty());
    bool is_inner_inside = false;
    bool is_inside_behind = false;
    ALLOCSCOPE_EXPECT(!in_a_static_in_a_static(is_inner_inside, is_inside_behind));
    ALLOCSCOPE_EXPECT(is_inner_inside);
    ALLOCSCOPE_EXPECT(is_inside_behind);
    ALLOCSCOPE_EXPECT(in_a_static());
    ALLOCSCOPE_EXPECT(in_the_second_of_two_statics());
    bool outside = false;
    ALLOCSCOPE_EXPECT(in_a_loop_with_a_static(outside));
    ALLOCSCOPE_EXPECT(!outside);
    ALLOCSCOPE_EXPECT(!before_a_static());
    ALLOCSCOPE_EXPECT(!behind_a_static());
    ALLOCSCOPE_EXPECT(!between_two_statics());
    ALLOCSCOPE_EXPECT(!without_a_static());
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::detail::initialisation_around(0), 0);
    ALLOCSCOPE_EXPECT_EQUAL(
        allocscope::detail::initialisation_around(reinterpret_cast<std::uintptr_t>(&length)), 0);
    return allocscope_test::verdict();
}
