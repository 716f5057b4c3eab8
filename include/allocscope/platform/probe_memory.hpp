// probe_memory.hpp - reads memory of this process that may be unmapped.
//
// Room:     platform (floor 1), malloc-safe
// Called:   when a report looks at a live object that another thread may be freeing
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP
#define ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP

#include <allocscope/base/compiler.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t

#include <sys/uio.h>  // process_vm_readv
#include <unistd.h>   // getpid

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Returns false when not all of it could be read, or where the kernel forbids the call. Takes one
// system call.
inline bool probe_memory(std::uintptr_t address, void* to, std::size_t bytes) noexcept {
    const int saved_errno = errno;
    struct iovec local = {to, bytes};
    struct iovec remote = {reinterpret_cast<void*>(address), bytes};
    const bool is_read =
        ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
    errno = saved_errno;
    return is_read;
}

// A word of memory that probe_words() reads.
struct probed_word {
    std::uintptr_t address;
    std::uintptr_t word;
    bool is_read;
};

// Does the same for many words: one system call for each hundred, and one more for each word that
// cannot be read.
inline void probe_words(probed_word* words, std::size_t count) noexcept {
    constexpr std::size_t at_once = 100;
    const int saved_errno = errno;
    std::uintptr_t read[at_once];
    struct iovec remote[at_once];
    while (count != 0) {
        const std::size_t asked = count < at_once ? count : at_once;
        for (std::size_t i = 0; i < asked; ++i) {
            remote[i] = {reinterpret_cast<void*>(words[i].address), sizeof read[i]};
        }
        struct iovec local = {read, asked * sizeof read[0]};
        const ssize_t bytes = ::process_vm_readv(::getpid(), &local, 1, remote, asked, 0);
        std::size_t done = bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof read[0] : 0;
        for (std::size_t i = 0; i < done; ++i) {
            words[i].word = read[i];
            words[i].is_read = true;
        }
        if (done != asked) words[done++].is_read = false;
        words += done;
        count -= done;
    }
    errno = saved_errno;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP
