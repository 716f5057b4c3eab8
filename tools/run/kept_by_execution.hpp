// kept_by_execution.hpp - what a process keeps when it executes a program, and its forked child
// does not get.
//
// Alone, the program is executed by the process that is the command now.
#ifndef ALLOCSCOPE_TOOLS_RUN_KEPT_BY_EXECUTION_HPP
#define ALLOCSCOPE_TOOLS_RUN_KEPT_BY_EXECUTION_HPP

#include <csignal>

#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

namespace allocscope_tools {

class kept_by_execution {
public:
    // Takes the timers away from this process: `perl -e 'alarm 9; exec ...'` shall end the program.
    kept_by_execution() {
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
        for (int which = 0; which < timers; ++which) {
            ::setitimer(static_cast<__itimer_which>(which), &timers_[which], nullptr);
        }
        if (death_signal_ != 0) ::prctl(PR_SET_PDEATHSIG, death_signal_);
        if (is_reaper_ != 0) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    }

private:
    static constexpr int timers = ITIMER_PROF + 1;
    itimerval timers_[timers] = {};
    int death_signal_ = 0;
    int is_reaper_ = 0;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_KEPT_BY_EXECUTION_HPP
