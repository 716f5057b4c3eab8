// thread_timer.hpp - signals that interrupt the thread that asked for them, many in a millisecond.
//
// Room:     tests/support
// Called:   by tests of code that a signal may interrupt
// Threads:  the signal goes to the thread that made the timer
// Memory:   a timer of the kernel
//
// Unlike pthread_kill from another thread, this interrupts at random places on a single CPU too.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_THREAD_TIMER_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_THREAD_TIMER_HPP

#include <sys/syscall.h>  // SYS_gettid
#include <unistd.h>       // syscall
#include <csignal>        // sigevent
#include <cstdlib>        // abort
#include <ctime>          // timer_create

namespace allocscope_test {

class thread_timer {
public:
    thread_timer(int signal, long interval_ns) {
        sigevent event = {};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
        if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) std::abort();
        const itimerspec every = {{0, interval_ns}, {0, interval_ns}};
        timer_settime(timer_, 0, &every, nullptr);
    }
    ~thread_timer() { timer_delete(timer_); }
    thread_timer(const thread_timer&) = delete;
    thread_timer& operator=(const thread_timer&) = delete;

private:
    timer_t timer_{};
};

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_THREAD_TIMER_HPP
