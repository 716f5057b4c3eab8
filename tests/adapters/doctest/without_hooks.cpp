// A program that checks every case but has not replaced operator new.
#include <allocscope/integrations/doctest.hpp>

ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE(allocscope::threads::current);

TEST_CASE("first") {
    CHECK(1 == 1);
}
TEST_CASE("second") {
    CHECK(1 == 1);
}
TEST_CASE("may fail" * doctest::may_fail()) {}
TEST_CASE("blocks") {
    ALLOCSCOPE_CHECK_NO_LEAKS {}
    ALLOCSCOPE_CHECK_NO_ALLOCATIONS {}
    ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(1) {}
}
