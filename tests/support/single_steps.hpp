// single_steps.hpp - stops a thread after each of its instructions.
//
// Room:     tests/support
// Called:   by tests in which other threads do something at each of these moments
// Threads:  the parent stops the main thread of its child; the child's other threads run
// Memory:   one page that both processes share
//
//     int stopped() {
//         if (!let_parent_stop_me()) return cannot_run_here;
//         ...                       // other threads wait for steps->taken to grow, do something,
//         raise(SIGSTOP);           // and set steps->answered
//         ...                       // stopped after each instruction
//         raise(SIGSTOP);
//     }
//     int main() { return end_of_stepped(stopped); }

#ifndef ALLOCSCOPE_TESTS_SUPPORT_SINGLE_STEPS_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_SINGLE_STEPS_HPP

#include "process_test.hpp"

#include <sched.h>       // sched_yield
#include <signal.h>      // SIGKILL, SIGTRAP
#include <sys/mman.h>    // mmap
#include <sys/prctl.h>   // PR_SET_PDEATHSIG
#include <sys/ptrace.h>  // PTRACE_SINGLESTEP
#include <sys/wait.h>    // waitpid
#include <unistd.h>      // fork

#include <atomic>
#include <new>

namespace allocscope_test {

constexpr int cannot_run_here = 77;  // a sandbox may forbid ptrace

struct shared_steps {
    std::atomic<long> taken{0};
    std::atomic<long> answered{0};
};
inline shared_steps* steps = nullptr;

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
        ++steps->taken;
        while (steps->answered != steps->taken) sched_yield();
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
