// file_reader.hpp - a regular file, opened for positioned reads.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by symbols/ for programs and libraries; by all code that reads /proc files
// Threads:  one reader belongs to one thread
// Memory:   none; one descriptor while it lives
//
// Files are copied with pread and never mapped, because a mapped file that shrinks means a SIGBUS
// in the host program. Opening never blocks: a FIFO in place of a library is opened, then refused.
//
//     file_reader file{"/usr/lib/libx.so"};
//     if (file.is_open()) file.read_at(0, buffer, 64);      // the number of bytes really read

#ifndef ALLOCSCOPE_PLATFORM_FILE_READER_HPP
#define ALLOCSCOPE_PLATFORM_FILE_READER_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>

#include <cerrno>   // errno, EINTR, EMFILE, ENFILE
#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

#include <fcntl.h>     // open
#include <sys/stat.h>  // fstat
#include <unistd.h>    // pread, close

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Distinguishes one file from another, and from its own later content.
struct file_identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t changed_ns = 0;

    ALLOCSCOPE_PURE bool equals(const file_identity& other) const noexcept {
        return device == other.device && inode == other.inode && size_bytes == other.size_bytes &&
               changed_ns == other.changed_ns;
    }
};

// How often this process got no file because it, or the system, had no descriptor left for it. A
// file that was refused so is there.
ALLOCSCOPE_HIDDEN inline atomic<std::uint32_t> refused_files{0};

class file_reader {
public:
    explicit file_reader(const char* path) noexcept {
        descriptor_ = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        struct stat facts;
        if (descriptor_ < 0) {
            if (errno == EMFILE || errno == ENFILE) {
                refused_files.fetch_add(1, memory_order::relaxed);
            }
            return;
        }
        if (::fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
            close_now();
            return;
        }
        identity_.device = facts.st_dev;
        identity_.inode = facts.st_ino;
        identity_.size_bytes = static_cast<std::uint64_t>(facts.st_size);
        identity_.changed_ns = static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * 1000000000U +
                               static_cast<std::uint64_t>(facts.st_mtim.tv_nsec);
    }
    ~file_reader() { close_now(); }
    file_reader(const file_reader&) = delete;
    file_reader& operator=(const file_reader&) = delete;

    ALLOCSCOPE_INLINE bool is_open() const noexcept { return descriptor_ >= 0; }
    const file_identity& identity() const noexcept { return identity_; }

    // Reads up to `count` bytes. Fewer are read where the file ends or cannot be read.
    std::size_t read_at(std::uint64_t offset, void* buffer, std::size_t count) const noexcept {
        std::size_t done = 0;
        while (is_open() && done < count) {
            const ssize_t got = ::pread(descriptor_, static_cast<char*>(buffer) + done,
                                        count - done, static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

private:
    ALLOCSCOPE_INLINE void close_now() noexcept {
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = -1;
    }

    int descriptor_ = -1;
    file_identity identity_;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_FILE_READER_HPP
