// Danger: a thread that waits for another one in a loop waits for ever, if both share a processor
// and the other one never runs: it has a lower priority (SCHED_FIFO).

#include "../../support/escape.hpp"
#include "../../support/one_processor.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <sched.h>

using namespace allocscope_test;

namespace {

constexpr unsigned thread_count = 8;
constexpr unsigned rounds = is_sanitized ? 20000 : 200000;  // other tests share the processor
constexpr unsigned slots = 64;

std::atomic<void*> shared[slots];

// Blocks go from thread to thread, so most are freed by another one than the one that asked.
void exchange(unsigned first) {
    for (unsigned i = 0; i < rounds; ++i) {
        release(shared[(first + i * 7) % slots].exchange(allocate(24 + i % 100)));
    }
}

}  // namespace

int main() {
    watchdog();
    ALLOCSCOPE_EXPECT(share_one_processor());
    allocscope::scope window{"one processor"};
    std::atomic<bool> is_over{false};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < thread_count; ++i) {
        threads.emplace_back([i] {
            if (i == 0) become_real_time();  // without the privilege, the test asks for less
            exchange(i);
        });
    }
    // Windows and snapshots have to do with all threads.
    std::thread reader{[&window, &is_over] {
        become_real_time();
        while (!is_over) {
            const allocscope::scope inner{"inner"};
            static_cast<void>(window.counts());
            static_cast<void>(inner.stats());
            sched_yield();
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }};
    for (std::thread& each : threads) each.join();
    is_over = true;
    reader.join();
    for (std::atomic<void*>& each : shared) release(each.exchange(nullptr));
    const allocscope::snapshot end = window.stats();
    const auto& totals = end.info().totals;
    ALLOCSCOPE_EXPECT(totals.allocations >= std::uint64_t{thread_count} * rounds);
    ALLOCSCOPE_EXPECT_EQUAL(end.info().loss_count, 0);
    ALLOCSCOPE_EXPECT(totals.live_objects() < 64);  // of the standard library's threads
    return verdict();
}
