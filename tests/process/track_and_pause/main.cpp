// Danger: the small doors (track, the free functions, pause_recording) disturb each other or
// swallow what passes through them.

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <memory>
#include <new>
#include <stdexcept>

using namespace allocscope_test;

namespace {

void* left = nullptr;

void tracking() {
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::track([] { left = allocate(12); }).live_bytes(), 12);
    release(left);
    ALLOCSCOPE_EXPECT(allocscope::track([] { release(allocate(12)); }).empty());
    const auto owner = std::make_unique<int>(3);
    int seen = 0;
    allocscope::track([&seen, moved = owner.get()] { seen = *moved; });
    ALLOCSCOPE_EXPECT_EQUAL(seen, 3);

    bool is_caught = false;
    try {
        allocscope::track([] { throw std::out_of_range("through track"); });
    } catch (const std::out_of_range&) {
        is_caught = true;
    }
    ALLOCSCOPE_EXPECT(is_caught);
}

void free_functions() {
    ALLOCSCOPE_EXPECT(allocscope::stats().info().not_recording[0] != 0);
    ALLOCSCOPE_EXPECT(allocscope::stop().info().not_recording[0] != 0);
    allocscope::start();
    void* object = allocate(20);
    allocscope::start();  // it has started already: nothing is forgotten
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stats().live_objects(), 1);
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::track([] { left = allocate(1); }).live_objects(), 1);
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stats_and_forget().live_objects(), 2);
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stats().live_objects(), 0);
    ALLOCSCOPE_EXPECT(allocscope::stats().info().not_recording[0] == 0);
    release(object);
    release(left);
    object = allocate(30);
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stop().live_bytes(), 30);
    release(object);
    // The last snapshot is repeated, as a stopped scope does.
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stats().live_bytes(), 30);
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stats_and_forget().live_bytes(), 30);
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stop().live_bytes(), 30);
    ALLOCSCOPE_EXPECT(allocscope::stats().info().not_recording[0] == 0);
    allocscope::start();
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stats().info().totals.allocations, 0);
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stop().info().totals.allocations, 0);
}

// A thread that ends without unwinding leaves its pause behind: for nobody else.
void a_thread_that_ends_paused() {
    const allocscope::scope window{"one thread after another"};
    const auto end_paused = [](void*) {
        alignas(allocscope::pause_recording) static char place[sizeof(allocscope::pause_recording)];
        ::new (place) allocscope::pause_recording;
        release(allocate(4));
    };
    for (int i = 1; i <= 3; ++i) {
        own_thread paused;
        paused.start(end_paused, nullptr);
        paused.join();
        own_thread next;
        next.start([](void*) { release(allocate(16)); }, nullptr);
        next.join();
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, static_cast<std::uint64_t>(i));
    }
}

void pausing() {
    allocscope::scope window{"pause"};
    void* before = allocate(1);
    void* uncharged[3];
    {
        const allocscope::pause_recording outer;
        uncharged[0] = allocate(2);
        {
            const allocscope::pause_recording inner;
            uncharged[1] = allocate(4);
        }
        uncharged[2] = allocate(8);  // the outer one still holds
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 1);
        release(before);  // deaths are seen all the same
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 1);
        own_thread other;
        other.start([](void*) { left = allocate(16); }, nullptr);  // it pauses one thread only
        other.join();
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 2);
        const allocscope::scope opened_in_a_pause{"inside"};
        void* object = allocate(32);
        ALLOCSCOPE_EXPECT_EQUAL(opened_in_a_pause.counts().allocations, 0);
        release(object);
    }
    for (void* object : uncharged) release(object);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 1);
    void* after = allocate(64);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 3);
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().live_bytes(), 80);
    release(after);
    release(left);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    expect_accounted(window.stats(), {3, 3});
}

void pausing_before_any_window() {
    const allocscope::pause_recording early;
    allocscope::scope window{"opened later"};
    void* object = allocate(3);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 0);
    release(object);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 0);
}

// Without memory for the thread's state there is nothing to pause, and nothing may be taken back.
void pausing_without_memory() {
    allocscope::scope window{"refused"};
    own_thread other;
    other.start(
        [](void*) {
            allocscope::detail::mappings_until_refusal.store(0);
            {
                const allocscope::pause_recording refused;
                allocscope::detail::mappings_until_refusal.store(-1);
            }
            left = allocate(16);
        },
        nullptr);
    other.join();
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 1);
    release(left);
}

}  // namespace

int main() {
    watchdog();
    pausing_without_memory();
    tracking();
    free_functions();
    pausing();
    a_thread_that_ends_paused();
    pausing_before_any_window();
    tracking();
    return verdict();
}
