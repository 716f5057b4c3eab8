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

#include <signal.h>  // raise

#include <new>

using namespace allocscope_test;

namespace {

constexpr std::uint64_t object_bytes = 48;

void* passed = nullptr;
waited_count passed_count;

__attribute__((noinline)) void* made() {
    void* const object = ::operator new(object_bytes);
    __asm__ volatile("" : : "g"(object) : "memory");
    return object;
}

void make_at_each_stop(void*) {
    int count = 0;
    while (wait_for_stop()) {
        const int answered = steps->answered.now();
        passed = made();
        passed_count.set(++count);
        steps->answered.wait_past(answered);
    }
    passed = nullptr;
    passed_count.set(++count);
}

void free_what_is_passed(void*) {
    for (int seen = 0;; ++seen) {
        passed_count.wait_past(seen);
        if (passed == nullptr) return;
        ::operator delete(passed);
        answer_stop();
    }
}

int be_stopped() {
    if (!let_parent_stop_me()) return cannot_run_here;
    const allocscope::scope window{"read"};
    begin_stops();
    own_thread threads[2];
    threads[0].start(make_at_each_stop, nullptr);
    threads[1].start(free_what_is_passed, nullptr);
    // Both threads have their tables before the reader has a lock that they would wait for.
    for (int round = 0; round < 100; ++round) be_answered();
    raise(SIGSTOP);
    const allocscope::allocation_counts seen = window.counts();
    raise(SIGSTOP);
    // What is made and freed meanwhile may be counted or not, but no free without its allocation.
    ALLOCSCOPE_EXPECT_AT_MOST(seen.frees, seen.allocations);
    ALLOCSCOPE_EXPECT_AT_MOST(seen.bytes_freed, seen.bytes_allocated);
    ALLOCSCOPE_EXPECT(window.counts().allocations > 1000);
    end_stops();
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
