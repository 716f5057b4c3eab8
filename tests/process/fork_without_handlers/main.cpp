// Danger: _Fork() runs no handlers. In the child the locks may be held by threads that it does not
// have, and a window may be half open. Windows and counts() must go on there.
// not with: asan, tsan (their allocators do not hold their locks across a fork: the child hangs)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/state/process_state.hpp>

#include <sys/wait.h>
#include <atomic>

using namespace allocscope_test;

namespace {

std::atomic<bool> is_over{false};

void open_windows_until_over(void*) {
    while (!is_over.load()) {
        allocscope::scope window{"meanwhile"};
        release(allocate(30));
        window.stats();
    }
}

int child(const allocscope::scope& inherited) {
    const allocscope::allocation_counts at_fork = inherited.counts();
    ALLOCSCOPE_EXPECT(at_fork.frees <= at_fork.allocations);
    for (int i = 0; i < 10; ++i) {
        allocscope::scope own{"in the child"};
        release(allocate(11));
        void* left = allocate(12);
        const allocscope::allocation_counts counts = own.counts();
        ALLOCSCOPE_EXPECT_EQUAL(counts.allocations, 2);
        ALLOCSCOPE_EXPECT_EQUAL(counts.live_objects(), 1);
        ALLOCSCOPE_EXPECT_EQUAL(counts.live_bytes(), 12);
        release(left);
    }
    ALLOCSCOPE_EXPECT_EQUAL(inherited.counts().allocations, at_fork.allocations + 20);
    ALLOCSCOPE_EXPECT_EQUAL(inherited.counts().frees, at_fork.frees + 20);
    return verdict();
}

// Another thread is in the middle of a boundary for as long as the test wants.
void hold_the_lock(void* argument) {
    auto* meeting = static_cast<meeting_point*>(argument);
    const allocscope::detail::control_lock held;
    meeting->wait();
    meeting->wait();
}

template <class Work>
void fork_and_wait(Work in_child) {
    const pid_t made = _Fork();
    if (made == 0) {
        watchdog(10);
        _exit(in_child());
    }
    int status = 0;
    waitpid(made, &status, 0);
    ALLOCSCOPE_EXPECT_EQUAL(status, 0);
}

template <class Work>
void fork_while_locked(Work in_child) {
    own_thread holder;
    meeting_point meeting{2};
    holder.start(hold_the_lock, &meeting);
    meeting.wait();
    fork_and_wait(in_child);
    meeting.wait();
    holder.join();
}

// The exact window of this thread alone goes on recording when a sampled one of all threads ends.
void a_window_of_one_thread_in_the_child() {
    allocscope::options sampled;
    sampled.record = allocscope::recording::sampled;
    allocscope::options of_this_thread;
    of_this_thread.from = allocscope::threads::current;
    const allocscope::scope around{"sampled", sampled};
    allocscope::scope ended{"sampled, ends in the child", sampled};
    const allocscope::scope own{"own", of_this_thread};
    fork_while_locked([&] {
        const std::uint64_t before = own.counts().allocations;
        ended.stop();
        release(allocate(20));
        ALLOCSCOPE_EXPECT_EQUAL(own.counts().allocations, before + 1);
        ALLOCSCOPE_EXPECT_EQUAL(own.counts().live_objects(), 0);
        return verdict();
    });
}

}  // namespace

int main() {
    watchdog();
    a_window_of_one_thread_in_the_child();
    const allocscope::scope window{"around the forks"};
    fork_while_locked([&window] { return child(window); });
    own_thread others[2];
    for (own_thread& thread : others) thread.start(open_windows_until_over, nullptr);
    for (long i = scaled(300); i > 0 && failed_expectations.load() == 0; --i) {
        fork_and_wait([&window] { return child(window); });
    }
    is_over = true;
    for (own_thread& thread : others) thread.join();
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    return verdict();
}
