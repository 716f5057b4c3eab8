// The two distances of a thread, and what a reader learns from them.
// not with: tsan (there an event is counted in one step)

#include <allocscope/record/peak_tracking.hpp>

#include <doctest/doctest.h>
#include <new>

namespace {

using namespace allocscope::detail;

thread_state& fresh_state() {
    static thread_state state;
    state.~thread_state();
    return *::new (&state) thread_state;
}

TEST_CASE("between two events a thread is in none") {
    thread_state& thread = fresh_state();
    CHECK(bytes_between_steps(thread) == 0);
    add_live_bytes(thread, 100);
    CHECK(bytes_between_steps(thread) == 0);
    remove_live_bytes(thread, 60);
    CHECK(bytes_between_steps(thread) == 0);
    add_live_bytes(thread, 10);  // below the peak
    CHECK(bytes_between_steps(thread) == 0);
    add_live_bytes(thread, 2 * flush_bytes);  // more than is kept back
    CHECK(bytes_between_steps(thread) == 0);
    remove_live_bytes(thread, 2 * flush_bytes);
    CHECK(bytes_between_steps(thread) == 0);
}

TEST_CASE("an event whose second distance is missing is seen, and mended when it was abandoned") {
    thread_state& thread = fresh_state();
    add_live_bytes(thread, 1000);
    remove_live_bytes(thread, 900);

    thread.bytes_below_peak -= 48;  // a birth
    CHECK(bytes_between_steps(thread) == 48);
    mend_pending(thread);
    CHECK(bytes_between_steps(thread) == 0);
    CHECK(pending_bytes(thread) == 100);
    CHECK(thread.bytes_below_peak == 900);

    thread.bytes_above_floor -= 40;  // a death
    CHECK(bytes_between_steps(thread) == 40);
    mend_pending(thread);
    CHECK(bytes_between_steps(thread) == 0);
    CHECK(pending_bytes(thread) == 60);

    thread.bytes_above_floor += 2000;  // a birth that reaches a new peak
    mend_pending(thread);
    CHECK(bytes_between_steps(thread) == 0);
    CHECK(thread.pending_peak.load() == 2060);
    CHECK(thread.bytes_below_peak == 0);
}

TEST_CASE("what a reader sees of a thread that runs is bounded") {
    thread_state& thread = fresh_state();
    thread.bytes_below_peak = 1 << 30;
    CHECK(bytes_between_steps(thread) == 2 * flush_bytes);
    thread.bytes_below_peak = -(1 << 30);
    CHECK(bytes_between_steps(thread) == 2 * flush_bytes);
}

}  // namespace
