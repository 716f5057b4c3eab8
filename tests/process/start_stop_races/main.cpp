// Danger: opening and closing windows from several threads at once, while others allocate, loses
// objects, leaves a window open for ever, or deadlocks.

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>

#include <atomic>

using namespace allocscope_test;

namespace {

std::atomic<bool> is_over{false};
std::atomic<std::uint64_t> born{0};

void allocate_until_over(void*) {
    void* ring[64] = {};
    std::uint64_t mine = 0;
    for (std::size_t i = 0; !is_over.load(std::memory_order_relaxed); ++i) {
        release(ring[i % 64]);
        ring[i % 64] = allocate(16 + i % 200);
        ++mine;
    }
    for (void* object : ring) release(object);
    born += mine;
}

void open_and_close(void* argument) {
    const bool is_current = argument != nullptr;
    allocscope::options wanted;
    wanted.from = is_current ? allocscope::threads::current : allocscope::threads::all;
    for (long i = scaled(40000); i > 0; --i) {
        allocscope::scope window{"short", wanted};
        void* object = allocate(48);
        const allocscope::allocation_counts seen = window.counts();
        if (is_current) {
            ALLOCSCOPE_EXPECT_EQUAL(seen.allocations, 1);
            ALLOCSCOPE_EXPECT_EQUAL(seen.live_bytes(), 48);
        } else {
            ALLOCSCOPE_EXPECT(seen.allocations >= 1);
            ALLOCSCOPE_EXPECT_AT_MOST(seen.frees, seen.allocations);
        }
        release(object);
    }
    born += static_cast<std::uint64_t>(scaled(40000));
}

void start_and_stop(void*) {
    for (long i = scaled(800, 25000); i > 0; --i) {
        allocscope::start();
        if (i % 4 == 0) allocscope::stats();
        allocscope::stop();
    }
}

std::atomic<bool> is_stopped{false};
std::atomic<int> looks{0};

void look_until_stopped(void*) {
    while (!is_stopped.load()) {
        const allocscope::snapshot seen = allocscope::stats();
        ALLOCSCOPE_EXPECT(seen.info().not_recording[0] == '\0');
        ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), 1);
        looks.store(1);
        if (seen.live_objects() != 1) return;
    }
}

void stop_once(void*) {
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stop().live_objects(), 1);
}

// Whoever asks while the window is being stopped sees it, or the snapshot that it leaves behind.
void look_while_it_is_stopped() {
    for (long i = scaled(60, 2000); i > 0; --i) {
        is_stopped = false;
        looks = 0;
        allocscope::start();
        void* kept = allocate(48);
        own_thread looking;
        looking.start(look_until_stopped, nullptr);
        while (looks.load() == 0) {
        }
        own_thread stopping[2];
        for (own_thread& thread : stopping) thread.start(stop_once, nullptr);
        for (own_thread& thread : stopping) thread.join();
        is_stopped = true;
        looking.join();
        release(kept);
    }
}

void race(own_thread::entry contender, bool one_is_current) {
    is_over = false;
    own_thread allocating[4];
    own_thread racing[4];
    for (own_thread& thread : allocating) thread.start(allocate_until_over, nullptr);
    for (int i = 0; i < 4; ++i) {
        racing[i].start(contender, one_is_current && i % 2 == 1 ? &is_over : nullptr);
    }
    for (own_thread& thread : racing) thread.join();
    is_over = true;
    for (own_thread& thread : allocating) thread.join();
}

void expect_a_window_that_works() {
    allocscope::scope window{"afterwards"};
    void* objects[1000];
    for (void*& object : objects) object = allocate(8);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 1000);
    for (void* object : objects) release(object);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 1000);
    expect_accounted(window.stats(), {1000, 1000});
}

}  // namespace

int main() {
    watchdog();
    race(open_and_close, true);
    expect_a_window_that_works();

    look_while_it_is_stopped();
    race(start_and_stop, false);
    // It is stopped: its last snapshot, if any, is only repeated.
    const std::uint64_t counted = allocscope::stats().info().totals.allocations;
    release(allocate(8));
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::stats().info().totals.allocations, counted);
    expect_a_window_that_works();

    allocscope::scope outer{"around the race"};
    born = 0;
    race(open_and_close, true);
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().allocations, born.load());
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().frees, born.load());
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().live_bytes(), 0);
    expect_accounted(outer.stats(), {born.load(), born.load()});
    return verdict();
}
