// named_stack.hpp - a stack with everything that a row says about it.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   made by naming/name_book.hpp; read by everything that makes rows, stacks and verdicts
// Threads:  written under the naming lock; of what rows show, only the type may change later
// Memory:   88 bytes, and 56 bytes for each frame
//
// A program may have a hundred thousand of them for as long as it runs. So nothing is stored twice:
// the return addresses of the stack are those of its frames that are not inlined, plus one.

#ifndef ALLOCSCOPE_NAMING_NAMED_STACK_HPP
#define ALLOCSCOPE_NAMING_NAMED_STACK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/types/type_answer.hpp>

#include <cstdint>  // uint16_t, uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The book owns the texts. Equal texts of path, place and type are one copy.
struct named_stack {
    const snapshot::frame* frames = nullptr;         // innermost first
    const list<const met_module*>* homes = nullptr;  // of its frames; null: none may be unloaded
    std::uint64_t modules = 0;                       // stack_modules::key
    const char* path = "";                           // of the user's frame; "": it has no line
    const char* place = "";  // if there is no line: the function, else the module
    const char* type = no_type;
    // The name and the candidate of a type_answer; stack_namer writes and reads it. The name is
    // that of the debug information, with unnamed namespaces.
    const char* kept_answer = no_type;
    std::uint64_t number = 0;  // with a path the line, otherwise how far into `place`
    std::uint32_t hash = 0;
    std::uint32_t rule_version = 0;
    std::uint32_t tag = 0;
    std::uint16_t frame_count = 0;   // at most 128 calls with 256 inlined ones in each
    std::uint16_t user_frame = 0;    // frame_count: none
    std::uint16_t maker_frame = 0;   // the innermost function that is not the standard library's
    std::uint16_t asking_frame = 0;  // the frame that asked for the memory; frame_count: none
    symbolize::type_evidence evidence = symbolize::type_evidence::none;
    bool is_array = false;    // type_answer
    bool is_lasting = false;  // false: valid until refresh_modules() is true
    // What objects have told about the type: a live one might still tell more than their size.
    enum class told : unsigned char { nothing, size, all } told_by_objects = told::nothing;

    static constexpr const char* no_type = "?";

    bool is_settled() const noexcept { return told_by_objects == told::all; }
    // Whether the size of the objects may prove a type, or refute it.
    bool depends_on_size() const noexcept {
        const bool is_known = evidence != symbolize::type_evidence::none;
        return told_by_objects == told::nothing && (is_known ? !is_array : kept_answer != no_type);
    }
    ALLOCSCOPE_INLINE int line() const noexcept {
        return path[0] != '\0' ? static_cast<int>(number) : 0;
    }
    ALLOCSCOPE_INLINE std::uint64_t offset() const noexcept { return path[0] != '\0' ? 0 : number; }

    ALLOCSCOPE_INLINE const char* function() const noexcept {
        return user_frame < frame_count ? frames[user_frame].function : "";
    }

    // How many frames a snapshot shows that has `calls` frames of each stack: so many with what is
    // inlined in them, and then on to the user's.
    std::uint16_t shown_frames(std::uint32_t calls) const noexcept {
        const std::uint32_t least = user_frame < frame_count ? user_frame + 1U : 0U;
        std::uint16_t shown = 0;
        bool is_inside = false;  // a call with others inlined in it
        while (shown < frame_count && (is_inside || calls != 0 || shown < least)) {
            is_inside = frames[shown++].is_inlined;
            if (!is_inside && calls != 0) --calls;
        }
        return shown;
    }

    // The address of the frame that asked for the memory; 0: none.
    std::uintptr_t asking_address() const noexcept {
        return asking_frame < frame_count ? frames[asking_frame].address : 0;
    }
};

static_assert(sizeof(named_stack) == 88, "a hundred thousand of them are kept");

// Sets what rows and stacks have in common. `recorded` frames were recorded, `asked` are asked for.
template <class Shown>
void show_stack(Shown& made, const named_stack& stack, const char* file, std::uint32_t recorded,
                std::uint32_t asked) noexcept {
    made.frames = stack.frames;
    made.frame_count = recorded > asked ? stack.shown_frames(asked) : stack.frame_count;
    made.user_frame = stack.user_frame < made.frame_count ? stack.user_frame : made.frame_count;
    made.file = file;
    made.line = stack.line();
    made.type = stack.type;
    made.function = stack.function();
    made.offset = stack.offset();
    made.type_source = symbolize::word_of(stack.evidence);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_NAMING_NAMED_STACK_HPP
