// printable_text.hpp - which bytes of a name may be shown as they are.
//
// Room:     base (floor 0), malloc-safe
// Called:   by everything that prints a name: base/fixed_text.hpp, report/, verdict/
// Threads:  any
// Memory:   none
//
// A name from an ELF file, a source path or a user's string cannot be trusted: a terminal obeys
// escape sequences, and text that runs from right to left can make one name look like another. So a
// byte is shown only if it belongs to well-formed UTF-8 of a visible character; every other byte is
// shown as \xNN.
//
//     printable_length("abc");        // 1: 'a' is shown
//     printable_length("\xc3\xa9");   // 2: one character of two bytes
//     printable_length("\x1b[31m");   // 0: the first byte is to be escaped

#ifndef ALLOCSCOPE_BASE_PRINTABLE_TEXT_HPP
#define ALLOCSCOPE_BASE_PRINTABLE_TEXT_HPP

#include <allocscope/base/compiler.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// What a byte that must not be shown looks like: \x1b
constexpr std::size_t escaped_byte_length = 4;

inline void write_escaped_byte(char byte, char* out) noexcept {
    const char* digits = "0123456789abcdef";
    const unsigned value = static_cast<unsigned char>(byte);
    out[0] = '\\';
    out[1] = 'x';
    out[2] = digits[value >> 4];
    out[3] = digits[value & 15U];
}

// Characters that draw nothing but change how the rest of the line is read: C1 controls, line and
// paragraph separators, and the marks that set or end a direction of writing.
ALLOCSCOPE_INLINE bool is_hidden_control(std::uint32_t code_point) noexcept {
    return code_point < 0xa0U || code_point == 0x61cU ||
           (code_point >= 0x200bU && code_point <= 0x200fU) ||
           (code_point >= 0x2028U && code_point <= 0x202eU) ||
           (code_point >= 0x2060U && code_point <= 0x206fU) || code_point == 0xfeffU;
}

// How many bytes at `text`, which ends with a zero byte, make up one character that may be shown.
// 0: the first byte must be escaped (or the text ends here). Never reads past the zero byte.
inline std::size_t printable_length(const char* text) noexcept {
    const std::uint32_t first = static_cast<unsigned char>(text[0]);
    if (first < 0x80U) return first >= 0x20U && first != 0x7fU ? 1 : 0;
    if (first < 0xc2U || first > 0xf4U) return 0;
    const std::size_t length = first < 0xe0U ? 2 : (first < 0xf0U ? 3 : 4);
    std::uint32_t code_point = first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const std::uint32_t next = static_cast<unsigned char>(text[i]);
        if ((next & 0xc0U) != 0x80U) return 0;
        code_point = code_point << 6 | (next & 0x3fU);
    }
    const bool is_overlong = code_point < (length == 4 ? 0x10000U : (length == 3 ? 0x800U : 0x80U));
    const bool is_surrogate = code_point >= 0xd800U && code_point <= 0xdfffU;
    if (is_overlong || is_surrogate || code_point > 0x10ffffU) return 0;
    return is_hidden_control(code_point) ? 0 : length;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_BASE_PRINTABLE_TEXT_HPP
