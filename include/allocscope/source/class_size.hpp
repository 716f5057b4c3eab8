// class_size.hpp - compares the size of a block with that of an object of a type.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by type_ladder.hpp, with what naming/ knows of a live object
// Threads:  any
// Memory:   of the given arena
//
// A vtable at the start of a block may be that of the first object in an arena, or that of a
// class's first member. The debug information says how large the class of the vtable is:
//
//     compare_size(memory, "app::widget", known, {24, false})      // size_fit::same
//     compare_size(memory, "app::widget", known, {4096, false})    // size_fit::other

#ifndef ALLOCSCOPE_SOURCE_CLASS_SIZE_HPP
#define ALLOCSCOPE_SOURCE_CLASS_SIZE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/pretty_type.hpp>
#include <allocscope/symbols/type_names.hpp>

#include <cstdint>  // uint64_t, uint8_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

enum class size_fit {
    unknown,  // no description of the class, or several with this name
    same,
    other
};

struct arithmetic_type {
    const char* name;
    std::uint8_t bytes;
};

constexpr arithmetic_type arithmetic_types[] = {
    {"bool", 1},         {"char", 1},           {"signed char", 1}, {"unsigned char", 1},
    {"short", 2},        {"unsigned short", 2}, {"int", 4},         {"unsigned", 4},
    {"unsigned int", 4}, {"wchar_t", 4},        {"char32_t", 4},    {"float", 4},
    {"long", 8},         {"unsigned long", 8},  {"long long", 8},   {"unsigned long long", 8},
    {"double", 8},       {"long double", 16},   {"std::byte", 1},   {"_Bool", 1}};

// The size of a pointer or of an arithmetic type, as pretty_type, C or a program spells it; 0: it
// is neither.
inline std::uint64_t bytes_of_plain_type(text type) noexcept {
    if (type.ends_with("*")) return sizeof(void*);
    if (const text integer = integer_of_alias(type); !integer.empty()) type = integer;
    for (const arithmetic_type& each : arithmetic_types) {
        if (type == each.name) return each.bytes;
    }
    return 0;
}

// Whether a word is that of an arithmetic type, perhaps one that the C library declares.
ALLOCSCOPE_PURE inline bool is_number_type(const text& word) noexcept {
    return is_builtin_word(word) || !integer_of_alias(word).empty();
}

// `type` is spelled as by a demangler or in a source file. A class inside a function is looked up
// by its own name, because the debug information does not have the parameters of that function.
inline size_fit compare_size(arena& memory, const text& type, const type_names& known,
                             std::uint64_t block_bytes) {
    const std::uint64_t plain = bytes_of_plain_type(type);
    if (plain != 0) return plain == block_bytes ? size_fit::same : size_fit::other;
    // No class has this name in the debug information.
    const bool is_string = type == "std::string";
    const function_name name =
        parse_function_name(memory, is_string ? text{"std::basic_string<char>"} : type);
    if (!name.is_known()) return size_fit::unknown;
    const name_component& own = name.last();
    const text path{name.whole.data(),
                    static_cast<std::size_t>(own.name.end() - name.whole.data())};
    // Of classes of the standard library nobody writes the arguments that are the defaults.
    const bool is_standard = path.starts_with("std::");
    const text wanted =
        pretty_type(memory, is_standard ? type : joined(memory, own.name, own.arguments));
    bool is_scoped = false;  // a class with that name is in that scope
    for (const named_type* each = known.all(own.name); each != nullptr; each = each->next) {
        is_scoped = is_scoped || (each->qualified == path && each->bytes != 0);
    }
    size_fit fit = size_fit::unknown;
    for (const named_type* each = known.all(own.name); each != nullptr; each = each->next) {
        const bool is_outer = each->qualified.size() < path.size() && !each->qualified.empty() &&
                              path.ends_with(each->qualified);  // not that of the function
        if (is_outer || (is_scoped && each->qualified != path)) continue;
        const bool is_alias = each->bytes == 0;  // or only declared: its size is unknown
        if (is_alias && own.arguments.empty()) return size_fit::unknown;
        const text whole =
            is_standard ? joined(memory, each->qualified, each->whole.substr(own.name.size()))
                        : each->whole;
        if (is_alias || pretty_type(memory, whole) != wanted) continue;
        if (each->bytes == block_bytes) return size_fit::same;
        // A class of another function says nothing about an alias of the file.
        if (!each->qualified.empty() || path.size() > own.name.size()) fit = size_fit::other;
    }
    return fit;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_CLASS_SIZE_HPP
