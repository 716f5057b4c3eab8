// thread_wait.hpp - waits for what another thread does soon, whatever its priority.
//
// Room:     platform (floor 1), malloc-safe
// Called:   in loops that wait for another thread
// Threads:  any
// Memory:   none
//
//     thread_wait waiting;
//     while (another.is_busy()) waiting.once();
//
// sched_yield() lets only threads of the same or a higher priority run. If a thread with a
// real-time priority (SCHED_FIFO) waits so for a usual one, and both share a processor, the usual
// one never runs. So after some yields each wait is a short sleep.

#ifndef ALLOCSCOPE_PLATFORM_THREAD_WAIT_HPP
#define ALLOCSCOPE_PLATFORM_THREAD_WAIT_HPP

#include <allocscope/base/compiler.hpp>

#include <cerrno>   // errno
#include <cstdint>  // uint32_t

#include <sched.h>        // sched_yield
#include <sys/syscall.h>  // SYS_nanosleep
#include <time.h>         // timespec
#include <unistd.h>       // syscall

ALLOCSCOPE_COLD_BEGIN

namespace detail {

class thread_wait {
public:
    // Keeps errno. Is no cancellation point, which nanosleep() is.
    void once() noexcept {
        if (yields_ < most_yields) {
            ++yields_;
            ::sched_yield();
            return;
        }
        const int saved_errno = errno;
        const timespec pause{0, 50'000};
        ::syscall(SYS_nanosleep, &pause, nullptr);
        errno = saved_errno;
    }

private:
    static constexpr std::uint32_t most_yields = 100;

    std::uint32_t yields_ = 0;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_THREAD_WAIT_HPP
