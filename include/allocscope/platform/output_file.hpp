// output_file.hpp - a file that appears whole, or not at all.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by report/piece_target.hpp when a report goes to a path or a descriptor, and by
//           verdict/
// Threads:  one thread per output_file; if several write to one path, the last commit stays
// Memory:   4 KiB of stack while a path is taken apart
//
//     output_file out;
//     int error = out.open("heap.txt");              // creates .allocscope-<16 digits> beside it
//     if (error == 0) error = out.write(text, length);
//     if (error == 0) error = out.commit();          // renames it; without commit it is removed
//
// Errors are errno values, 0 is success. A new file has mode 0600 and is never reached through a
// link that an attacker made: it is created with O_EXCL and put in place by rename, which replaces
// a link and not the file that the link points to. Some paths are not files and are written to
// directly: the process's own descriptors by their names (/dev/stdout, /dev/fd/3), character
// devices, and a FIFO that has a reader and belongs to this user or to root.

#ifndef ALLOCSCOPE_PLATFORM_OUTPUT_FILE_HPP
#define ALLOCSCOPE_PLATFORM_OUTPUT_FILE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/platform/clocks.hpp>

#include <cerrno>   // errno and its values
#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstring>  // strcmp, strncmp, strrchr, memcpy

#include <fcntl.h>        // openat, fcntl
#include <poll.h>         // poll
#include <signal.h>       // pthread_sigmask, sigtimedwait
#include <sys/stat.h>     // stat, lstat, fstat
#include <sys/syscall.h>  // SYS_renameat
#include <unistd.h>       // write, close, dup, syscall, unlinkat

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Writing beyond the size limit of files (ulimit -f) would kill the process with SIGXFSZ. While an
// object of this class lives, a write by this thread fails with EFBIG instead, and no signal stays
// pending.
class file_size_signal_blocked {
public:
    ALLOCSCOPE_INLINE file_size_signal_blocked() noexcept {
        ::sigset_t pending;
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
        ::sigemptyset(&only_this_);
        ::sigaddset(&only_this_, SIGXFSZ);
        ::pthread_sigmask(SIG_BLOCK, &only_this_, &mask_before_);
    }
    ALLOCSCOPE_INLINE ~file_size_signal_blocked() {
        const int errno_before = errno;
        const struct timespec at_once = {0, 0};
        if (!was_pending_) ::sigtimedwait(&only_this_, nullptr, &at_once);
        ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
        errno = errno_before;
    }
    file_size_signal_blocked(const file_size_signal_blocked&) = delete;
    file_size_signal_blocked& operator=(const file_size_signal_blocked&) = delete;

private:
    ::sigset_t only_this_;
    ::sigset_t mask_before_;
    bool was_pending_;
};

// Writes all of it, even if the kernel takes only a part at a time. Waits while a non-blocking
// descriptor is full.
inline int write_all(int descriptor, const char* bytes, std::size_t length) noexcept {
    const file_size_signal_blocked quietly;
    while (length != 0) {
        const ::ssize_t written = ::write(descriptor, bytes, length);
        if (written > 0) {
            bytes += written;
            length -= static_cast<std::size_t>(written);
            continue;
        }
        if (written == 0) return EIO;
        if (errno == EAGAIN) {
            struct pollfd writable = {descriptor, POLLOUT, 0};
            if (::poll(&writable, 1, -1) < 0 && errno != EINTR) return errno;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

// The number in "/dev/stdout", "/dev/fd/3" and the like, -1 for any other path. Such a name is not
// opened again, because that would begin at the start of a redirected file and overwrite it.
inline int descriptor_named_by(const char* path) noexcept {
    if (std::strcmp(path, "/dev/stdout") == 0) return 1;
    if (std::strcmp(path, "/dev/stderr") == 0) return 2;
    const char* digits = nullptr;
    if (std::strncmp(path, "/dev/fd/", 8) == 0) digits = path + 8;
    if (std::strncmp(path, "/proc/self/fd/", 14) == 0) digits = path + 14;
    if (digits == nullptr || *digits == '\0') return -1;
    int number = 0;
    for (; *digits != '\0'; ++digits) {
        if (*digits < '0' || *digits > '9' || number > 100000000) return -1;
        number = number * 10 + (*digits - '0');
    }
    return number;
}

class output_file {
public:
    output_file() noexcept = default;
    ALLOCSCOPE_INLINE ~output_file() { abandon(); }
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    // `path` must stay valid until commit().
    int open(const char* path) noexcept {
        if (path == nullptr) return EINVAL;
        if (*path == '\0') return ENOENT;
        const int named = descriptor_named_by(path);
        if (named >= 0) {
            descriptor_ = ::fcntl(named, F_DUPFD_CLOEXEC, 3);
            return descriptor_ >= 0 ? 0 : errno;
        }
        struct stat found;
        if (::stat(path, &found) == 0 && !S_ISREG(found.st_mode)) return open_special(path, found);
        return create_beside(path);
    }

    ALLOCSCOPE_INLINE int write(const char* bytes, std::size_t length) noexcept {
        return write_all(descriptor_, bytes, length);
    }

    // A network file system may report a failed write only at the close.
    int commit() noexcept {
        const int closed = ::close(descriptor_);
        const int close_error = closed == 0 || errno == EINTR ? 0 : errno;
        descriptor_ = -1;
        if (directory_ < 0) return close_error;
        if (close_error != 0) return close_error;
        // Not renameat(): <cstdio> would be compiled for this call alone.
        if (::syscall(SYS_renameat, directory_, temporary_, directory_, name_) != 0) return errno;
        ::close(directory_);
        directory_ = -1;
        return 0;
    }

private:
    // No O_CREAT and no O_TRUNC: if the path becomes a file meanwhile, that file is left alone.
    // With O_NONBLOCK, a FIFO without a reader is an error (ENXIO) and does not hang the program.
    int open_special(const char* path, const struct stat& found) noexcept {
        if (S_ISDIR(found.st_mode)) return EISDIR;
        descriptor_ = ::open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (descriptor_ < 0) return errno;
        struct stat opened;
        if (::fstat(descriptor_, &opened) != 0) return errno;
        const bool is_fifo = S_ISFIFO(opened.st_mode);
        if (!S_ISCHR(opened.st_mode) && !is_fifo) return EINVAL;
        // Another user's FIFO in a shared directory would reveal what a file keeps private.
        if (is_fifo && opened.st_uid != ::geteuid() && opened.st_uid != 0) return EACCES;
        const int flags = ::fcntl(descriptor_, F_GETFL);
        return ::fcntl(descriptor_, F_SETFL, flags & ~O_NONBLOCK) == 0 ? 0 : errno;
    }

    // The directory is kept open, so that the file ends up where the caller asked for it, even if
    // the program changes its working directory or a folder is renamed.
    int create_beside(const char* path) noexcept {
        char directory[4096];
        const char* slash = std::strrchr(path, '/');
        name_ = slash == nullptr ? path : slash + 1;
        if (*name_ == '\0') return EISDIR;
        const std::size_t length = static_cast<std::size_t>(name_ - path);
        if (length >= sizeof directory) return ENAMETOOLONG;
        std::memcpy(directory, path, length);
        directory[length] = '\0';
        directory_ = ::open(length == 0 ? "." : directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        // A program that has closed stdout or stderr may still write to it. That must not get into
        // the file: while it is opened, the numbers below 3 are taken.
        unsigned taken = 0;
        while (directory_ >= 0 && directory_ <= 2) {
            taken |= 1U << directory_;
            directory_ = ::fcntl(directory_, F_DUPFD_CLOEXEC, 0);
        }
        int error = directory_ < 0 ? errno : EEXIST;
        for (int attempt = 0; attempt < 16 && (error == EEXIST || error == EINTR); ++attempt) {
            name_temporary(attempt);
            descriptor_ = ::openat(directory_, temporary_,
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
            error = descriptor_ >= 0 ? 0 : errno;
        }
        for (; taken != 0; taken &= taken - 1) ::close(__builtin_ctz(taken));
        if (error == 0) return 0;
        ::close(directory_);
        directory_ = -1;
        return error;
    }

    // The name need not be secret, because O_EXCL protects the file. It should rarely be taken
    // already.
    void name_temporary(int attempt) noexcept {
        std::uint64_t mixed = monotonic_ns() ^ static_cast<std::uint64_t>(::getpid()) << 40U ^
                              reinterpret_cast<std::uintptr_t>(this);
        mixed = (mixed + static_cast<std::uint64_t>(attempt)) * golden_multiplier;
        std::memcpy(temporary_, ".allocscope-", 12);
        for (std::size_t i = 12; i < sizeof temporary_ - 1; ++i, mixed >>= 4U) {
            temporary_[i] = "0123456789abcdef"[mixed & 15U];
        }
        temporary_[sizeof temporary_ - 1] = '\0';
    }

    void abandon() noexcept {
        const int errno_before = errno;
        if (descriptor_ >= 0) ::close(descriptor_);
        if (directory_ >= 0) {
            ::unlinkat(directory_, temporary_, 0);
            ::close(directory_);
        }
        errno = errno_before;
    }

    int descriptor_ = -1;
    int directory_ = -1;  // of the temporary file, while there is one
    const char* name_ = nullptr;
    char temporary_[12 + 16 + 1] = {};
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_OUTPUT_FILE_HPP
