// hand_over.hpp - the library in LD_PRELOAD, without the command: the command takes over.
//
// Called:   when the library is loaded, before main
// Threads:  the process has one
// Memory:   pages for the words of the program
//
//     LD_PRELOAD=/usr/lib/liballocscope_preload.so ALLOCSCOPE_RECORD=sampled program
//
// does the same as `allocscope run -- program` with the options in the environment: this process
// becomes the command, and the command starts the program anew. So far the program has only run the
// constructors of its libraries.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_HAND_OVER_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_HAND_OVER_HPP

#include "../recording_path.hpp"
#include "open_recording.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <initializer_list>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace allocscope {
namespace detail {

inline void say(const char* message) noexcept {
    static_cast<void>(::write(2, message, std::strlen(message)) == 0);
}

// Words that end with zero bytes, as /proc/self/cmdline has them.
class word_list {
public:
    // Returns false if the file cannot be read.
    bool read(const char* path) noexcept {
        const int file = ::open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) return false;
        text_ = static_cast<char*>(reserve_pages(room));
        words_ = static_cast<char**>(reserve_pages(room));
        for (ssize_t got = 1; text_ != nullptr && words_ != nullptr && got > 0;) {
            got = ::read(file, text_ + size_, room - 1 - size_);
            if (got > 0) size_ += static_cast<std::size_t>(got);
        }
        ::close(file);
        if (text_ == nullptr || words_ == nullptr) return false;
        for (std::size_t at = 0; at < size_; at += std::strlen(text_ + at) + 1) add(text_ + at);
        return true;
    }
    void add(char* word) noexcept {
        if (count_ < most) words_[count_++] = word;
    }
    bool make_room() noexcept {
        words_ = static_cast<char**>(reserve_pages(room));
        return words_ != nullptr;
    }
    char** begin() const noexcept { return words_; }
    char** end() const noexcept { return words_ + count_; }

private:
    static constexpr std::size_t room = std::size_t{8} << 20U;  // more than the kernel passes
    static constexpr std::size_t most = room / sizeof(char*) - 1;

    char* text_ = nullptr;
    char** words_ = nullptr;
    std::size_t size_ = 0;
    std::size_t count_ = 0;
};

// Removes the library from the value of LD_PRELOAD. It is recognised by its name, because it may
// stand there without its folder, or with words that the loader replaces, such as $LIB.
inline void leave_out(char* value, const char* library) noexcept {
    const char* const slash = std::strrchr(library, '/');
    const char* const name = slash != nullptr ? slash + 1 : library;
    const std::size_t length = std::strlen(name);
    char* begin = value;  // where the path with the name begins
    for (char* at = value; *at != '\0'; ++at) {
        if (*at == ':' || *at == ' ' || *at == '/') {
            if (*at != '/') begin = at + 1;
            continue;
        }
        const bool begins = at == begin || at[-1] == '/';
        const char behind = begins && std::strncmp(at, name, length) == 0 ? at[length] : '?';
        if (behind != '\0' && behind != ':' && behind != ' ') continue;
        const char* const rest = at + length + (behind != '\0' ? 1 : 0);
        std::memmove(begin, rest, std::strlen(rest) + 1);
        if (*begin == '\0') return;
        at = begin - 1;
    }
}

// Finds the command, beside the library or where it is installed.
inline bool find_command(const char* library, char* out, std::size_t room) noexcept {
    for (const char* relative : {"/allocscope", "/" ALLOCSCOPE_PROGRAM_FOLDER "/allocscope"}) {
        const char* const slash = std::strrchr(library, '/');
        const auto folder = static_cast<std::size_t>(slash != nullptr ? slash - library : 0);
        if (slash == nullptr || folder + std::strlen(relative) >= room) return false;
        std::memcpy(out, library, folder);
        std::memcpy(out + folder, relative, std::strlen(relative) + 1);
        if (::access(out, X_OK) == 0) return true;
    }
    return false;
}

inline bool is_same_file(const char* one, const char* other) noexcept {
    struct stat first;
    struct stat second;
    return ::stat(one, &first) == 0 && ::stat(other, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// Returns only if it fails, or if this process already is the command: /etc/ld.so.preload may name
// the library for the command, too.
inline void become_command(const char* library) noexcept {
    static char command[4096];
    static char program[4096];
    static char words[][16] = {"allocscope", "run", "--executable", "--"};
    word_list given;
    word_list environment;
    word_list all;
    const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0 || !given.read("/proc/self/cmdline") ||
        !environment.read("/proc/self/environ") || !all.make_room()) {
        return say("allocscope: nothing is recorded: /proc cannot be read\n");
    }
    if (!find_command(library, command, sizeof command)) {
        return say(
            "allocscope: nothing is recorded: the program allocscope is not beside "
            "liballocscope_preload.so; install both\n");
    }
    if (is_same_file("/proc/self/exe", command)) return;
    // The file may have been deleted or replaced since, or never have had a name (memfd_create).
    if (!is_same_file("/proc/self/exe", program)) {
        return say("allocscope: nothing is recorded: the program's file is gone\n");
    }
    for (char* variable : environment) {
        if (std::strncmp(variable, "LD_PRELOAD=", 11) == 0) leave_out(variable + 11, library);
    }
    for (char* word : {words[0], words[1], words[2], program, words[3]}) all.add(word);
    for (char* word : given) all.add(word);
    ::execve(command, all.begin(), environment.begin());
    say("allocscope: nothing is recorded: the program allocscope cannot be run\n");
}

// Whether the command had the library loaded into this process, or into one that started it. The
// command may have ended since.
inline bool is_started_by_command() noexcept {
    return allocscope_tools::read_recording_path(own_path()).process != 0;
}

inline void hand_over_to_command() noexcept {
    if (::getauxval(AT_SECURE) != 0 || is_started_by_command()) return;
    const int saved_errno = errno;
    become_command(own_path());
    errno = saved_errno;
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_HAND_OVER_HPP
