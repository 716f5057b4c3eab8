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
// container: so each member must have a type of the standard library, or one whose definition
// stands in the file or the headers that it includes from its own folder.

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

class copied_container {
public:
    copied_container(const source_outline& file, const seen_files& seen, text classes)
        : file_(file), seen_(seen), classes_(classes) {}

    // The member of the class whose name stands at `at`; unknown: it has none, or several, or that
    // is not certain.
    declared_variable find(std::size_t at) {
        const std::size_t open = class_body(file_, at);
        if (open == 0) return {};
        std::size_t first = open + 1;  // of the declaration
        bool is_function = false;
        int depth = 0;  // of angle brackets
        for (std::size_t i = first; i < file_.partner(open); ++i) {
            const text token = file_.text_at(i);
            if (token == "<") ++depth;
            if (token == ">") --depth;
            if (token == "(" && depth == 0) is_function = true;
            const bool is_body = token == "{" && is_function;
            if (file_.partner(i) > i) i = file_.partner(i);
            const bool is_access =
                token == ":" && file_.is_any_at(i - 1, "public protected private");
            if (token == ";" && !is_function && !read_member(first, i)) return {};
            if (!is_body && !is_access && token != ";") continue;
            first = i + 1;
            is_function = false;
            depth = 0;
        }
        return only_;
    }

private:
    // Returns false if the declaration may be that of another such container.
    bool read_member(std::size_t first, std::size_t end) {
        constexpr const char* others = "using typedef static friend enum";
        if (first == end || file_.is_any_at(first, others)) return true;
        while (file_.is_any_at(first, "const mutable volatile")) ++first;
        if (file_.is_any_at(first, "struct class")) return file_.is_word_at(first + 1);
        if (builtin_type{}.take(file_.text_at(first))) return true;
        std::size_t behind = first;  // the name
        for (int depth = 0; behind < end; ++behind) {
            if (file_.is_at(behind, "<")) ++depth;
            if (file_.is_at(behind, ">")) --depth;
            if (depth == 0 && file_.is_any_at(behind, "= { [ : ,")) break;
        }
        if (file_.is_any_at(behind - 2, "* &")) return !file_.is_at(behind, ",");
        const declared_variable member = declared_there(file_, behind - 1);
        if (!member.is_known() || file_.is_at(behind, ",")) return false;
        const bool is_scoped = file_.is_at(first, "std") && file_.is_at(first + 1, "::");
        const text own = file_.text_at(is_scoped ? first + 2 : first);
        if (!is_scoped && !file_.is_standard_name(own)) return seen_.defines_type(own);
        if (!is_listed(own, classes_)) return own != "pmr";
        if (only_.is_known()) return false;
        only_ = member;
        return true;
    }

    const source_outline& file_;
    const seen_files& seen_;
    const text classes_;
    declared_variable only_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_COPIED_CONTAINER_HPP
