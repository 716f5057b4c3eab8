// stack_bounds.hpp - the addresses between which this thread's stack may be read.
//
// Room:     platform (floor 1), malloc-safe
// Called:   once per thread, when it allocates for the first time under a window
// Threads:  looks at the calling thread only
// Memory:   none
//
// pthread_getattr_np allocates and locks, so it cannot be called inside a hook. Its answer is in
// memory already:
//
//     main thread     below __libc_stack_end, at most RLIMIT_STACK and 96 MiB deep
//     other threads   the thread control block lies at the upper end of the thread's stack
//                     (fs:0), and the block itself remembers where the stack begins
//
//        low                                   sp                 thread control block
//         |......... not used yet .............|=== frames ===|...|{... low, size ...}|
//                                               readable: [sp, high)
//
// Where {low, size} lies in the control block differs between versions of glibc. So it is searched
// for, and accepted only if it fits: low <= sp, and low + size just after the block. Any other
// stack (of a coroutine, of a signal handler) is unknown here: {0, 0}.
//
// RLIMIT_STACK alone says nothing: if a program raises it at run time, its libraries, heaps and
// other threads' stacks already lie within that distance. But when the kernel lays a program out,
// it leaves at least 128 MiB, less the arguments, in which there is nothing but the main stack.

#ifndef ALLOCSCOPE_PLATFORM_STACK_BOUNDS_HPP
#define ALLOCSCOPE_PLATFORM_STACK_BOUNDS_HPP

#include <allocscope/base/compiler.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t

#include <signal.h>        // sigaltstack
#include <sys/resource.h>  // getrlimit

extern "C" void* __libc_stack_end;  // set by the loader before anything else runs

ALLOCSCOPE_COOL_BEGIN

namespace detail {

struct stack_bounds {
    std::uintptr_t low = 0;
    std::uintptr_t high = 0;  // first address that is no longer read

    ALLOCSCOPE_INLINE bool contains(std::uintptr_t address) const noexcept {
        return address - low < high - low;
    }
};

inline std::uintptr_t thread_control_block() noexcept {
    std::uintptr_t block;
    __asm__("mov %%fs:0, %0" : "=r"(block));
    return block;
}

inline stack_bounds main_stack_bounds(std::uintptr_t stack_pointer) noexcept {
    constexpr std::uintptr_t deepest = std::uintptr_t{96} << 20U;
    const auto end = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
    if (stack_pointer >= end || end - stack_pointer >= deepest) return {};
    std::uintptr_t depth = deepest;
    struct rlimit limit;
    const int saved_errno = errno;
    if (::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < deepest) depth = limit.rlim_cur;
    errno = saved_errno;
    if (end - stack_pointer >= depth) return {};
    return {end - depth, end};
}

inline stack_bounds thread_stack_bounds(std::uintptr_t stack_pointer) noexcept {
    constexpr std::size_t searched_words = 2048 / sizeof(std::uintptr_t);
    constexpr std::uintptr_t most_behind = std::uintptr_t{1} << 20U;  // control block, static TLS
    const std::uintptr_t block = thread_control_block();
    if (stack_pointer >= block) return {};
    const auto* words = reinterpret_cast<const std::uintptr_t*>(block);
    for (std::size_t i = 0; i + 1 < searched_words; ++i) {
        const std::uintptr_t low = words[i];
        const std::uintptr_t size = words[i + 1];
        if (low == 0 || low > stack_pointer || size > block) continue;
        if (low + size < block || low + size - block > most_behind) continue;
        return {low, block};
    }
    return {};
}

// The bounds of the stack that `stack_pointer` is on, or {0, 0} when that is neither the thread's
// own stack nor the main one.
inline stack_bounds current_stack_bounds(std::uintptr_t stack_pointer) noexcept {
    const stack_bounds main_stack = main_stack_bounds(stack_pointer);
    if (main_stack.high != 0) return main_stack;
    return thread_stack_bounds(stack_pointer);
}

// The alternate signal stack if this thread runs on it now, otherwise {0, 0}. One system call.
inline stack_bounds alternate_stack_in_use() noexcept {
    stack_t handlers = {};
    const int saved_errno = errno;
    const bool is_known = ::sigaltstack(nullptr, &handlers) == 0;
    errno = saved_errno;
    if (!is_known || (handlers.ss_flags & SS_ONSTACK) == 0) return {};
    const auto low = reinterpret_cast<std::uintptr_t>(handlers.ss_sp);
    return {low, low + handlers.ss_size};
}

// What may be read on a stack of unknown extent: the rest of the current page.
ALLOCSCOPE_INLINE stack_bounds page_bounds(std::uintptr_t stack_pointer) noexcept {
    return {stack_pointer, (stack_pointer | 4095U) + 1};
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLATFORM_STACK_BOUNDS_HPP
