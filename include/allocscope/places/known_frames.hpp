// known_frames.hpp - what the names of functions and files say about a frame, found only once.
//
// Room:     places (floor 9), not malloc-safe
// Called:   by module_rule.hpp, several times for each frame of each stack; naming/stack_namer.hpp
//           keeps it
// Threads:  one
// Memory:   a table over the functions and one over the files, in the given arena
//
// A hundred thousand places are in a few thousand functions. Texts are compared by their addresses:
// equal texts must be one copy, as in kept_texts, and must live as long as this object.

#ifndef ALLOCSCOPE_PLACES_KNOWN_FRAMES_HPP
#define ALLOCSCOPE_PLACES_KNOWN_FRAMES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/places/frame_rule.hpp>
#include <allocscope/places/library_files.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct frame_traits {
    bool is_library = false;           // frame_rule
    bool is_own_operator_new = false;  // of a class
    bool is_allocate = false;          // allocate or do_allocate, as of an allocator
};

class known_frames {
public:
    ALLOCSCOPE_INLINE explicit known_frames(arena& memory) noexcept
        : functions_(memory), files_(memory) {}

    frame_traits traits_of(arena& scratch, const code_frame& frame, const frame_rule& rule) {
        entry& known = functions_[frame.function.data()];
        if (known.version != rule.version() + 1 || known.file != frame.file.data()) {
            known.version = rule.version() + 1;
            known.file = frame.file.data();
            known.traits = read_traits(scratch, frame, rule);
        }
        return known.traits;
    }

    // Whether the file is in a place for other people's code, wherever the program's own folder is.
    bool is_library_file(arena& scratch, const text& file) {
        const auto known = files_.insert(file.data());
        if (known.is_new) known.value = symbolize::is_library_file(scratch, file, {});
        return known.value;
    }

private:
    struct entry {
        const char* file = nullptr;
        std::size_t version = 0;  // of the rule, + 1
        frame_traits traits;
    };

    static frame_traits read_traits(arena& scratch, const code_frame& frame,
                                    const frame_rule& rule) {
        frame_traits traits;
        traits.is_library = rule.is_library(scratch, frame);
        const borrowed_memory meanwhile{scratch};
        const function_name name = parse_function_name(scratch, frame.function);
        if (!name.is_known()) return traits;
        traits.is_own_operator_new = is_own_operator_new(name);
        traits.is_allocate = is_listed(name.last().name, "allocate do_allocate");
        return traits;
    }

    table<const void*, entry> functions_;
    table<const void*, bool> files_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLACES_KNOWN_FRAMES_HPP
