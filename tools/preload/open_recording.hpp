// open_recording.hpp - finds the command's file by the path of the preload library, and opens it.
//
// Called:   before the first event: it must not use the C++ library or allocate
// Threads:  the process has one
// Memory:   none
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_OPEN_RECORDING_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_OPEN_RECORDING_HPP

#include "../recording_path.hpp"

#include <allocscope/base/fixed_text.hpp>
#include <allocscope/platform/lasting_pages.hpp>
#include <allocscope/unwind/module_identity.hpp>

#include <cstdint>

#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

namespace allocscope {
namespace detail {

// The path under which the loader has this library.
inline const char* own_path() noexcept {
    const module_identity own = identify_module(reinterpret_cast<std::uintptr_t>(&lasting));
    return own.loaded != nullptr ? own.loaded->l_name : "";
}

// Of the command's file. When the command has ended, another process may get its number, and forked
// children would take a file of that one.
inline std::uint64_t recording_inode = 0;

// Opens the command's file. Returns its descriptor, or -1.
inline int open_recording() noexcept {
    const allocscope_tools::recording_place place =
        allocscope_tools::read_recording_path(own_path());
    if (place.process == 0) return -1;
    char path[64] = {};
    fixed_text written{path, sizeof path - 1};
    written.append("/proc/");
    written.append_decimal(place.process);
    written.append("/fd/");
    written.append_decimal(place.descriptor);
    const int file = ::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return -1;
    struct stat about;
    const bool is_file = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    if (is_file && recording_inode == 0) recording_inode = about.st_ino;
    if (is_file && recording_inode == about.st_ino) return file;
    ::close(file);
    return -1;
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_OPEN_RECORDING_HPP
