// protobuf_message.hpp - the wire format of protocol buffers, as far as a profile needs it.
//
// Room:     formats (floor 11), not malloc-safe
// Called:   by formats/pprof_format.hpp
// Threads:  one
// Memory:   of the text that is written to
//
//     write_field(inner, 1, 42);            // field 1 is 42; a field that is 0 is not written
//     write_field(outer, 3, inner.view());  // field 3 of the outer message is the inner one

#ifndef ALLOCSCOPE_FORMATS_PROTOBUF_MESSAGE_HPP
#define ALLOCSCOPE_FORMATS_PROTOBUF_MESSAGE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

constexpr std::size_t longest_varint = 10;

// Writes seven bits in each byte, the lowest first. Returns the end.
inline char* put_varint(char* at, std::uint64_t value) noexcept {
    while (value >= 0x80U) {
        *at++ = static_cast<char>(value | 0x80U);
        value >>= 7U;
    }
    *at++ = static_cast<char>(value);
    return at;
}

inline void write_varint(text_out& out, std::uint64_t value) {
    char bytes[longest_varint];
    out << text{bytes, static_cast<std::size_t>(put_varint(bytes, value) - bytes)};
}

// A negative number is written as its two's complement, as the format requires for int64.
inline void write_field(text_out& out, std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    write_varint(out, std::uint64_t{field} << 3U);
    write_varint(out, value);
}

// Writes a string, a message, or packed numbers.
inline void write_field(text_out& out, std::uint32_t field, text bytes) {
    write_varint(out, std::uint64_t{field} << 3U | 2U);
    write_varint(out, bytes.size());
    out << bytes;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_PROTOBUF_MESSAGE_HPP
