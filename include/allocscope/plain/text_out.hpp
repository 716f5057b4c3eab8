// text_out.hpp - a text that is written piece by piece.
//
// Room:     plain (floor 2), not malloc-safe
// Called:   wherever a name, a message or a report is put together
// Threads:  one
// Memory:   from its arena; when the text grows, its old place stays there until the arena is
//           released
//
//     text_out line{memory};
//     line << "budget: " << name << " is " << decimal{seen};
//     return line.view();
//
// Functions that make text take a text_out to append to, so that no text is made only to be copied
// into the next one.

#ifndef ALLOCSCOPE_PLAIN_TEXT_OUT_HPP
#define ALLOCSCOPE_PLAIN_TEXT_OUT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/printable_text.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstring>  // memcpy, memset

ALLOCSCOPE_COOL_BEGIN

namespace plain {

class text_out {
public:
    ALLOCSCOPE_NOINLINE explicit text_out(arena& memory) noexcept : memory_(&memory) {}
    text_out(const text_out&) = delete;
    text_out& operator=(const text_out&) = delete;

    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE std::size_t size() const noexcept { return size_; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool empty() const noexcept { return size_ == 0; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE char back() const noexcept { return data_[size_ - 1]; }

    // The text so far; valid until the next character is written. Not inlined: see text.hpp.
    ALLOCSCOPE_NOINLINE text view() const noexcept {
        return size_ != 0 ? text{data_, size_} : text{};
    }

    // The same, followed by a zero byte.
    const char* c_str();

    // Forgets what follows the first `size` characters.
    ALLOCSCOPE_INLINE void cut(std::size_t size) noexcept { size_ = size; }

    ALLOCSCOPE_INLINE arena& memory() const noexcept { return *memory_; }

    text_out& operator<<(const text& added);
    text_out& operator<<(char added);
    text_out& operator<<(const char* added);

    void fill(std::size_t count, char with);

private:
    void grow(std::size_t room);

    arena* memory_;
    char* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
};

struct decimal {
    std::uint64_t value;
};
// For a number that is two's complement if `may_be_negative`.
struct signed_decimal {
    std::uint64_t value;
    bool may_be_negative;
};
struct hexadecimal {  // lower case, without a prefix
    std::uint64_t value;
};

ALLOCSCOPE_NOINLINE void write_digits(text_out& out, std::uint64_t value, unsigned base) {
    char digits[20];
    std::size_t begin = sizeof digits;
    do {
        digits[--begin] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    out << text{digits + begin, sizeof digits - begin};
}

inline text_out& operator<<(text_out& out, decimal number) {
    write_digits(out, number.value, 10);
    return out;
}
inline text_out& operator<<(text_out& out, signed_decimal number) {
    const bool is_negative = number.may_be_negative && number.value >> 63U != 0;
    if (is_negative) out << '-';
    return out << decimal{is_negative ? std::uint64_t{0} - number.value : number.value};
}
ALLOCSCOPE_INLINE text_out& operator<<(text_out& out, hexadecimal number) {
    write_digits(out, number.value, 16);
    return out;
}

// Writes a number with its noun: write_count(out, 1, "object", "objects").
inline void write_count(text_out& out, std::uint64_t count, const char* one, const char* many) {
    out << decimal{count} << ' ' << (count == 1 ? one : many);
}

ALLOCSCOPE_NOINLINE void text_out::grow(std::size_t room) {
    std::size_t wanted = room_ < 64 ? 64 : room_ * 2;
    if (wanted < room) wanted = room;
    if (!memory_->extend(data_, room_, wanted)) {
        auto* larger = static_cast<char*>(memory_->allocate(wanted));
        if (size_ != 0) std::memcpy(larger, data_, size_);
        data_ = larger;
    }
    room_ = wanted;
}

ALLOCSCOPE_NOINLINE text_out& text_out::operator<<(const text& added) {
    if (added.size() > room_ - size_) grow(size_ + added.size());
    if (!added.empty()) std::memcpy(data_ + size_, added.data(), added.size());
    size_ += added.size();
    return *this;
}

ALLOCSCOPE_NOINLINE text_out& text_out::operator<<(const char* added) {
    return *this << text{added};
}

ALLOCSCOPE_NOINLINE text_out& text_out::operator<<(char added) {
    if (size_ == room_) grow(size_ + 1);
    data_[size_++] = added;
    return *this;
}

ALLOCSCOPE_NOINLINE void text_out::fill(std::size_t count, char with) {
    if (count > room_ - size_) grow(size_ + count);
    if (count != 0) std::memset(data_ + size_, with, count);
    size_ += count;
}

ALLOCSCOPE_NOINLINE const char* text_out::c_str() {
    if (size_ == room_) grow(size_ + 1);
    data_[size_] = '\0';
    return data_;
}

// Escapes everything that a terminal could obey or hide; writes valid UTF-8. For null, writes
// nothing.
ALLOCSCOPE_NOINLINE void write_printable(text_out& out, const char* shown) {
    while (shown != nullptr && *shown != '\0') {
        const std::size_t length = detail::printable_length(shown);
        if (length != 0) {
            out << text{shown, length};
            shown += length;
        } else {
            char escaped[detail::escaped_byte_length];
            detail::write_escaped_byte(*shown++, escaped);
            out << text{escaped, sizeof escaped};
        }
    }
}

}  // namespace plain

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLAIN_TEXT_OUT_HPP
