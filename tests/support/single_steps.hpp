// single_steps.hpp - stops a thread after each of its instructions.
//
// Room:     tests/support
// Called:   by tests in which other threads do something at each of these moments
// Threads:  the parent stops the main thread of its child; the child's other threads run
// Memory:   one page that both processes share
//
//     void other_thread(void*) {
//         while (wait_for_stop()) {
//             ...                   // the main thread stands still
//             answer_stop();
//         }
//     }
//     int stopped() {
//         if (!let_parent_stop_me()) return cannot_run_here;
//         begin_stops();
//         ...                       // starts other_thread
//         raise(SIGSTOP);
//         ...                       // stopped after each instruction
//         raise(SIGSTOP);
//         end_stops();
//     }
//     int main() { return end_of_stepped(stopped); }

#ifndef ALLOCSCOPE_TESTS_SUPPORT_SINGLE_STEPS_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_SINGLE_STEPS_HPP

#include "process_test.hpp"

#include <linux/futex.h>  // FUTEX_WAIT, FUTEX_WAKE
#include <signal.h>       // SIGKILL, SIGTRAP
#include <sys/mman.h>     // mmap
#include <sys/prctl.h>    // PR_SET_PDEATHSIG
#include <sys/ptrace.h>   // PTRACE_SINGLESTEP
#include <sys/syscall.h>  // SYS_futex
#include <sys/wait.h>     // waitpid
#include <unistd.h>       // fork, syscall

#include <atomic>
#include <climits>  // INT_MAX
#include <new>

namespace allocscope_test {

constexpr int cannot_run_here = 77;  // a sandbox may forbid ptrace

// A count that threads of both processes wait for, asleep: on a busy machine, a thread that yields
// has its turn after all others.
class waited_count {
public:
    int now() const { return count_.load(); }
    void set(int count) {
        count_ = count;
        syscall(SYS_futex, &count_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
    // Returns when the count is not `seen` any more.
    void wait_past(int seen) {
        while (count_ == seen) syscall(SYS_futex, &count_, FUTEX_WAIT, seen, nullptr, nullptr, 0);
    }

private:
    std::atomic<int> count_{0};
};

struct shared_steps {
    waited_count taken;
    waited_count answered;
    std::atomic<bool> is_over{false};
};
inline shared_steps* steps = nullptr;

inline void begin_stops() {
    steps->is_over = false;
    steps->answered.set(steps->taken.now());
}

// False: there will be none.
inline bool wait_for_stop() {
    steps->taken.wait_past(steps->answered.now());
    return !steps->is_over;
}

inline void answer_stop() {
    steps->answered.set(steps->taken.now());
}

inline void end_stops() {
    steps->is_over = true;
    steps->taken.set(steps->taken.now() + 1);
}

// Lets the others do what they do when the main thread stands still.
inline void be_answered() {
    const int before = steps->answered.now();
    steps->taken.set(before + 1);
    steps->answered.wait_past(before);
}

inline bool let_parent_stop_me() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0;
}

// Takes the thread from one raise(SIGSTOP) to the next, step by step.
inline void step_to_next_stop(pid_t thread) {
    int status = 0;
    do {
        ptrace(PTRACE_SINGLESTEP, thread, nullptr, nullptr);
        if (waitpid(thread, &status, 0) != thread || !WIFSTOPPED(status)) return;
        be_answered();
    } while (WSTOPSIG(status) == SIGTRAP);
}

// The exit code of the test: runs `stopped` in a child, and steps through every other part of it.
inline int end_of_stepped(int (*stopped)()) {
    void* const pages = mmap(nullptr, sizeof(shared_steps), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    steps = ::new (pages) shared_steps;
    const pid_t child = fork();
    if (child == 0) _exit(stopped());
    int status = 0;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        step_to_next_stop(child);
        ptrace(PTRACE_CONT, child, nullptr, nullptr);
    }
    ALLOCSCOPE_EXPECT(WIFEXITED(status));
    if (WEXITSTATUS(status) == cannot_run_here) return cannot_run_here;
    ALLOCSCOPE_EXPECT_EQUAL(WEXITSTATUS(status), 0);
    return verdict();
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_SINGLE_STEPS_HPP
