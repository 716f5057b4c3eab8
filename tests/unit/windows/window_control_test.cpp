#include <doctest/doctest.h>
#include <allocscope/allocscope.hpp>
#include <allocscope/windows/window_reading.hpp>

using allocscope::detail::close_window_now;
using allocscope::detail::counts_now;
using allocscope::detail::open_window_now;
using allocscope::detail::process;
using allocscope::detail::slot_of;
using allocscope::detail::window_id;

TEST_CASE("windows: the id of a closed window does not find its successor in the slot") {
    const window_id first = open_window_now("first", {});
    REQUIRE(first != 0);
    close_window_now(first);
    const window_id second = open_window_now("second", {});
    REQUIRE(second != 0);
    REQUIRE(slot_of(second) == slot_of(first));
    CHECK(second != first);
    int* object = new int(1);
    __asm__ volatile("" : "+r"(object) : : "memory");
    CHECK(counts_now(first).allocations == 0);
    close_window_now(first);  // closes nothing
    CHECK(process.windows.open_count() == 1);
    CHECK(counts_now(second).allocations >= 1);
    delete object;
    close_window_now(second);
    CHECK(process.windows.open_count() == 0);
    CHECK(counts_now(second).allocations == 0);
    close_window_now(0);
}
