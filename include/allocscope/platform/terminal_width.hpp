// terminal_width.hpp - whether the output is a terminal, its width, and whether it shows colours.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by report/ before it lays out a text, and by the command-line program
// Threads:  any, while no other thread changes the environment
// Memory:   none
//
// In a program with raised privileges (AT_SECURE) the environment is not read.

#ifndef ALLOCSCOPE_PLATFORM_TERMINAL_WIDTH_HPP
#define ALLOCSCOPE_PLATFORM_TERMINAL_WIDTH_HPP

#include <allocscope/base/compiler.hpp>

#include <cerrno>   // errno
#include <cstdint>  // uint32_t
#include <cstdlib>  // secure_getenv
#include <cstring>  // strcmp

#include <sys/ioctl.h>  // TIOCGWINSZ
#include <unistd.h>     // isatty

ALLOCSCOPE_COOL_BEGIN

namespace detail {

constexpr std::uint32_t usual_width = 100;

inline bool is_terminal(int descriptor) noexcept {
    const int errno_before = errno;
    const bool answer = ::isatty(descriptor) == 1;
    errno = errno_before;
    return answer;
}

// A number in 1..10000, otherwise 0.
inline std::uint32_t columns_from_text(const char* text) noexcept {
    std::uint32_t value = 0;
    if (text == nullptr || *text == '\0') return 0;
    for (; *text != '\0'; ++text) {
        if (*text < '0' || *text > '9' || value > 1000) return 0;
        value = value * 10 + static_cast<std::uint32_t>(*text - '0');
    }
    return value <= 10000 ? value : 0;
}

// The width that the terminal reports, otherwise COLUMNS, otherwise 100.
inline std::uint32_t terminal_columns(int descriptor) noexcept {
    const int errno_before = errno;
    struct winsize size = {};
    const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
    errno = errno_before;
    if (is_known) return size.ws_col;
    const std::uint32_t wanted = columns_from_text(::secure_getenv("COLUMNS"));
    return wanted != 0 ? wanted : usual_width;
}

// NO_COLOR is a convention (no-color.org): it counts if it is set and not empty, whatever its
// value.
inline bool terminal_wants_color(int descriptor) noexcept {
    if (!is_terminal(descriptor)) return false;
    const char* refusal = ::secure_getenv("NO_COLOR");
    const char* kind = ::secure_getenv("TERM");
    return (refusal == nullptr || *refusal == '\0') &&
           (kind == nullptr || std::strcmp(kind, "dumb") != 0);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLATFORM_TERMINAL_WIDTH_HPP
