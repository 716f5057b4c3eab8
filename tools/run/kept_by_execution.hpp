// kept_by_execution.hpp - what a process keeps when it executes a program, and its forked child
// does not get.
//
// Alone, the program is executed by the process that is the command now.
#ifndef ALLOCSCOPE_TOOLS_RUN_KEPT_BY_EXECUTION_HPP
#define ALLOCSCOPE_TOOLS_RUN_KEPT_BY_EXECUTION_HPP

#include <csignal>
#include <cstdint>
#include <ctime>
#include <vector>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

namespace allocscope_tools {

class kept_by_execution {
public:
    // Takes the timers away from this process: `perl -e 'alarm 9; exec ...'` shall end the program.
    // So it does with the signals that wait because they were `blocked` before.
    explicit kept_by_execution(const sigset_t& blocked) {
        const timespec no_time = {};
        for (siginfo_t each; ::sigtimedwait(&blocked, &each, &no_time) > 0;) {
            waiting_.push_back(each);
        }
        ::syscall(SYS_sched_getattr, 0, &scheduling_, sizeof scheduling_, 0);
        for (int which = 0; which < timers; ++which) {
            const itimerval none = {};
            ::setitimer(static_cast<__itimer_which>(which), &none, &timers_[which]);
        }
        ::prctl(PR_GET_PDEATHSIG, &death_signal_);
        ::prctl(PR_GET_CHILD_SUBREAPER, &is_reaper_);
        // The first process of a container gets the orphans, and expects them.
        if (::getpid() == 1) is_reaper_ = 1;
    }

    // The calling process, a child, gets it.
    void give() const {
        for (siginfo_t each : waiting_) {
            ::syscall(SYS_rt_sigqueueinfo, ::getpid(), each.si_signo, &each);
        }
        if ((scheduling_.flags & flag_reset_on_fork) != 0) {
            ::syscall(SYS_sched_setattr, 0, &scheduling_, 0);
        }
        for (int which = 0; which < timers; ++which) {
            ::setitimer(static_cast<__itimer_which>(which), &timers_[which], nullptr);
        }
        if (death_signal_ != 0) ::prctl(PR_SET_PDEATHSIG, death_signal_);
        if (is_reaper_ != 0) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    }

private:
    // As the kernel has it. The C library had no name for it before glibc 2.41.
    struct scheduling {
        std::uint32_t size = sizeof(scheduling);
        std::uint32_t policy = 0;
        std::uint64_t flags = 0;
        std::int32_t nice = 0;
        std::uint32_t priority = 0;
        std::uint64_t times[3] = {};
    };
    static constexpr std::uint64_t flag_reset_on_fork = 1;

    static constexpr int timers = ITIMER_PROF + 1;
    itimerval timers_[timers] = {};
    std::vector<siginfo_t> waiting_;
    scheduling scheduling_;
    int death_signal_ = 0;
    int is_reaper_ = 0;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_KEPT_BY_EXECUTION_HPP
