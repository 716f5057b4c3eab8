// copied_container.hpp - the only container of a kind that the implicit copy of a class copies.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by bare_requests.hpp, when a container is made at the place of a class
// Threads:  one cache belongs to one thread
// Memory:   of the given arena
//
//     struct row {                              clang -g1: row, then vector, at this place
//         std::string name;
//         std::vector<cell> cells;              // "std::vector<cell>"
//     };
//
// Members of other classes are copied by functions of these classes. But an alias may stand for a
// container: so each member must have a type of the standard library, or one that the file, or a
// header that it includes from its own folder, declares as a class.

#ifndef ALLOCSCOPE_TYPES_COPIED_CONTAINER_HPP
#define ALLOCSCOPE_TYPES_COPIED_CONTAINER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/types/declared_variable.hpp>
#include <allocscope/types/local_names.hpp>
#include <allocscope/types/new_expressions.hpp>
#include <allocscope/types/new_in_macro.hpp>
#include <allocscope/types/pretty_type.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The member of the class whose name stands at `at`; unknown: it has none, or several, or that is
// not certain.
inline declared_variable copied_container(const source_outline& file, std::size_t at, text classes,
                                          const seen_files& seen) {
    declared_variable only;
    const std::size_t open = class_body(file, at);
    for (std::size_t i = open + 1; open != 0 && i < file.partner(open); ++i) {
        if (file.is_any_at(i, "struct class union") && file.is_at(i + 1, "{")) return {};
        std::size_t end = i;  // of the type
        while (file.is_at(end - 1, "const")) --end;
        const bool is_member = file.is_word_at(i) && file.is_any_at(i + 1, "; = { [ , :") &&
                               (file.is_at(end - 1, ">") || file.is_word_at(end - 1)) &&
                               !file.is_any_at(i, "const noexcept override final") &&
                               !file.is_any_at(end - 1, "using enum struct class friend");
        if (file.partner(i) > i) i = file.partner(i);
        if (!is_member) continue;
        const std::size_t begin = begin_of_type(file, end);
        const bool is_scoped = file.is_at(begin, "std");
        const text own = file.text_at(is_scoped ? begin + 2 : begin);
        if (!is_scoped && !file.is_standard_name(own)) {
            if (!builtin_type{}.take(own) && !seen.declares_class(own)) return {};
        } else if (is_listed(own, classes) || own == "pmr") {
            if (only.is_known() || own == "pmr" || file.is_any_at(i + 1, "[ ,")) return {};
            only = {i, begin, end};
        }
    }
    return only;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_COPIED_CONTAINER_HPP
