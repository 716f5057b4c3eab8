// start_modules.hpp - notes the modules with which the program began, for the command to name
// places.
//
// Called:   once, when the recording begins
// Threads:  the process has one
// Memory:   modules_at_start, which lies in the recording
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_START_MODULES_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_START_MODULES_HPP

#include "thread_vectors.hpp"

#include <allocscope/binary/module_fingerprint.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/state/recording_head.hpp>
#include <allocscope/unwind/module_identity.hpp>

#include <cstdint>

#include <link.h>
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

inline void note_start_modules(recording_head& head) noexcept {
    const ssize_t length = ::readlink("/proc/self/exe", head.program, sizeof head.program - 1);
    head.program[length > 0 ? length : 0] = '\0';
    bool is_program = true;
    for (const link_map* each = _r_debug.r_map; each != nullptr; each = each->l_next) {
        note_start_module(*each, is_program ? head.program : each->l_name);
        is_program = false;
    }
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_START_MODULES_HPP
