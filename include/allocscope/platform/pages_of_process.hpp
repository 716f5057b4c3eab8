// pages_of_process.hpp - looks into the memory of this or another process, page by page.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by platform/resident_memory.hpp and platform/memory_look.hpp
// Threads:  an object belongs to one thread
// Memory:   none; one descriptor while it lives
//
// /proc/PID/pagemap says which pages are in memory. process_vm_readv copies from them, and fails
// without harm if they are gone. Pages that are not in memory are never read, because that would
// bring them in.

#ifndef ALLOCSCOPE_PLATFORM_PAGES_OF_PROCESS_HPP
#define ALLOCSCOPE_PLATFORM_PAGES_OF_PROCESS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

#include <fcntl.h>      // open
#include <sys/types.h>  // pid_t
#include <sys/uio.h>    // process_vm_readv
#include <unistd.h>     // close, pread

ALLOCSCOPE_HOT_BEGIN

namespace detail {

class pages_of_process {
public:
    static constexpr std::size_t most_at_once = 128;

    // `pagemap` is the path of that file.
    pages_of_process(pid_t whose, const char* pagemap) noexcept
        : process_(whose), descriptor_(::open(pagemap, O_RDONLY | O_CLOEXEC | O_NOCTTY)) {}
    ~pages_of_process() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    pages_of_process(const pages_of_process&) = delete;
    pages_of_process& operator=(const pages_of_process&) = delete;

    // Finds which of the pages from `low` on are in memory. If the kernel does not tell, all count
    // as absent.
    void find_present(std::uint64_t low, std::size_t count,
                      bool (&present)[most_at_once]) const noexcept {
        std::uint64_t entries[most_at_once];
        const ssize_t got = ::pread(descriptor_, entries, count * sizeof entries[0],
                                    static_cast<off_t>(low / page_bytes * sizeof entries[0]));
        const std::size_t known = got > 0 ? static_cast<std::size_t>(got) / sizeof entries[0] : 0;
        for (std::size_t i = 0; i < count; ++i) present[i] = i < known && (entries[i] >> 63U) != 0;
    }

    // How many bytes of the range are in memory.
    std::uint64_t resident(std::uint64_t low, std::uint64_t high) const noexcept {
        std::uint64_t pages = 0;
        while (low < high) {
            bool present[most_at_once];
            const std::size_t count = pages_at_once(low, high);
            find_present(low, count, present);
            for (std::size_t i = 0; i < count; ++i) pages += present[i] ? 1 : 0;
            low += count * page_bytes;
        }
        return pages * page_bytes;
    }

    static std::size_t pages_at_once(std::uint64_t low, std::uint64_t high) noexcept {
        const std::uint64_t pages = (high - low + page_bytes - 1) / page_bytes;
        return pages < most_at_once ? static_cast<std::size_t>(pages) : most_at_once;
    }

    // Returns false when not all of it could be read.
    template <class Value>
    bool read(std::uint64_t address, Value& into) const noexcept {
        struct iovec local = {&into, sizeof into};
        struct iovec remote = {reinterpret_cast<void*>(address), sizeof into};
        return ::process_vm_readv(process_, &local, 1, &remote, 1, 0) ==
               static_cast<ssize_t>(sizeof into);
    }

    // The first two words of each present page.
    struct first_words {
        std::uint64_t word[2];
    };
    void read_first_words(std::uint64_t low, std::size_t count, bool (&present)[most_at_once],
                          first_words (&into)[most_at_once]) const noexcept {
        struct iovec remote[most_at_once];
        first_words read[most_at_once];
        std::size_t asked = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (!present[i]) continue;
            remote[asked++] = {reinterpret_cast<void*>(low + i * page_bytes), sizeof read[0]};
        }
        struct iovec local = {read, asked * sizeof read[0]};
        const ssize_t got =
            asked == 0 ? 0 : ::process_vm_readv(process_, &local, 1, remote, asked, 0);
        const std::size_t known = got > 0 ? static_cast<std::size_t>(got) / sizeof read[0] : 0;
        std::size_t taken = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (!present[i]) continue;
            present[i] = taken < known;
            if (taken < known) into[i] = read[taken];
            ++taken;
        }
    }

private:
    pid_t process_;
    int descriptor_;
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_PLATFORM_PAGES_OF_PROCESS_HPP
