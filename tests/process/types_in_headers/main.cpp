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

bool ends_with(const char* text, const char* end) {
    const std::size_t size = std::strlen(text);
    return size >= std::strlen(end) && std::strcmp(text + size - std::strlen(end), end) == 0;
}

// The rows with that type, and the frames that give them their places, are in the header.
void is_in_header(const snapshot& seen, const char* type, int line) {
    for (const snapshot::row& row : seen) {
        if (std::strcmp(row.type, type) != 0) continue;
        const snapshot::frame& frame = row.frames[row.user_frame];
        ALLOCSCOPE_EXPECT(ends_with(row.file, "/depot.hpp"));
        ALLOCSCOPE_EXPECT(ends_with(frame.file, "/depot.hpp"));
        ALLOCSCOPE_EXPECT_EQUAL(row.line, line);
        ALLOCSCOPE_EXPECT_EQUAL(frame.line, line);
    }
    ALLOCSCOPE_EXPECT(objects_of_type(seen, type) != 0);
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
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::crate"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "char16_t"), 1);
    is_in_header(seen, "shop::shelf", 29);
    is_in_header(seen, "short", 30);
    // A report knows no path of the sources that another one has read.
    ALLOCSCOPE_EXPECT_EQUAL(thrown(1, "shop::bad_order"), 1);
    is_in_header(window.stats(), "shop::shelf", 29);
    return verdict();
}
