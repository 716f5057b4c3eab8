// type_knowledge.hpp - what the source readers may ask the debug information about names.
//
// Room:     types (floor 8), not malloc-safe
// Called:   filled by naming/, asked by type_from_source.hpp and its neighbours
// Threads:  plain data
// Memory:   none
//
//     knowledge.meaning(knowledge.context, "v", asked_name::variable, memory);    // "app::widget"

#ifndef ALLOCSCOPE_TYPES_TYPE_KNOWLEDGE_HPP
#define ALLOCSCOPE_TYPES_TYPE_KNOWLEDGE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/entry_types.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

enum class name_kind {
    unknown,
    undescribed,    // the debug information describes no types, and the name is no usual macro's
    type,           // or a namespace
    class_template  // without arguments it is not the name of a type
};

// What the debug information around the frame says about types.
struct type_knowledge {
    name_kind (*kind)(void* context, text name) = nullptr;  // null: every name is believed
    void* context = nullptr;
    // What the name means in `function`, which is given by its qualified name: the name with its
    // scopes; "" if that is not certain.
    text (*qualified)(void* context, text name, text function) = nullptr;
    // The only type with that name, with its scopes; "" if that is not certain.
    text (*only)(void* context, text name) = nullptr;
    // The size of the types with that name in bytes; 0: one of them is an alias, or of another or
    // unknown size. Null: no size is known.
    std::uint64_t (*bytes)(void* context, text name) = nullptr;
    // Whether only classes and enumerations have that path, which is without template arguments.
    // Null: that is not known.
    bool (*are_classes)(void* context, text path) = nullptr;
    // What a name stands for in the frame's function: a template parameter, an alias, or a member
    // of one of these ("T::value"); for a variable, its type. "" if that is not certain. Null:
    // there is no such information.
    text (*meaning)(void* context, text name, asked_name wanted, arena& memory) = nullptr;
    // What a constructor or function named `own` makes that the frame's function calls at the first
    // of these places where that is certain; "" if it is at none. If `own` is "", any constructor.
    // The file is that of the frame.
    text (*made)(void* context, text own, const source_places& places, arena& memory) = nullptr;
    // Whether the frame's function has, for a place in the source, code that calls the same as the
    // frame. Null: that is not known.
    bool (*has_call_at)(void* context, text file, int line, int column) = nullptr;
    // The source is C: where an alias is visible, only the function can have a variable with its
    // name.
    bool is_c = false;

    // What is known where the code is that of another frame or function.
    type_knowledge elsewhere() const noexcept {
        type_knowledge less = *this;
        less.meaning = nullptr;
        less.made = nullptr;
        return less;
    }
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TYPES_TYPE_KNOWLEDGE_HPP
