// protobuf_message.hpp - the wire format of protocol buffers, as far as a profile needs it.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by formats/pprof_format.hpp
// Threads:  one
// Memory:   of the text that is written to
//
//     write_field(inner, 1, 42);            // field 1 is 42; a field that is 0 is not written
//     write_field(outer, 3, inner.view());  // field 3 of the outer message is the inner one
//     end = put_field(bytes, 1, 42);        // the same in an array: many short fields at once

#ifndef ALLOCSCOPE_FORMATS_PROTOBUF_MESSAGE_HPP
#define ALLOCSCOPE_FORMATS_PROTOBUF_MESSAGE_HPP

#include <allocscope/config.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

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

// What was put into an array.
inline text text_up_to(const char* end, const char* begin) noexcept {
    return {begin, static_cast<std::size_t>(end - begin)};
}

// A field that is a number takes at most so many bytes.
constexpr std::size_t longest_field = 2 * longest_varint;

// A negative number is written as its two's complement, as the format requires for int64. Returns
// the end.
inline char* put_field(char* at, std::uint32_t field, std::uint64_t value) noexcept {
    if (value == 0) return at;
    return put_varint(put_varint(at, std::uint64_t{field} << 3U), value);
}

inline void write_field(text_out& out, std::uint32_t field, std::uint64_t value) {
    char bytes[longest_field];
    out << text_up_to(put_field(bytes, field, value), bytes);
}

// Writes a string, a message, or packed numbers.
inline void write_field(text_out& out, std::uint32_t field, const text& bytes) {
    char head[longest_field];
    const char* const end =
        put_varint(put_varint(head, std::uint64_t{field} << 3U | 2U), bytes.size());
    out << text_up_to(end, head) << bytes;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_FORMATS_PROTOBUF_MESSAGE_HPP
