// Danger: what a header of another folder has is not found: the initialiser of a member, an alias
// of a class, a macro that throws. Then types are unknown.
// hooks: malloc
// not with: asan, tsan (they have a malloc of their own, which does not record exceptions)
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"
#include "../../support/rows_by_type.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdint>
#include <cstring>
#include <shop/depot.hpp>
#include <shop/failures.hpp>

using namespace allocscope_test;
using allocscope::snapshot;

namespace {

__attribute__((noinline)) void check(int number) {
    ALLOCSCOPE_TEST_REQUIRE(number < 9);
    if (number == 1) ALLOCSCOPE_TEST_THROW(shop::bad_order("too many"));
    if (number == 2) ALLOCSCOPE_TEST_THROW(shop::bad_number(number));
}

std::uint64_t thrown(int number, const char* type) {
    const allocscope::scope window{"exceptions"};
    try {
        check(number);
    } catch (const shop::bad_order&) {
        return objects_of_type(window.stats(), type);
    }
    return 0;
}

}  // namespace

int main() {
    watchdog();
    for (const int number : {1, 2, 9})
        ALLOCSCOPE_EXPECT_EQUAL(thrown(number, "shop::bad_order"), 1);

    const allocscope::scope window{"members"};
    shop::depot depot;
    depot.fill();
    opaque(&depot);
    const snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "std::array<double, 7>"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::shelf"), 1);
    for (const snapshot::row& row : seen) {
        if (std::strcmp(row.type, "shop::shelf") != 0) continue;
        const char* const name = std::strrchr(row.file, '/');
        ALLOCSCOPE_EXPECT(name != nullptr && std::strcmp(name, "/depot.hpp") == 0);
        ALLOCSCOPE_EXPECT_EQUAL(row.line, 29);
    }
    return verdict();
}
