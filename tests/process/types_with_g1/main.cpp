// Danger: with -g1, which describes functions and lines, but no types and no variables, the class
// of a header is unknown or lacks its scopes, and so is what the compiler deduces.
// hooks: malloc
// not with: asan, tsan (they have a malloc of their own, which does not record exceptions)
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"
#include "../../support/rows_by_type.hpp"
#include "grid.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdint>
#include <new>

using namespace allocscope_test;

namespace shop {

template <class T>
typename grid<T>::cursor* grid<T>::begin() {
    return new cursor{cells_, 0};
}

template <class T>
struct box {
    explicit box(T given) : value(given) { opaque(this); }
    T value;
};

__attribute__((noinline)) void fill(marks* to) {
    to->first = static_cast<char16_t*>(::operator new(4 * sizeof(*to->first)));
}

// Nothing that reads the source sees this class.
#define ALLOCSCOPE_TEST_FAULT(name)          \
    struct name {                            \
        explicit name(int) { opaque(this); } \
    };
ALLOCSCOPE_TEST_FAULT(fault)

__attribute__((noinline)) void fail(int number) {
    throw fault(number);
}

}  // namespace shop

namespace {

std::uint64_t thrown() {
    const allocscope::scope window{"exceptions"};
    try {
        shop::fail(3);
    } catch (const shop::fault&) {
        return objects_of_type(window.stats(), "shop::fault");
    }
    return 0;
}

}  // namespace

int main() {
    watchdog();
    const allocscope::scope window{"g1"};
    shop::grid<short> cells;
    shop::marks marks{};
    shop::fill(&marks);
    opaque(&marks);
    opaque(cells.begin());
    opaque(new shop::box(2.5));
    opaque(new shop::box(&marks));
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "char16_t"), 1);
#ifdef __clang__  // writes no arguments of templates
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "?"), 2);
    return verdict();
#endif
    ALLOCSCOPE_EXPECT_EQUAL(thrown(), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::grid<short>::cursor"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::box<double>"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::box<shop::marks*>"), 1);
    return verdict();
}
