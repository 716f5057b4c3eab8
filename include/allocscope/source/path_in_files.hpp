// path_in_files.hpp - the namespaces and classes in which a header of the project defines a class.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by type_from_source.hpp, for classes that the debug information does not describe
// Threads:  any, but the arena belongs to one
// Memory:   of the given arena
//
//     page.hpp     namespace app { struct page {}; }
//     store.cpp    void* app::store::add() { return new page; }      page: app::page

#ifndef ALLOCSCOPE_SOURCE_PATH_IN_FILES_HPP
#define ALLOCSCOPE_SOURCE_PATH_IN_FILES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/included_files.hpp>
#include <allocscope/source/local_names.hpp>
#include <allocscope/source/name_scopes.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/type_knowledge.hpp>
#include <allocscope/spelling/function_name.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether a class has a base that the files do not define, which may have types of its own.
inline bool has_other_base(arena& memory, const source_files& files, text name, int left = 8) {
    const found_token open = class_in_files(files, name);
    if (open.at == 0) return left < 8;  // the function is in a namespace
    for (const std::size_t base : searched_bases(memory, *open.file, open.at)) {
        const text own = open.file->text_at(base);
        if (left == 0 || has_other_base(memory, files, own, left - 1)) return true;
    }
    return false;
}

// The path of that of several classes `own` of the files which the innermost scope around the
// function has; `own` if it is not certain.
inline text path_around(arena& memory, const source_files& files, text own,
                        const function_name& function, const type_knowledge& knowledge) {
    const text around = plain_name(memory, function);
    text found = own;
    for (const source_outline* each : files) {
        const name_declaration* other = each->last_declared(own);
        for (; other != nullptr; other = each->declared_before(*other)) {
            if (!each->is_any_at(other->at - 1, "struct class")) return own;
            text scope;
            const text path =
                name_scopes{memory, *each, other->at, function, knowledge}.path_of_declared(
                    *other, own, scope);
            if (path.size() > found.size() && around.starts_with(scope)) found = path;
        }
    }
    return found;
}

// The path of the only class `own` that the files define, if nothing else there has that name, or
// of the one that is around the function; otherwise `own`.
inline text path_in_files(arena& memory, const source_files& files, text own,
                          const function_name& function, const type_knowledge& knowledge) {
    const found_token open = class_in_files(files, own);
    const std::size_t count = function.components.size();
    if (count > 1 && has_other_base(memory, files, function.components[count - 2].name)) return own;
    if (open.at == 0) return path_around(memory, files, own, function, knowledge);
    for (const source_outline* each : files) {
        const name_declaration* other = each->last_declared(own);
        for (; other != nullptr; other = each->declared_before(*other)) {
            // `typedef struct { ... } own;` has the body in it.
            const local_name found = declared_at(*each, other->at, each->tokens().size(), own);
            const bool is_around = each == open.file && found.what == local_name::kind::other &&
                                   other->at < open.at && open.at < found.behind;
            if (!is_around && !each->is_any_at(other->at - 1, "struct class ::")) return own;
        }
    }
    return name_scopes{memory, *open.file, open.at, function, knowledge}.path_of_body(open.at);
}

// Where a type has a name without scopes; no_position: nowhere.
inline std::size_t find_bare(text type, text own) {
    std::size_t at = type.find(own);
    for (; at != no_position; at = type.find(own, at + 1)) {
        const std::size_t behind = at + own.size();
        const char before = at == 0 ? ' ' : type[at - 1];
        const char after = behind == type.size() ? ' ' : type[behind];
        const bool is_whole = !is_name_character(before) && !is_name_character(after);
        if (is_whole && before != ':' && after != ':') return at;
    }
    return at;
}

// The type, in which the names of the tokens from `begin` to `end` of the file have the paths of
// classes that only those files show. Names that have scopes or are described stay.
inline text with_paths(arena& memory, const source_files& files, text type,
                       const source_outline& file, std::size_t begin, std::size_t end,
                       const function_name& function, const type_knowledge& knowledge) {
    const name_scopes place{memory, file, begin, function, knowledge};
    for (std::size_t at = begin; at < end; ++at) {
        const text own = file.text_at(at);
        if (!file.is_word_at(at) || knowledge.kind_of(own) >= name_kind::type) continue;
        if (file.is_at(at + 1, "::")) continue;
        text written = own;
        std::size_t first = at;
        for (; first > begin + 1 && file.is_at(first - 1, "::"); first -= 2) {
            written = joined(memory, file.text_at(first - 2), "::", written);
        }
        const std::size_t found = find_bare(type, written);
        if (found == no_position) continue;
        const text path = path_in_files(memory, files, own, function, knowledge);
        if (path.size() <= written.size() || !path.ends_with(written)) continue;
        const text scope = path.substr(0, path.size() - written.size());
        if (!scope.ends_with("::") || !place.is_inside(scope)) continue;
        type = joined(memory, type.substr(0, found), path, type.substr(found + written.size()));
    }
    return type;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_PATH_IN_FILES_HPP
