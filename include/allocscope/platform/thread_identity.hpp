// thread_identity.hpp - which thread this is, and whether another one still runs.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by record/thread_lifecycle.hpp, for threads whose end nobody tells us
// Threads:  any
// Memory:   none
//
// The kernel's numbers, which it uses again. A thread that is told to be alive may so be a later
// one; one that is told to be gone is gone.

#ifndef ALLOCSCOPE_PLATFORM_THREAD_IDENTITY_HPP
#define ALLOCSCOPE_PLATFORM_THREAD_IDENTITY_HPP

#include <allocscope/base/compiler.hpp>

#include <cerrno>   // errno
#include <cstdint>  // int32_t

#include <sys/syscall.h>  // SYS_gettid, SYS_tgkill
#include <unistd.h>       // getpid, syscall

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline std::int32_t own_thread_id() noexcept {
    return static_cast<std::int32_t>(::syscall(SYS_gettid));
}

inline bool is_thread_gone(std::int32_t id) noexcept {
    const int saved_errno = errno;
    const bool is_gone = ::syscall(SYS_tgkill, ::getpid(), id, 0) != 0 && errno == ESRCH;
    errno = saved_errno;
    return is_gone;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_THREAD_IDENTITY_HPP
