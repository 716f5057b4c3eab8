#include "../../support/one_processor.hpp"

#include <allocscope/platform/thread_wait.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>

#include <sched.h>
#include <time.h>

using allocscope::detail::thread_wait;
using allocscope_test::become_real_time;
using allocscope_test::share_one_processor;

namespace {

std::int64_t own_processor_ms() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::int64_t{used.tv_sec} * 1000 + used.tv_nsec / 1000000;
}

}  // namespace

TEST_CASE("thread_wait: a thread of a usual priority runs while a real-time thread waits for it") {
    std::thread{[] {  // its threads inherit the processor
        REQUIRE(share_one_processor());
        std::atomic<bool> is_waiting{false};
        std::atomic<bool> is_done{false};
        bool is_real_time = false;
        std::int64_t spent_ms = 0;
        std::thread waits{[&] {
            is_real_time = become_real_time();
            const std::int64_t before_ms = own_processor_ms();
            is_waiting = true;
            thread_wait waiting;
            while (!is_done) waiting.once();
            spent_ms = own_processor_ms() - before_ms;
        }};
        while (!is_waiting) sched_yield();
        is_done = true;
        waits.join();
        if (!is_real_time) MESSAGE("no privilege for a real-time priority: nothing is shown");
        // The kernel lets the others run after 950 ms of real-time work in a second.
        CHECK(spent_ms < 500);
    }}
        .join();
}

TEST_CASE("thread_wait: errno stays") {
    thread_wait waiting;
    for (int i = 0; i < 200; ++i) {
        errno = 1234;
        waiting.once();
        REQUIRE(errno == 1234);
    }
}
