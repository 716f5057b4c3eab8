// module_rule.hpp - finds the frame that gives a row its place: all rules, in their order.
//
// Room:     places (floor 9), not malloc-safe
// Called:   by naming/stack_namer.hpp, for each stack
// Threads:  any
// Memory:   of the given arena
//
// The rules are tried in order; the first that fits any frame decides, and the row is placed in the
// innermost frame that it fits. docs/types_and_places.md has the same list for users.
//
//     1  has a line, is the user's by its name, lies in no library by file or module, and is not a
//        constructor or an assignment that the compiler made
//     2  lies in one of the user's modules and is the user's by its name; main(), which all stacks
//        have, only if no frame further in fits rule 3
//     3  lies in one of the user's modules, has no name, and is not library code by its number; a
//        function that only returns what it allocated, as xmalloc does, only if no other frame fits
//     4  the same as 2 and 3, in a module of an interpreter
//     5  is the user's by its name alone (user_frame); otherwise the innermost frame of all
//
// So a library's frames count only if no frame further out has a line of the user's code. Names are
// judged by places/frame_rule.hpp, files by places/library_files.hpp, what the compiler made by
// source/implicit_function.hpp. There are three kinds of modules:
//
//     system        the C and C++ libraries and the loader
//     runtimes      interpreters: python, perl, ruby, ... and their libraries
//     the user's    all others; those that packages installed are libraries in rule 1
//
// Functions that only pass a request on are skipped: a class's own operator new, and the `allocate`
// through which the standard library asks a user's allocator. The kind of an unloaded module is not
// known, so its frames fit rule 1.

#ifndef ALLOCSCOPE_PLACES_MODULE_RULE_HPP
#define ALLOCSCOPE_PLACES_MODULE_RULE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/places/frame_rule.hpp>
#include <allocscope/places/initialised_member.hpp>
#include <allocscope/places/known_frames.hpp>
#include <allocscope/places/library_files.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/implicit_function.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

enum class module_kind { user, runtime, system };

// Whether a file is an interpreter or its library: one of the names, and perhaps a version.
// "perlin" is neither.
inline bool is_runtime(const text& file_name) noexcept {
    constexpr text runtimes =
        "python2 python3 libpython2 libpython3 perl libperl ruby libruby luajit libluajit lua "
        "liblua tclsh libtcl guile libguile php-cgi php-fpm php libphp nodejs node libnode java "
        "libjvm libmonosgen libmono libcoreclr";
    text rest = file_name;
    rest.remove_prefix(listed_start(rest, runtimes).size());
    if (rest.size() == file_name.size()) return false;
    if (rest.starts_with("-")) rest.remove_prefix(1);
    return rest.empty() || rest.front() == '.' || (rest.front() >= '0' && rest.front() <= '9');
}

inline module_kind kind_of_module(const text& path) noexcept {
    const text name = file_name_of(path);
    if (name.empty() || is_system_library(name)) return module_kind::system;
    return is_runtime(name) ? module_kind::runtime : module_kind::user;
}

// What the module of a frame says about the frame.
struct frame_owner {
    module_kind kind = module_kind::system;
    bool is_known = false;  // the module has a name
    bool is_unloaded = false;
    bool is_in_package = false;
    // Its function has no name,
    bool hands_on = false;    // and only returns what the call returned
    bool is_library = false;  // and the user declared it to be library code
};

inline frame_owner owner_of(const text& module, bool is_unloaded, bool is_program) noexcept {
    return {kind_of_module(module), !module.empty(), is_unloaded,
            !is_program && is_installed(module)};
}

// Finds the program's own folder when a rule first needs it.
struct own_folder_source {
    text (*folder)(void* context) = nullptr;  // null: it is not known
    void* context = nullptr;

    ALLOCSCOPE_INLINE text get() const { return folder != nullptr ? folder(context) : text{}; }
};

// A stack, and what is known about its frames.
struct asked_stack {
    arena& scratch;
    const list<code_frame>& frames;
    const list<frame_owner>& owners;
    const frame_rule& rule;
    known_frames& known;
    source_cache& sources;
    std::size_t asking_frame;  // see types/type_ladder.hpp

    frame_traits traits(std::size_t at) const { return known.traits_of(scratch, frames[at], rule); }

    // False also for functions that only pass a request on: a class's own operator new, and the
    // function through which the standard library asks an allocator.
    bool is_users_by_name(std::size_t at) const {
        const frame_traits here = traits(at);
        if (here.is_library || here.is_own_operator_new) return false;
        return !here.is_allocate || at + 1 == frames.size() || !traits(at + 1).is_library;
    }

    bool has_line(std::size_t at) const noexcept {
        const code_frame& frame = frames[at];
        return frame.is_line_withheld || (frame.line > 0 && !frame.file.empty());
    }

    bool is_in_library(std::size_t at, const own_folder_source& own) const {
        const text file = frames[at].file;
        const bool is_in_package = owners[at].is_in_package;
        if (!is_in_package && !known.is_library_file(scratch, file)) return false;
        if (rule.is_declared_own(scratch, frames[at])) return false;
        const text folder = own.get();
        const bool is_own = !folder.empty() && file.starts_with(folder);
        return (is_in_package && !is_own) || is_library_file(scratch, file, folder);
    }
};

namespace module_rule_detail {

// Rule 1. Returns frames.size() if no frame fits.
inline std::size_t user_line(const asked_stack& stack, const own_folder_source& own) {
    std::size_t made = stack.frames.size();  // by the compiler; its line is that of a class
    for (std::size_t i = 0; i < stack.frames.size(); ++i) {
        const frame_owner& owner = stack.owners[i];
        if (owner.kind != module_kind::user) continue;
        if (owner.is_unloaded) return i;
        if (!stack.has_line(i) || !stack.is_users_by_name(i)) continue;
        if (stack.is_in_library(i, own)) continue;
        const code_frame& frame = stack.frames[i];
        const bool is_asking = i == stack.asking_frame;
        if (is_asking && !frame.is_implicit && !frame.may_be_implicit) return i;  // as most do
        if (!is_implicit_function(frame, stack.sources)) return i;
        if (is_asking && may_ask_in_initialiser(stack.scratch, frame, stack.sources)) return i;
        if (find_initialiser(stack.scratch, stack.frames, i, stack.sources).at != 0) return i;
        if (made > i || made + 1 == i) made = i;  // the outermost of those that call each other
    }
    return made;
}

// Whether the function of a frame has no name and only returns what malloc returned: then so do all
// functions further in.
inline bool is_nameless_wrapper(const asked_stack& stack, std::size_t at) {
    if (!stack.owners[at].hands_on) return false;
    for (std::size_t i = 0; i < at; ++i) {
        const text name = stack.frames[i].function;
        const bool is_known = is_runtime_function(name) || is_allocation_wrapper(name);
        if (!stack.owners[i].hands_on && !is_known) return false;
    }
    return true;
}

// Rules 2 and 3, or rule 4, depending on `kind`. Returns frames.size() if no frame fits.
inline std::size_t user_frame_in(module_kind kind, const asked_stack& stack) {
    const list<code_frame>& frames = stack.frames;
    std::size_t nameless = frames.size();
    std::size_t wrapper = frames.size();
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const frame_owner& owner = stack.owners[i];
        if (owner.kind != kind) continue;
        const code_frame& frame = frames[i];
        if (owner.is_unloaded || stack.is_users_by_name(i)) {
            return nameless != frames.size() && frame.function == "main" ? nameless : i;
        }
        if (owner.is_library || !frame.function.empty() || !frame.file.empty()) continue;
        std::size_t& first = is_nameless_wrapper(stack, i) ? wrapper : nameless;
        if (first == frames.size()) first = i;
    }
    return nameless != frames.size() ? nameless : wrapper;
}

}  // namespace module_rule_detail

// Rules 2 to 5: the index of the innermost frame that is not the standard library's, but may be
// another library's. Returns frames.size() if there is none.
inline std::size_t maker_frame(const asked_stack& stack) {
    const std::size_t count = stack.frames.size();
    const module_kind in_order[] = {module_kind::user, module_kind::runtime};
    for (const module_kind kind : in_order) {
        const std::size_t found = module_rule_detail::user_frame_in(kind, stack);
        if (found < count) return found;
    }
    const std::size_t named = user_frame(stack.scratch, stack.frames, stack.rule);
    // At least the module is known.
    return named == count && count != 0 && stack.owners[0].is_known ? 0 : named;
}

// All rules. `maker` is the result of maker_frame().
ALLOCSCOPE_INLINE std::size_t user_frame_by_module(const asked_stack& stack,
                                                   const own_folder_source& own,
                                                   std::size_t maker) {
    const std::size_t line = module_rule_detail::user_line(stack, own);
    return line < stack.frames.size() ? line : maker;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLACES_MODULE_RULE_HPP
