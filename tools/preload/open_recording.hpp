// open_recording.hpp - finds the command's file by the path of the preload library, and opens it.
//
// Called:   before the first event: it must not use the C++ library or allocate
// Threads:  the process has one
// Memory:   none
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_OPEN_RECORDING_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_OPEN_RECORDING_HPP

#include "../recording_path.hpp"

#include <allocscope/platform/lasting_pages.hpp>
#include <allocscope/unwind/module_identity.hpp>

#include <cstdint>

#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

namespace allocscope {
namespace detail {

// Writes a number in decimal; returns the end.
inline char* write_number(char* to, std::uint32_t number) noexcept {
    char digits[10];
    int count = 0;
    do {
        digits[count++] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count > 0) *to++ = digits[--count];
    return to;
}

inline char* write_text(char* to, const char* text) noexcept {
    while (*text != '\0') *to++ = *text++;
    *to = '\0';
    return to;
}

// The path under which the loader has this library.
inline const char* own_path() noexcept {
    const module_identity own = identify_module(reinterpret_cast<std::uintptr_t>(&lasting));
    return own.loaded != nullptr ? own.loaded->l_name : "";
}

// Opens the command's file. Returns its descriptor, or -1.
inline int open_recording() noexcept {
    const allocscope_tools::recording_place place =
        allocscope_tools::read_recording_path(own_path());
    if (place.process == 0) return -1;
    char path[64];
    char* at = write_number(write_text(path, "/proc/"), place.process);
    *write_number(write_text(at, "/fd/"), place.descriptor) = '\0';
    const int file = ::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return -1;
    struct stat about;
    if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode)) return file;
    ::close(file);
    return -1;
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_OPEN_RECORDING_HPP
