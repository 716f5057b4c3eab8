// class_size.hpp - compares the size of a block with that of an object of a class.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_ladder.hpp, with what naming/ knows of a live object
// Threads:  any
// Memory:   of the given arena
//
// An arena begins with the vtable of its first object, and a class may begin with the vtable of its
// first member. The debug information says how large the class of the vtable is:
//
//     compare_size(memory, "app::widget", known, {24, false})      // size_fit::same
//     compare_size(memory, "app::widget", known, {4096, false})    // size_fit::other

#ifndef ALLOCSCOPE_TYPES_CLASS_SIZE_HPP
#define ALLOCSCOPE_TYPES_CLASS_SIZE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/type_names.hpp>
#include <allocscope/types/function_name.hpp>
#include <allocscope/types/pretty_type.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

enum class size_fit {
    unknown,  // no description of the class, or several with this name
    same,
    other
};

// `type` is spelled as by a demangler or in a source file. A class inside a function is looked up
// by its own name, because the debug information does not have the parameters of that function.
inline size_fit compare_size(arena& memory, text type, const type_names& known,
                             std::uint64_t block_bytes) {
    const function_name name = parse_function_name(memory, type);
    if (!name.is_known()) return size_fit::unknown;
    const name_component& own = name.last();
    const text wanted = pretty_type(memory, joined(memory, own.name, own.arguments));
    size_fit fit = size_fit::unknown;
    for (const named_type* each = known.all(own.name); each != nullptr; each = each->next) {
        const bool is_alias = each->bytes == 0;  // or only declared: it may be of any size
        if (is_alias && own.arguments.empty()) return size_fit::unknown;
        if (is_alias || pretty_type(memory, each->whole) != wanted) continue;
        if (each->bytes == block_bytes) return size_fit::same;
        fit = size_fit::other;
    }
    return fit;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_CLASS_SIZE_HPP
