// Danger: a signal handler calls fork() while the thread that it interrupted has our locks, or
// waits for one. fork() must return; parent and child go on; nobody else is kept waiting.
// not with: asan, tsan (their allocators do not hold their locks across a fork: the child hangs)
// about: stacks

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/naming/process_names.hpp>
#include <allocscope/state/process_state.hpp>

#include <cerrno>
#include <csignal>
#include <initializer_list>

#include <sys/time.h>
#include <sys/wait.h>
#include <atomic>

using namespace allocscope_test;

namespace {

std::atomic<int> forks{0};
allocscope::scope* inherited = nullptr;
bool child_goes_on = false;

void fork_in_handler(int) {
    const pid_t child = fork();
    if (child == 0 && child_goes_on) return;
    if (child == 0) _exit(0);
    int status = -1;
    waitpid(child, &status, 0);
    ALLOCSCOPE_EXPECT_EQUAL(status, 0);
    ++forks;
}

void use_windows() {
    const allocscope::allocation_counts before = inherited->counts();
    allocscope::scope own{"afterwards"};
    void* left = allocate(12);
    ALLOCSCOPE_EXPECT_EQUAL(own.stats().live_bytes(), 12);
    release(left);
    expect_accounted(own.stop(), {1, 1});
    ALLOCSCOPE_EXPECT_EQUAL(inherited->counts().allocations, before.allocations + 1);
}

// The parent comes back from the handler with the lock, and the child goes on without.
template <class Lock>
void fork_while_locked(pthread_mutex_t& mutex) {
    const pid_t parent = getpid();
    const int before = forks;
    {
        const Lock held;
        raise(SIGUSR1);
        if (getpid() == parent) ALLOCSCOPE_EXPECT_EQUAL(pthread_mutex_trylock(&mutex), EBUSY);
    }
    use_windows();
    if (getpid() != parent) _exit(verdict());
    ALLOCSCOPE_EXPECT_EQUAL(forks, before + 1);
}

struct waiting_thread {
    pthread_t id = pthread_self();
    const volatile std::uint32_t& locks = allocscope::detail::own_locks.count;
    meeting_point meeting{2};
};

// Another thread has the lock that the waiting one wants, until fork() has returned there.
void hold_until_forked(void* argument) {
    auto& waiting = *static_cast<waiting_thread*>(argument);
    const allocscope::detail::control_lock held;
    waiting.meeting.wait();
    while (waiting.locks == 0) sched_yield();
    pthread_kill(waiting.id, SIGUSR1);
    while (forks == 0) sched_yield();
}

void fork_while_waiting() {
    forks = 0;
    waiting_thread self;
    own_thread other;
    other.start(hold_until_forked, &self);
    self.meeting.wait();
    { const allocscope::detail::control_lock waits; }
    other.join();
    ALLOCSCOPE_EXPECT_EQUAL(forks, 1);
}

// Windows open, close and are read under a storm of such signals. There must be one thread: with
// more, the C library's own fork() waits for the lock of the malloc that it interrupted.
void fork_at_any_moment() {
    itimerval often{};
    often.it_interval.tv_usec = often.it_value.tv_usec = 3000;
    forks = 0;
    setitimer(ITIMER_PROF, &often, nullptr);
    const int wanted = static_cast<int>(scaled(40));
    while (forks < wanted) use_windows();
    const itimerval never{};
    setitimer(ITIMER_PROF, &never, nullptr);
}

// A signal comes while fork() calls its handlers: the program's own, which are called before and
// after ours, send it.
bool is_interrupting = false;
int forks_inside = 0;

void interrupt_fork() {
    if (!is_interrupting) return;
    is_interrupting = false;
    const pid_t parent = getpid();
    const bool has_locks = allocscope::detail::is_forking();
    raise(SIGUSR1);
    const bool is_parent = getpid() == parent;
    ALLOCSCOPE_EXPECT_EQUAL(allocscope::detail::is_forking(), is_parent && has_locks);
    if (is_parent) ++forks_inside;
    use_windows();
    is_interrupting = true;
}

void register_interruptions() {
    pthread_atfork(interrupt_fork, interrupt_fork, interrupt_fork);
}

// Each process of the tree, and there are many when the children go on, comes to the end.
void fork_while_forking() {
    is_interrupting = true;
    const pid_t first = getpid();
    const pid_t child = fork();
    is_interrupting = false;
    use_windows();
    int status = -1;
    if (child > 0 && (getpid() == first || child_goes_on) && waitpid(child, &status, 0) == child) {
        ALLOCSCOPE_EXPECT_EQUAL(status, 0);
    }
    if (getpid() != first) _exit(verdict());
    ALLOCSCOPE_EXPECT_EQUAL(forks_inside, 4);
    forks_inside = 0;
}

}  // namespace

int main() {
    watchdog();
    register_interruptions();
    allocscope::scope window{"around the forks"};
    inherited = &window;
    register_interruptions();
    signal(SIGUSR1, fork_in_handler);
    signal(SIGPROF, fork_in_handler);
    fork_at_any_moment();
    for (const bool goes_on : {false, true}) {
        child_goes_on = goes_on;
        fork_while_locked<allocscope::detail::control_lock>(allocscope::detail::process.control);
        fork_while_locked<allocscope::detail::walking_lock>(allocscope::detail::process.walking);
        fork_while_locked<allocscope::detail::naming_lock>(allocscope::detail::process.naming);
        fork_while_forking();
    }
    child_goes_on = false;
    fork_while_waiting();
    use_windows();
    return verdict();
}
