// thread_fence.hpp - a memory fence in every running thread, at the cost of the caller.
//
// Room:     platform (floor 1), malloc-safe
// Called:   before tables are given back: windows/ then knows what each thread is doing
// Threads:  any
// Memory:   none
//
// A hook announces itself with a plain store and then reads the gate. The processor may do the read
// first. A fence instruction in the hook would cost more than the rest of the hook. membarrier(2)
// puts that fence into all threads at once, from outside, when it is needed, which is rare.

#ifndef ALLOCSCOPE_PLATFORM_THREAD_FENCE_HPP
#define ALLOCSCOPE_PLATFORM_THREAD_FENCE_HPP

#include <allocscope/base/compiler.hpp>

#include <cerrno>  // errno

#include <linux/membarrier.h>  // MEMBARRIER_CMD_*
#include <sys/syscall.h>       // SYS_membarrier
#include <unistd.h>            // syscall

ALLOCSCOPE_MILD_BEGIN

namespace detail {

// Called once per process, before the first fence. Calling it again in a forked child is harmless.
inline void prepare_thread_fence() noexcept {
    const int saved_errno = errno;
    ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    errno = saved_errno;
}

// Returns false when the kernel does not offer it, or a filter forbids it. Nothing may be concluded
// then.
ALLOCSCOPE_NOINLINE bool fence_all_threads() noexcept {
    const int saved_errno = errno;
    bool done = ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
    if (!done) done = ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0;
    errno = saved_errno;
    return done;
}

}  // namespace detail

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_PLATFORM_THREAD_FENCE_HPP
