// Danger: what threads freed of others is read after what they allocated, or a thread after what
// another one freed of it. Then frees are counted whose allocations are not, and live objects are
// negative, which is a huge number. So the thread that reads is stopped after each of its
// instructions, and meanwhile one thread makes an object and another one frees it.
// not with: asan, tsan (their allocators take thousands of steps for each call)
// about: stacks

#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"
#include "../../support/single_steps.hpp"

#include <allocscope/allocscope.hpp>

#include <sched.h>   // sched_yield
#include <signal.h>  // raise

#include <atomic>
#include <new>

using namespace allocscope_test;

namespace {

constexpr std::uint64_t object_bytes = 48;

std::atomic<void*> passed{nullptr};
std::atomic<bool> is_over{false};

__attribute__((noinline)) void* made() {
    void* const object = ::operator new(object_bytes);
    __asm__ volatile("" : : "g"(object) : "memory");
    return object;
}

void make_at_each_stop(void*) {
    for (long seen = 0; !is_over; sched_yield()) {
        if (steps->taken == seen) continue;
        seen = steps->taken;
        passed = made();
    }
}

void free_what_is_passed(void*) {
    for (; !is_over; sched_yield()) {
        void* const object = passed.exchange(nullptr);
        if (object == nullptr) continue;
        ::operator delete(object);
        steps->answered = steps->taken.load();
    }
}

int be_stopped() {
    if (!let_parent_stop_me()) return cannot_run_here;
    const allocscope::scope window{"read"};
    own_thread threads[2];
    threads[0].start(make_at_each_stop, nullptr);
    threads[1].start(free_what_is_passed, nullptr);
    // Both threads have their tables before the reader has a lock that they would wait for.
    for (const long before = steps->taken; steps->taken != before + 100;) {
        ++steps->taken;
        while (steps->answered != steps->taken) sched_yield();
    }
    raise(SIGSTOP);
    const allocscope::allocation_counts seen = window.counts();
    raise(SIGSTOP);
    // What is made and freed meanwhile may be counted or not, but no free without its allocation.
    ALLOCSCOPE_EXPECT_AT_MOST(seen.frees, seen.allocations);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.bytes_freed, seen.bytes_allocated);
    ALLOCSCOPE_EXPECT(window.counts().allocations > 1000);
    is_over = true;
    for (own_thread& each : threads) each.join();
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), 0);
    return verdict();
}

}  // namespace

int main() {
    watchdog(120);
    return end_of_stepped(be_stopped);
}
