// unreadable_file.hpp - says why a file cannot be read: it is not there, or it is a folder.
//
// Room:     saved (floor 11), not malloc-safe
// Called:   by saved/load_snapshot.hpp when a file could not be opened
// Threads:  any
// Memory:   none
//
//     const file_reader file{path};
//     if (!file.is_open()) error = why_unreadable(path);

#ifndef ALLOCSCOPE_SAVED_UNREADABLE_FILE_HPP
#define ALLOCSCOPE_SAVED_UNREADABLE_FILE_HPP

#include <allocscope/base/compiler.hpp>

#include <cerrno>  // errno, ENOENT, ENOTDIR

#include <sys/stat.h>  // stat

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Says why file_reader could not open this path.
inline const char* why_unreadable(const char* path) noexcept {
    struct stat facts {};
    if (path == nullptr) return "a path is needed";
    if (::stat(path, &facts) != 0) {
        const bool is_missing = errno == ENOENT || errno == ENOTDIR;
        return is_missing ? "there is no such file" : "it may not be read";
    }
    if (S_ISDIR(facts.st_mode)) return "it is a folder; name a file in it";
    if (S_ISFIFO(facts.st_mode)) return "it is a pipe; write its contents to a file first";
    if (!S_ISREG(facts.st_mode)) return "it is a device or a socket, not a file";
    return "it may not be read";
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SAVED_UNREADABLE_FILE_HPP
