// demangle.hpp - demangles linker names to names as the programmer wrote them.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp and entry_names.hpp, once for each name
// Threads:  any
// Memory:   the result; the C++ runtime's demangler uses malloc while it works
//
// The runtime's demangler writes out everything to which a name refers back, and references nest:
// about forty characters can stand for gigabytes. So names with many references, six of a thousand
// in large libraries, keep their linker names.
//
//     demangled(memory, "_ZN3app4loadEi")    // "app::load(int)"
//     demangled(memory, "main")              // "main"

#ifndef ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP
#define ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>

#include <cstddef>  // size_t
#include <cstdlib>  // free

#include <cxxabi.h>  // __cxa_demangle

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr std::size_t longest_mangled_name = 4096;
constexpr int most_back_references = 14;

// Counts "S_", "S1_", "T0_" and the like, also inside an identifier that only looks like it.
inline bool is_demanglable(text name) noexcept {
    if (name.size() > longest_mangled_name || !name.starts_with("_Z")) return false;
    int references = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] != 'S' && name[i] != 'T') continue;
        std::size_t end = i + 1;
        while (end < name.size() &&
               ((name[end] >= '0' && name[end] <= '9') || (name[end] >= 'A' && name[end] <= 'Z'))) {
            ++end;
        }
        if (end < name.size() && name[end] == '_') ++references;
    }
    return references <= most_back_references;
}

// The result is a zero-terminated text in `memory`.
inline text demangled(arena& memory, const char* linkage_name) {
    struct readable_name {
        char* characters = nullptr;
        ~readable_name() { std::free(characters); }
    } readable;
    if (is_demanglable(linkage_name)) {
        int status = 0;
        constexpr int no_memory = -1;
        readable.characters = abi::__cxa_demangle(linkage_name, nullptr, nullptr, &status);
        if (status == no_memory) refuse_memory();
    }
    return copy_of(memory, readable.characters != nullptr ? readable.characters : linkage_name);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_DEMANGLE_HPP
