// smaps_reader.hpp - the mappings of a process, one after the other, from /proc/PID/smaps.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by platform/resident_memory.hpp
// Threads:  one reader belongs to one thread
// Memory:   none; 5 KiB of stack and one descriptor while it lives
//
// The kernel writes an entry for each mapping, lowest address first:
//
//     7f1c2a400000-7f1c2a421000 rw-p 00000000 00:00 0      [a name, or none]
//     Rss:                 132 kB
//     ...
//     VmFlags: rd wr mr mw me nr sd
//
// A name may contain anything but a line break, which the kernel writes as \012. So a line that
// begins with a lower-case hexadecimal digit is the head of an entry, and no other line is. Lines
// are cut after line_bytes, because only the beginning of a name is needed.

#ifndef ALLOCSCOPE_PLATFORM_SMAPS_READER_HPP
#define ALLOCSCOPE_PLATFORM_SMAPS_READER_HPP

#include <allocscope/config.hpp>

#include <cerrno>   // errno, EINTR
#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstring>  // memcmp, memcpy, strlen, strncmp

#include <fcntl.h>   // open
#include <unistd.h>  // close, read

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct mapping {
    std::uint64_t low = 0, high = 0;  // its addresses: low <= address < high
    std::uint64_t resident = 0;       // bytes
    std::uint64_t swapped = 0;        // bytes
    std::uint64_t device = 0;         // of the file; with the inode it tells files apart
    std::uint64_t inode = 0;          // 0: of no file
    bool is_readable = false;
    bool is_writable = false;
    bool is_executable = false;
    bool is_shared = false;
    bool is_not_dumped = false;  // MADV_DONTDUMP
    bool is_never_huge = false;  // MADV_NOHUGEPAGE
    char name[48] = {};          // the beginning of its name

    bool is_named(const char* beginning) const noexcept {
        return std::strncmp(name, beginning, std::strlen(beginning)) == 0;
    }
    std::uint64_t size() const noexcept { return high - low; }
};

class smaps_reader {
public:
    explicit smaps_reader(const char* path) noexcept
        : descriptor_(::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)) {
        has_line_ = read_line();
    }
    ~smaps_reader() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    smaps_reader(const smaps_reader&) = delete;
    smaps_reader& operator=(const smaps_reader&) = delete;

    // Returns false when no mapping is left.
    bool next(mapping& into) noexcept {
        while (has_line_ && !is_head()) has_line_ = read_line();
        if (!has_line_) return false;
        into = mapping{};
        read_head(into);
        while ((has_line_ = read_line()) && !is_head()) read_field(into);
        return true;
    }

private:
    static constexpr std::size_t line_bytes = 256;

    bool is_head() const noexcept {
        return (line_[0] >= '0' && line_[0] <= '9') || (line_[0] >= 'a' && line_[0] <= 'f');
    }

    bool fill() noexcept {
        ssize_t got = 0;
        do {
            got = descriptor_ < 0 ? 0 : ::read(descriptor_, buffer_, sizeof buffer_);
        } while (got < 0 && errno == EINTR);
        at_ = 0;
        filled_ = got > 0 ? static_cast<std::size_t>(got) : 0;
        return filled_ != 0;
    }

    bool read_line() noexcept {
        std::size_t length = 0;
        for (;;) {
            if (at_ == filled_ && !fill()) break;
            const char next = buffer_[at_++];
            if (next == '\n') break;
            if (length + 1 < line_bytes) line_[length] = next;
            ++length;
        }
        line_[length < line_bytes ? length : line_bytes - 1] = '\0';
        return length != 0 || filled_ != 0;
    }

    // Reads a number at the place `at` of the line, and moves `at` to the position after it.
    static std::uint64_t number(const char*& at, unsigned base) noexcept {
        std::uint64_t value = 0;
        for (;; ++at) {
            unsigned digit = base;
            if (*at >= '0' && *at <= '9') digit = static_cast<unsigned>(*at - '0');
            if (*at >= 'a' && *at <= 'f') digit = static_cast<unsigned>(*at - 'a') + 10;
            if (digit >= base) return value;
            value = value * base + digit;
        }
    }
    static void skip_word(const char*& at) noexcept {
        while (*at != '\0' && *at != ' ') ++at;
        while (*at == ' ') ++at;
    }

    void read_head(mapping& into) const noexcept {
        const char* at = line_;
        into.low = number(at, 16);
        if (*at == '-') ++at;
        into.high = number(at, 16);
        if (into.high < into.low) into.high = into.low;
        skip_word(at);
        if (std::strlen(at) < 4) return;
        into.is_readable = at[0] == 'r';
        into.is_writable = at[1] == 'w';
        into.is_executable = at[2] == 'x';
        into.is_shared = at[3] == 's';
        skip_word(at);
        skip_word(at);  // the offset in the file
        into.device = number(at, 16) << 32U;
        if (*at == ':') ++at;
        into.device |= number(at, 16);
        skip_word(at);
        into.inode = number(at, 10);
        skip_word(at);
        const std::size_t length = std::strlen(at);
        const std::size_t kept = length < sizeof into.name ? length : sizeof into.name - 1;
        std::memcpy(into.name, at, kept);
        into.name[kept] = '\0';
    }

    std::uint64_t kilobytes() const noexcept {
        const char* at = line_;
        skip_word(at);
        return number(at, 10) * 1024;
    }
    bool has_flag(const char* flag) const noexcept {
        for (const char* at = line_; *at != '\0'; skip_word(at)) {
            if (std::memcmp(at, flag, 2) == 0 && (at[2] == ' ' || at[2] == '\0')) return true;
        }
        return false;
    }
    bool begins_with(const char* beginning) const noexcept {
        return std::strncmp(line_, beginning, std::strlen(beginning)) == 0;
    }
    void read_field(mapping& into) const noexcept {
        if (begins_with("Rss:")) into.resident = kilobytes();
        if (begins_with("Swap:")) into.swapped = kilobytes();
        if (!begins_with("VmFlags:")) return;
        into.is_not_dumped = has_flag("dd");
        into.is_never_huge = has_flag("nh");
    }

    int descriptor_;
    bool has_line_ = false;
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
    char line_[line_bytes];
    char buffer_[4096];
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_SMAPS_READER_HPP
