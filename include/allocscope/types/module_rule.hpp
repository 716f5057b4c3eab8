// module_rule.hpp - which frame gives a row its place, by the names and the modules of a stack.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by naming/name_book.hpp, for each stack
// Threads:  any
// Memory:   of the given arena
//
// Names tell a user's code from the library's (types/frame_rule.hpp). Programs in C and programs
// without debug information have few, so the module that a frame lies in counts first:
//
//     the user's    every module that is none of the following
//     runtimes      interpreters: python, perl, ruby, ... and their libraries
//     system        the C and C++ libraries and the loader
//
// A row's place is the innermost frame of the user's modules that is the user's by its name, then
// the innermost of them without any name. If there are none, the same among the runtimes, and then
// whatever the names say, or the innermost frame of all. So an extension module of an interpreter
// comes before the interpreter, and nothing is ever placed inside the C library when anything else
// is known.

#ifndef ALLOCSCOPE_TYPES_MODULE_RULE_HPP
#define ALLOCSCOPE_TYPES_MODULE_RULE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/frame_rule.hpp>
#include <allocscope/types/function_name.hpp>

#include <cstddef>           // size_t
#include <initializer_list>  // initializer_list

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

inline text file_name_of(text path) noexcept {
    const std::size_t slash = path.rfind('/');
    return slash == text::npos ? path : path.substr(slash + 1);
}

enum class module_kind { user, runtime, system };

inline module_kind kind_of_module(text path) noexcept {
    const text name = file_name_of(path);
    constexpr text system =
        "libc.so libc- libstdc++.so libc++.so libc++abi.so libgcc_s.so libm.so libpthread.so "
        "libdl.so librt.so ld-linux liballocscope_preload.so";
    constexpr text runtimes =
        "python2 python3 libpython perl libperl ruby libruby lua liblua tclsh libtcl guile "
        "libguile php libphp node libnode java libjvm libmono libcoreclr";
    if (name.empty() || !listed_start(name, system).empty()) return module_kind::system;
    return listed_start(name, runtimes).empty() ? module_kind::user : module_kind::runtime;
}

// The module that a frame lies in, as a location has it.
struct frame_owner {
    text module;
    bool is_unloaded = false;
};

namespace module_rule_detail {

// frames.size() when no frame of that kind of module is the user's.
inline std::size_t user_frame_in(module_kind kind, arena& scratch, const list<code_frame>& frames,
                                 const list<frame_owner>& owners, const frame_rule& rule) {
    std::size_t nameless = frames.size();
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (kind_of_module(owners[i].module) != kind) continue;
        // Nothing can be known of it any more.
        if (owners[i].is_unloaded) return i;
        if (!rule.is_library(scratch, frames[i])) return i;
        const bool is_nameless = frames[i].function.empty() && frames[i].file.empty();
        if (is_nameless && nameless == frames.size()) nameless = i;
    }
    return nameless;
}

}  // namespace module_rule_detail

// Index of the frame; frames.size() if there is none. `owners` are those of the frames.
inline std::size_t user_frame_by_module(arena& scratch, const list<code_frame>& frames,
                                        const list<frame_owner>& owners, const frame_rule& rule) {
    for (const module_kind kind : {module_kind::user, module_kind::runtime}) {
        const std::size_t found =
            module_rule_detail::user_frame_in(kind, scratch, frames, owners, rule);
        if (found < frames.size()) return found;
    }
    const std::size_t named = user_frame(scratch, frames, rule);
    // At least the module is known.
    return named == frames.size() && !frames.empty() && !owners[0].module.empty() ? 0 : named;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_MODULE_RULE_HPP
