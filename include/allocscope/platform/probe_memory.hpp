// probe_memory.hpp - reads memory of this process that may be unmapped.
//
// Room:     platform (floor 1), malloc-safe
// Called:   when a report looks at a live object that another thread may be freeing
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP
#define ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // uint16_t, uintptr_t
#include <cstring>  // memcpy

#include <sys/uio.h>  // process_vm_readv
#include <unistd.h>   // getpid

ALLOCSCOPE_COLD_BEGIN

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
// cannot be read. Words of one page are read in one piece with what lies between them, because the
// kernel works as long for a word as for a page.
inline void probe_words(probed_word* words, std::size_t count) noexcept {
    constexpr std::size_t most_words = 100;
    constexpr std::size_t word_bytes = sizeof words->word;
    const int saved_errno = errno;
    const pid_t self = ::getpid();
    char read[page_bytes];
    std::uint16_t places[most_words];  // of each word, in `read`
    struct iovec pieces[most_words];
    while (count != 0) {
        std::size_t asked = 0;
        std::size_t piece_count = 0;
        std::size_t before = 0;  // the bytes of all pieces but the last one
        std::size_t bytes = 0;   // of all pieces
        std::uintptr_t begin = 0;
        for (; asked < count && asked < most_words; ++asked) {
            const std::uintptr_t address = words[asked].address;
            const std::uintptr_t behind_page = (begin | (page_bytes - 1)) + 1;
            const bool is_near =
                piece_count != 0 && address >= begin && address + word_bytes <= behind_page;
            const std::size_t place = is_near ? before + (address - begin) : bytes;
            if (place + word_bytes > sizeof read) break;
            if (!is_near) {
                begin = address;
                before = bytes;
                pieces[piece_count++] = {reinterpret_cast<void*>(address), 0};
            }
            places[asked] = static_cast<std::uint16_t>(place);
            if (place + word_bytes > bytes) bytes = place + word_bytes;
            pieces[piece_count - 1].iov_len = bytes - before;
        }
        struct iovec local = {read, bytes};
        const ssize_t got = ::process_vm_readv(self, &local, 1, pieces, piece_count, 0);
        std::size_t done = 0;
        for (; done < asked && got >= static_cast<ssize_t>(places[done] + word_bytes); ++done) {
            probed_word& word = words[done];
            std::memcpy(&word.word, read + places[done], word_bytes);
            word.is_read = true;
        }
        if (done != asked) words[done++].is_read = false;
        words += done;
        count -= done;
    }
    errno = saved_errno;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_PROBE_MEMORY_HPP
