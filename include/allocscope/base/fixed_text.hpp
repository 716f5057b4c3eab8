// fixed_text.hpp - builds a line of text in a buffer that the caller owns.
//
// Room:     base (floor 0), malloc-safe
// Called:   by snapshot/print_rows.hpp, and wherever a message is made without an allocation
// Threads:  one thread per text
// Memory:   the caller's buffer
//
// It does not call the C library: no locale, no errno, no allocation. What does not fit is left
// out. Numbers and escapes are written completely or not at all.
//
//     char space[64];
//     detail::fixed_text line{space, sizeof space};
//     line.append("objects: ");
//     line.append_decimal(1100, 7);             // "objects:    1100"
//     write(2, line.data(), line.size());

#ifndef ALLOCSCOPE_BASE_FIXED_TEXT_HPP
#define ALLOCSCOPE_BASE_FIXED_TEXT_HPP

#include <allocscope/base/printable_text.hpp>
#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, int64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class fixed_text {
public:
    // `space` need not be initialised. No zero byte is written at the end.
    fixed_text(char* space, std::size_t capacity) noexcept : space_(space), capacity_(capacity) {}

    const char* data() const noexcept { return space_; }
    std::size_t size() const noexcept { return size_; }
    std::size_t room() const noexcept { return capacity_ - size_; }
    void clear() noexcept { size_ = 0; }

    void append(char byte) noexcept { append(&byte, 1); }

    void append(const char* text) noexcept {
        while (*text != '\0') append(text++, 1);
    }

    // Appends all bytes or none.
    void append(const char* bytes, std::size_t length) noexcept {
        if (length > room()) return;
        // Not a loop: clang 14 at -O2 takes a loop for a copy of unwritten memory and leaves out
        // all but the first byte.
        __builtin_memcpy(space_ + size_, bytes, length);
        size_ += length;
    }

    // Right-aligned in at least `width` columns. If `mark` is given, it stands directly before the
    // digits and counts as a column: append_decimal(1000, 7, '~') is "  ~1000".
    void append_decimal(std::uint64_t value, std::size_t width = 0, char mark = '\0') noexcept {
        append_aligned(value, 10, width, mark, '\0');
    }

    void append_signed(std::int64_t value, std::size_t width = 0, char mark = '\0') noexcept {
        const std::uint64_t bits = static_cast<std::uint64_t>(value);
        if (value < 0) {
            append_aligned(std::uint64_t{0} - bits, 10, width, mark, '-');
        } else {
            append_aligned(bits, 10, width, mark, '\0');
        }
    }

    // Lower case, no prefix.
    void append_hexadecimal(std::uint64_t value, std::size_t width = 0) noexcept {
        append_aligned(value, 16, width, '\0', '\0');
    }

    // Appends the next character of `text`, escaped if it must not be shown, and returns how many
    // bytes of `text` that was. Returns 0 at the end of `text`, and when there is no room.
    std::size_t append_printable(const char* text) noexcept {
        if (*text == '\0') return 0;
        const std::size_t length = printable_length(text);
        char escaped[escaped_byte_length];
        const bool is_escaped = length == 0;
        if (is_escaped) write_escaped_byte(*text, escaped);
        const std::size_t size_before = size_;
        append(is_escaped ? escaped : text, is_escaped ? escaped_byte_length : length);
        if (size_ == size_before) return 0;
        return is_escaped ? 1 : length;
    }

private:
    void append_aligned(std::uint64_t value, unsigned base, std::size_t width, char mark,
                        char sign) noexcept {
        char digits[22];  // a sign and the 20 digits of 2^64 - 1, or a mark before them
        std::size_t begin = sizeof digits;
        do {
            digits[--begin] = "0123456789abcdef"[value % base];
            value /= base;
        } while (value != 0);
        if (sign != '\0') digits[--begin] = sign;
        if (mark != '\0') digits[--begin] = mark;
        const std::size_t length = sizeof digits - begin;
        const std::size_t padding = width > length ? width - length : 0;
        if (padding + length > room()) return;
        for (std::size_t i = 0; i < padding; ++i) space_[size_++] = ' ';
        append(digits + begin, length);
    }

    char* space_;
    std::size_t capacity_;
    std::size_t size_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_FIXED_TEXT_HPP
