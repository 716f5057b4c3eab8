// thread_identity.hpp - which thread this is, and whether another one still runs.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by record/thread_lifecycle.hpp once for each thread, by windows/after_fork.hpp, by
//           platform/loader_lock.hpp and by hooks/walks_and_forks.hpp
// Threads:  any
// Memory:   none
//
// These are the kernel's thread ids, which it uses again. So a thread that is reported as alive may
// be a later one; a thread that is reported as gone is gone.

#ifndef ALLOCSCOPE_PLATFORM_THREAD_IDENTITY_HPP
#define ALLOCSCOPE_PLATFORM_THREAD_IDENTITY_HPP

#include <allocscope/base/compiler.hpp>

#include <cerrno>   // errno
#include <cstdint>  // int32_t

#include <pthread.h>      // pthread_getcpuclockid
#include <sys/syscall.h>  // SYS_gettid, SYS_tgkill
#include <time.h>         // clockid_t
#include <unistd.h>       // getpid, syscall

ALLOCSCOPE_HOT_BEGIN

namespace detail {

inline std::int32_t own_thread_id() noexcept {
    return static_cast<std::int32_t>(::syscall(SYS_gettid));
}

// Does the same without a system call, which a filter may forbid: the C library knows the id, and
// the id of the thread's clock contains it (linux/posix-timers.h: CPUCLOCK_PID). 0: unknown.
ALLOCSCOPE_FAST_PATH std::int32_t own_thread_id_unasked() noexcept {
    clockid_t clock;
    if (::pthread_getcpuclockid(::pthread_self(), &clock) != 0) return 0;
    const std::int32_t shifted = clock >> 3;
    return ~shifted;
}

ALLOCSCOPE_FAST_PATH bool is_thread_gone(std::int32_t id) noexcept {
    const int saved_errno = errno;
    const bool is_gone = ::syscall(SYS_tgkill, ::getpid(), id, 0) != 0 && errno == ESRCH;
    errno = saved_errno;
    return is_gone;
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_PLATFORM_THREAD_IDENTITY_HPP
