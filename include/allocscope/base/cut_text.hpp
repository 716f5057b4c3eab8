// cut_text.hpp - copies a name into little room, and cuts it between two characters.
//
// Room:     base (floor 0), malloc-safe
// Called:   wherever a name is kept in a fixed number of bytes: of a window, a mark, a pool
// Threads:  any
// Memory:   none
//
//     char name[4];
//     copy_cut(name, sizeof name, "ab\xc3\xa9");   // "ab": the two bytes of the e would need five

#ifndef ALLOCSCOPE_BASE_CUT_TEXT_HPP
#define ALLOCSCOPE_BASE_CUT_TEXT_HPP

#include <allocscope/base/compiler.hpp>

#include <cstddef>  // size_t
#include <cstring>  // memcpy, strnlen

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// How many bytes of a text are kept if there is room for `most`: no character of UTF-8 is divided.
inline std::size_t length_of_cut(const char* text, std::size_t most) noexcept {
    const auto is_inside = [text](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
    };
    constexpr std::size_t longest_character = 4;
    const std::size_t length = ::strnlen(text, most);
    std::size_t begin = length;
    while (begin != 0 && length - begin < longest_character && is_inside(begin)) --begin;
    const bool is_utf8 = !is_inside(begin);
    return is_utf8 ? begin : length;
}

// Null counts as empty.
inline void copy_cut(char* to, std::size_t room, const char* from) noexcept {
    const std::size_t length = from != nullptr ? length_of_cut(from, room - 1) : 0;
    if (length != 0) std::memcpy(to, from, length);
    to[length] = '\0';
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_BASE_CUT_TEXT_HPP
