// probe_memory.hpp - reads memory of this process that may be gone.
//
// Room:     platform (floor 1), malloc-safe
// Called:   when a report looks at a live object that another thread may be freeing
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP
#define ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t

#include <sys/uio.h>  // process_vm_readv
#include <unistd.h>   // getpid

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// False when not all of it could be read, or where the kernel forbids the question. One system
// call.
inline bool probe_memory(std::uintptr_t address, void* to, std::size_t bytes) noexcept {
    const int saved_errno = errno;
    struct iovec local = {to, bytes};
    struct iovec remote = {reinterpret_cast<void*>(address), bytes};
    const bool is_read =
        ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
    errno = saved_errno;
    return is_read;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP
