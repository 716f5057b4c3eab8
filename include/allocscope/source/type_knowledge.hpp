// type_knowledge.hpp - what the source readers may ask the debug information about names.
//
// Room:     source (floor 8), not malloc-safe
// Called:   filled by naming/, asked by type_from_source.hpp and its neighbours
// Threads:  plain data
// Memory:   none
//
//     knowledge.meaning_of("v", asked_name::variable, memory);    // "app::widget"

#ifndef ALLOCSCOPE_SOURCE_TYPE_KNOWLEDGE_HPP
#define ALLOCSCOPE_SOURCE_TYPE_KNOWLEDGE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/entry_types.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class source_outline;

enum class name_kind {
    unknown,
    undescribed,     // the debug information describes no types, and the name is no usual macro's
    type,            // or a namespace
    class_template,  // without arguments it is not the name of a type
    believed         // nobody knows, and every name is believed
};

// Whether a source file is compiled as C, as compilers conclude from its name.
ALLOCSCOPE_INLINE bool is_c_source(const text& file) noexcept {
    return file.ends_with(".c");
}

// What the debug information around the frame says about types.
struct type_knowledge {
    name_kind (*kind)(void* context, const text& name) = nullptr;  // null: every name is believed
    void* context = nullptr;
    // What the name means in `function`, which is given by its qualified name: the name with its
    // scopes; "" if that is not certain.
    text (*qualified)(void* context, const text& name, const text& function) = nullptr;
    // The only type with that name, with its scopes; "" if that is not certain.
    text (*only)(void* context, const text& name, const text& function) = nullptr;
    // The size of the types with that name in bytes; 0: one of them is an alias, or of another or
    // unknown size. Null: no size is known.
    std::uint64_t (*bytes)(void* context, const text& name) = nullptr;
    // Whether only classes and enumerations have that path, which is without template arguments.
    // Null: that is not known.
    bool (*are_classes)(void* context, const text& path) = nullptr;
    // What a name stands for in the frame's function: a template parameter, an alias, or a member
    // of one of these ("T::value"); for a variable, its type. "" if that is not certain. Null:
    // there is no such information.
    text (*meaning)(void* context, const text& name, asked_name wanted, arena& memory) = nullptr;
    // What a constructor or function named `own` makes that the frame's function calls at the first
    // of these places where that is certain; "" if it is at none. If `own` is "", the classes of
    // all constructors at the first place that has any: "app::part, std::string". The file is that
    // of the frame.
    text (*made)(void* context, const text& own, const source_places& places,
                 arena& memory) = nullptr;
    // Whether the frame's function has, for a place in the source, code that calls the same as the
    // frame. Null: that is not known.
    bool (*has_call_at)(void* context, const text& file, int line, int column) = nullptr;
    // The source is C: where an alias is visible, only the function can have a variable with its
    // name.
    bool is_c = false;
    // The files that may define the names, too. Null: only that of the place.
    const list<const source_outline*>* files = nullptr;

    // What the functions above say, or the least that is certain without them.
    name_kind kind_of(const text& name) const;
    text qualified_in(const text& name, const text& function) const;
    text only_of(const text& name, const text& function = {}) const;
    std::uint64_t bytes_of(const text& name) const;
    bool are_known_classes(const text& path) const;
    text meaning_of(const text& name, asked_name wanted, arena& memory) const;
    text made_by(const text& own, const source_places& places, arena& memory) const;
    // The same at the place of the frame only.
    text made_at(const code_frame& frame, const text& own, arena& memory) const;
    bool may_call_at(const text& file, int line, int column) const;

    // What is known where the code is that of another frame or function.
    type_knowledge elsewhere() const noexcept {
        type_knowledge less = *this;
        less.forget_frame();
        return less;
    }
    void forget_frame() noexcept {
        meaning = nullptr;
        made = nullptr;
    }
};

inline name_kind type_knowledge::kind_of(const text& name) const {
    return kind != nullptr ? kind(context, name) : name_kind::believed;
}
inline text type_knowledge::qualified_in(const text& name, const text& function) const {
    return qualified != nullptr ? qualified(context, name, function) : text{};
}
inline text type_knowledge::only_of(const text& name, const text& function) const {
    return only != nullptr ? only(context, name, function) : text{};
}
inline std::uint64_t type_knowledge::bytes_of(const text& name) const {
    return bytes != nullptr ? bytes(context, name) : 0;
}
inline bool type_knowledge::are_known_classes(const text& path) const {
    return are_classes != nullptr && are_classes(context, path);
}
inline text type_knowledge::meaning_of(const text& name, asked_name wanted, arena& memory) const {
    return meaning != nullptr ? meaning(context, name, wanted, memory) : text{};
}
inline text type_knowledge::made_by(const text& own, const source_places& places,
                                    arena& memory) const {
    return made != nullptr ? made(context, own, places, memory) : text{};
}
inline text type_knowledge::made_at(const code_frame& frame, const text& own, arena& memory) const {
    const line_and_column place{static_cast<std::uint32_t>(frame.line),
                                static_cast<std::uint32_t>(frame.column)};
    return made_by(own, {&place, 1}, memory);
}
inline bool type_knowledge::may_call_at(const text& file, int line, int column) const {
    return has_call_at == nullptr || has_call_at(context, file, line, column);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_TYPE_KNOWLEDGE_HPP
