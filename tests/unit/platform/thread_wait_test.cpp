#include <allocscope/platform/thread_wait.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>

#include <pthread.h>
#include <sched.h>
#include <time.h>

using allocscope::detail::thread_wait;

namespace {

std::int64_t own_processor_ms() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::int64_t{used.tv_sec} * 1000 + used.tv_nsec / 1000000;
}

bool share_one_processor() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
    std::size_t first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(first, &only);
    return sched_setaffinity(0, sizeof only, &only) == 0;
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
            sched_param wanted{};
            wanted.sched_priority = 1;
            is_real_time = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted) == 0;
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
