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
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/spelling/pretty_type.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether a class has a base that the files do not define, which may have types of its own.
inline bool has_other_base(arena& memory, const source_files& files, const text& name,
                           int left = 8) {
    const found_token open = class_in_files(files, name);
    if (open.at == 0) return left < 8;  // the function is in a namespace
    for (const std::size_t base : searched_bases(memory, *open.file, open.at)) {
        const text own = open.file->text_at(base);
        if (left == 0 || has_other_base(memory, files, own, left - 1)) return true;
    }
    return false;
}

// The path of the class or alias that the name means at the place: of those which the files declare
// in a scope that the place sees, that in the innermost one. `written` is the name, perhaps with
// scopes: `own` or `inner::own`. "" if it is not certain.
inline text path_in_files(arena& memory, const source_files& files, const text& own,
                          const text& written, const function_name& function,
                          const type_knowledge& knowledge, const name_scopes& place) {
    const std::size_t count = function.components.size();
    if (count > 1 && has_other_base(memory, files, function.outer().name)) return no_text();
    text found;
    text found_in;
    bool is_certain = true;
    for (const source_outline* each : files) {
        const name_scopes scopes{memory, *each, 0, function, knowledge};
        const name_declaration* other = each->last_declared(own);
        for (; other != nullptr; other = other->previous) {
            if (each->is_at(other->at - 2, "friend")) continue;
            text scope;
            text path = scopes.path_of_declared(*other, own, scope);
            const bool is_inner_class = kind_of_block(*each, other->block) == block_kind::of_class;
            if (path.empty() && is_inner_class) {  // of a template
                path = scopes.inner_class(other->block, own);
                scope = path.substr(0, path.size() - own.size());
            }
            // With -g1 the function may be a member of that class, defined outside of it.
            const bool may_be_own = count < 2 && is_inner_class;
            if (written.size() != own.size()) {
                if (!path.ends_with(joined(memory, "::", written))) continue;
                scope = path.substr(0, path.size() - written.size());
            }
            const bool is_seen = place.is_inside(scope);
            if (may_be_own && !is_seen) return no_text();
            if (!is_seen || path.empty() || path == found) continue;
            const bool is_inner = scope.starts_with(found_in);
            if (!is_inner && found_in.starts_with(scope)) continue;
            is_certain = is_inner && (found_in.empty() || scope != found_in);
            found = each->is_at(other->at, "using") ? text{} : path;
            found_in = scope;
        }
    }
    return is_certain ? found : text{};
}

// The type, whose first name has the path of the class or alias that only those files show. A name
// that has scopes or is described stays.
inline text with_path(arena& memory, const source_files& files, const text& type,
                      const function_name& function, const type_knowledge& knowledge,
                      const name_scopes& place) {
    const text own = type.substr(0, skip_word(type, 0));
    const text rest = type.substr(own.size());
    if (own.empty() || rest.starts_with(":") || is_builtin_word(own)) return type;
    if (knowledge.kind_of(own) >= name_kind::type) return type;
    const text path = path_in_files(memory, files, own, own, function, knowledge, place);
    return path.empty() ? type : joined(memory, path, rest);
}

// Whether an argument of the type is an alias that only a header has, as in `std::set<text>`: then
// compilers write what it stands for. In a template, so they do for the type itself.
inline bool has_alias_of_header(const source_files& files, const text& type, bool is_in_template,
                                const type_knowledge& knowledge) {
    for (std::size_t at = is_in_template ? 0 : type.find('<'); at < type.size(); ++at) {
        const std::size_t begin = at;
        while (at < type.size() && is_name_character(type[at])) ++at;
        const text word = type.substr(begin, at - begin);
        if (type.has_at(at, ":")) continue;  // a namespace, or a class
        if (type.substr(0, begin).ends_with("std::")) continue;
        if (word.empty() || knowledge.kind_of(word) >= name_kind::type) continue;
        for (std::size_t i = 1; i < files.size(); ++i) {  // behind the file itself
            const source_outline& header = *files[i];
            const name_declaration* const last = header.last_declared(word);
            if (last == nullptr) continue;
            const bool is_typedef = header.is_at(last->at, "typedef") &&
                                    !header.is_any_at(last->at + 1, "struct union enum");
            if (is_typedef || header.is_at(last->at + 1, "=")) return true;
        }
    }
    return false;
}

// Where a type has a name without scopes; no_position: nowhere.
inline std::size_t find_bare(text type, const text& own) {
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
        // The type has what an alias stands for.
        local_name alias = find_local_name(file, at, own);
        if (alias.what == local_name::kind::none) alias = alias_in_namespace(file, at, own);
        if (alias.what == local_name::kind::alias && alias.begin < at) {
            type =
                with_paths(memory, files, type, file, alias.begin, alias.end, function, knowledge);
        }
        text written = own;
        std::size_t first = at;
        for (; first > begin + 1 && file.is_at(first - 1, "::"); first -= 2) {
            written = scoped_name(memory, file.text_at(first - 2), written);
        }
        const std::size_t found = find_bare(type, written);
        if (found == no_position) continue;
        const text path = path_in_files(memory, files, own, written, function, knowledge, place);
        if (path.empty()) continue;
        type = replaced(memory, type, found, found + written.size(), path);
    }
    return type;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_PATH_IN_FILES_HPP
