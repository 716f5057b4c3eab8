// start_modules.hpp - notes the name of the program and the modules with which it began, for the
// command to name places.
//
// Called:   once, when the recording begins
// Threads:  the process has one
// Memory:   modules_at_start and the head, which lie in the recording
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_START_MODULES_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_START_MODULES_HPP

#include "thread_vectors.hpp"

#include <allocscope/base/fixed_text.hpp>
#include <allocscope/binary/module_fingerprint.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/state/recording_head.hpp>
#include <allocscope/unwind/module_identity.hpp>

#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace allocscope {
namespace detail {

inline void note_start_module(const link_map& loaded, const char* path) noexcept {
    module_identity found = identify_module(reinterpret_cast<std::uintptr_t>(loaded.l_ld));
    if (found.start == 0) return;
    note_if_loader(loaded, found);
    met_module met{};
    met.start = found.start;
    met.size = found.size;
    met.base = loaded.l_addr;
    met.path = path;
    module_segments segments;
    if (find_module_segments(found.start, segments)) {
        const build_id id = build_id_in(segments);
        met.has_build_id = id.known();
        met.fingerprint = id.known()
                              ? fingerprint_of(id)
                              : fingerprint_of(reinterpret_cast<const void*>(found.start), path);
    }
    modules_at_start.note(met, number_at_start);
}

inline const char* file_name_of(const char* path) noexcept {
    const char* slash = std::strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

// Forked children inherit it: a child may have written another title over its arguments.
inline char name_as_started[sizeof(recording_head::name)] = {};

// Reads what is behind the last slash of the first argument.
inline void read_name_as_started() noexcept {
    const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    std::size_t length = 0;
    char piece[256];
    bool is_over = false;
    for (ssize_t got = 0; !is_over && (got = ::read(file, piece, sizeof piece)) > 0;) {
        for (ssize_t i = 0; i < got && !is_over; ++i) {
            is_over = piece[i] == '\0';
            if (piece[i] == '/') {
                length = 0;
            } else if (length < sizeof name_as_started - 1) {
                name_as_started[length++] = piece[i];
            }
        }
    }
    ::close(file);
    name_as_started[length] = '\0';
}

// If the loader was run as a command, with the program as its argument: the program. Else null.
inline const char* program_of_loader() noexcept {
    return ::getauxval(AT_BASE) != 0 ? nullptr
                                     : reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
}

// Without links: redis-server is a link to redis-check-rdb.
inline ssize_t read_path_of_program(char* path, std::size_t room) noexcept {
    const char* const given = program_of_loader();
    if (given == nullptr) return ::readlink("/proc/self/exe", path, room);
    const int file = ::open(given, O_PATH | O_CLOEXEC);
    char link[32] = {};
    fixed_text written{link, sizeof link - 1};
    written.append("/proc/self/fd/");
    written.append_decimal(static_cast<std::uint64_t>(file));
    const ssize_t length = file >= 0 ? ::readlink(link, path, room) : 0;
    if (file >= 0) ::close(file);
    return length;
}

// Users know the name that they typed.
inline void note_program(recording_head& head) noexcept {
    const ssize_t length = read_path_of_program(head.program, sizeof head.program - 1);
    head.program[length > 0 ? length : 0] = '\0';
    if (name_as_started[0] == '\0') read_name_as_started();
    const char* const given = program_of_loader();
    const char* const name = given != nullptr             ? file_name_of(given)
                             : name_as_started[0] != '\0' ? name_as_started
                                                          : file_name_of(head.program);
    std::memcpy(head.name, name, ::strnlen(name, sizeof head.name - 1));
    ::prctl(PR_GET_NAME, head.kernel_name);
}

inline void note_start_modules(const recording_head& head) noexcept {
    bool is_program = true;
    for (const link_map* each = _r_debug.r_map; each != nullptr; each = each->l_next) {
        note_start_module(*each, is_program ? head.program : each->l_name);
        is_program = false;
    }
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_START_MODULES_HPP
