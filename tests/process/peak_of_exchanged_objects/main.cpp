// Danger: an object that one thread hands to another, which frees it while the numbers are read,
// may count as alive. A reading that finds sixty objects where there are eight must not raise the
// peak, which stays: a budget would fail, and a program would never have held what is reported.
//
// Workers exchange large objects through a few places. Each holds one, and each place has one.

#include "../../support/dice.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"
#include "../../support/scale.hpp"

#include <allocscope/allocscope.hpp>

#include <sched.h>  // sched_yield

#include <atomic>
#include <cstdint>

using namespace allocscope_test;

namespace {

constexpr int worker_count = 4;
constexpr int place_count = 4;
constexpr std::size_t object_bytes = 100000;
constexpr std::uint64_t most_bytes = (worker_count + place_count) * object_bytes;
// A thread tells the others of what it holds when that is 64 KiB more or less: docs/limits.md. The
// thread of main is one of them, and one may have ended.
constexpr std::uint64_t tolerance = (worker_count + 2) * 64 * 1024;

std::atomic<void*> places[place_count];
std::atomic<bool> is_over{false};

void exchange(void* number) {
    dice roll(static_cast<std::uint64_t>(*static_cast<int*>(number)) + 3);
    while (!is_over.load(std::memory_order_relaxed)) {
        void* const made = allocate(object_bytes);
        release(places[roll.below(place_count)].exchange(made));
    }
}

void expect_true(const allocscope::allocation_counts& seen) {
    ALLOCSCOPE_EXPECT_AT_MOST(seen.peak_bytes, most_bytes + tolerance);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.frees, seen.allocations);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.bytes_freed, seen.bytes_allocated);
}

void try_window(const allocscope::options& wanted, long rounds) {
    const allocscope::scope window{"exchanged", wanted};
    is_over = false;
    own_thread workers[worker_count];
    int numbers[worker_count] = {0, 1, 2, 3};
    for (int i = 0; i < worker_count; ++i) workers[i].start(exchange, &numbers[i]);
    while (window.counts().allocations < worker_count) sched_yield();
    for (long i = 0; i < rounds; ++i) {
        expect_true(window.counts());
        if (i % 16 == 0) expect_true(window.stats().info().totals);
    }
    is_over = true;
    for (own_thread& worker : workers) worker.join();
    for (std::atomic<void*>& place : places) release(place.exchange(nullptr));
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT_AT_MOST(object_bytes, window.counts().peak_bytes);
}

}  // namespace

int main() {
    watchdog();
    const long rounds = scaled(300000, 5000000);
    allocscope::options wanted;
    try_window(wanted, rounds);
    wanted.details = true;
    try_window(wanted, rounds);
    wanted = {};
    wanted.record = allocscope::recording::counters;
    try_window(wanted, rounds);
    return verdict();
}
