// byte_cursor.hpp - reads little-endian numbers, LEB128 and texts with checks.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by every parser of ELF and DWARF bytes
// Threads:  one cursor belongs to one thread
// Memory:   none
//
// Bytes of a file may be malicious. A read past the end, or of a text that does not end, returns
// zero and marks the cursor as failed. From then on every read returns zero, so a parser asks
// `ok()` once for each record instead of after every field.
//
//     byte_cursor in{section};
//     std::uint64_t length = in.u32();
//     if (!in.ok()) return;              // the section ended too early

#ifndef ALLOCSCOPE_BINARY_BYTE_CURSOR_HPP
#define ALLOCSCOPE_BINARY_BYTE_CURSOR_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t ... uint64_t
#include <cstring>  // memcpy, memchr

ALLOCSCOPE_MILD_BEGIN

namespace detail {

class byte_cursor {
public:
    byte_cursor() = default;
    explicit byte_cursor(byte_view bytes, std::uint64_t start = 0) noexcept : bytes_(bytes) {
        seek(start);
    }

    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool ok() const noexcept { return ok_; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool at_end() const noexcept {
        return !ok_ || at_ >= bytes_.size;
    }
    ALLOCSCOPE_INLINE std::size_t at() const noexcept { return at_; }
    ALLOCSCOPE_INLINE byte_view bytes() const noexcept { return bytes_; }
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE std::size_t remaining() const noexcept {
        return ok_ ? bytes_.size - at_ : 0;
    }
    ALLOCSCOPE_INLINE void fail() noexcept { ok_ = false; }

    ALLOCSCOPE_INLINE void seek(std::uint64_t position) noexcept {
        if (position > bytes_.size) {
            ok_ = false;
        } else {
            at_ = position;
        }
    }
    void skip(std::uint64_t count) noexcept {
        if (count > remaining()) {
            ok_ = false;
        } else {
            at_ += count;
        }
    }

    // Like u8(), but at_end() must be false.
    ALLOCSCOPE_INLINE std::uint8_t next() noexcept { return bytes_.data[at_++]; }
    std::uint8_t u8() noexcept {
        if (remaining() == 0) {
            ok_ = false;
            return 0;
        }
        return bytes_.data[at_++];
    }
    std::uint16_t u16() noexcept { return fixed<std::uint16_t>(); }
    std::uint32_t u32() noexcept { return fixed<std::uint32_t>(); }
    std::uint64_t u64() noexcept { return fixed<std::uint64_t>(); }

    // A number of 1, 2, 3, 4 or 8 bytes; any other width fails.
    std::uint64_t unsigned_of(unsigned width) noexcept;

    // Bits beyond the 64th are dropped; more than 16 bytes fail.
    std::uint64_t uleb() noexcept {
        if (ok_ && at_ < bytes_.size && bytes_.data[at_] < 0x80) return bytes_.data[at_++];
        return long_uleb();
    }
    std::int64_t sleb() noexcept;

    // A text that ends with a zero byte inside the bytes; "" on failure.
    const char* text() noexcept;

    byte_view block(std::uint64_t length) noexcept {
        if (length > remaining()) {
            ok_ = false;
            return {};
        }
        const byte_view part = bytes_.part(at_, length);
        at_ += part.size;
        return part;
    }

private:
    static constexpr unsigned longest_leb = 16;

    std::uint64_t long_uleb() noexcept;

    template <class Number>
    Number fixed() noexcept {
        Number value = 0;
        if (remaining() < sizeof value) {
            ok_ = false;
            return 0;
        }
        std::memcpy(&value, bytes_.data + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }

    byte_view bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

ALLOCSCOPE_NOINLINE std::uint64_t byte_cursor::unsigned_of(unsigned width) noexcept {
    switch (width) {
        case 1:
            return u8();
        case 2:
            return u16();
        case 3: {
            const std::uint64_t low = u16();
            return low | (static_cast<std::uint64_t>(u8()) << 16);
        }
        case 4:
            return u32();
        case 8:
            return u64();
        default:
            ok_ = false;
            return 0;
    }
}

ALLOCSCOPE_NOINLINE std::uint64_t byte_cursor::long_uleb() noexcept {
    const std::size_t left = remaining();
    const std::uint8_t* const from = bytes_.data + at_;
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (std::size_t i = 0; i < left && i < longest_leb; ++i, shift += 7) {
        const std::uint8_t byte = from[i];
        if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if ((byte & 0x80) != 0) continue;
        at_ += i + 1;
        return value;
    }
    ok_ = false;
    return 0;
}

ALLOCSCOPE_NOINLINE std::int64_t byte_cursor::sleb() noexcept {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (unsigned i = 0; i < longest_leb; ++i) {
        const std::uint8_t byte = u8();
        if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        shift += 7;
        if ((byte & 0x80) != 0) continue;
        if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
        return ok_ ? static_cast<std::int64_t>(value) : 0;
    }
    ok_ = false;
    return 0;
}

ALLOCSCOPE_NOINLINE const char* byte_cursor::text() noexcept {
    const std::size_t left = remaining();
    const void* end = left == 0 ? nullptr : std::memchr(bytes_.data + at_, 0, left);
    if (end == nullptr) {
        ok_ = false;
        return "";
    }
    const std::uint8_t* start = bytes_.data + at_;
    at_ += static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - start) + 1;
    return reinterpret_cast<const char*>(start);
}

// A longer text is not a name; a section without any zero byte must not become one name.
constexpr std::size_t longest_text = std::size_t{1} << 16;

// The text at `offset` of a string section; "" when there is none.
ALLOCSCOPE_NOINLINE const char* text_at(byte_view section, std::uint64_t offset) noexcept {
    byte_view rest = section.from(offset);
    if (rest.size > longest_text) rest.size = longest_text;
    return byte_cursor{rest}.text();
}

}  // namespace detail

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_BINARY_BYTE_CURSOR_HPP
