// local_names.hpp - finds the declaration of a name in the function and the classes around a place.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by type_from_source.hpp, for the names after `new` in a template; by
//           declared_variable.hpp and new_in_macro.hpp
// Threads:  any
// Memory:   none
//
// Compilers describe few of the aliases in functions and classes, but the source has them all:
//
//     template <class T> struct pool {
//         using value = std::vector<T>;
//         static void* make() { return new value; }
//     };
//
//     find_local_name(file, at_new, "value")      // an alias; its tokens: std :: vector < T >
//
// Declarations in namespaces are not searched, nor are those of a function after the place. Those
// of a class are: its functions may use what it declares behind them.

#ifndef ALLOCSCOPE_SOURCE_LOCAL_NAMES_HPP
#define ALLOCSCOPE_SOURCE_LOCAL_NAMES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct local_name {
    enum class kind { none, alias, other };
    kind what = kind::none;
    bool is_of_function = false;  // declared in a function; otherwise in a class
    std::size_t at = 0;           // the token that declares it
    std::size_t block = 0;        // the brace around it
    // What an alias stands for; nothing: it cannot be read. In `typedef void (*run)(int)` more
    // of it is behind the name, which is at `end`.
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t behind = 0;

    ALLOCSCOPE_PURE bool has_more() const noexcept { return behind > end + 1; }
};

// What the token at `at` declares, if it is `name`.
inline local_name declared_at(const source_outline& file, std::size_t at, std::size_t before,
                              const text& name) {
    local_name found;
    const bool is_typedef = file.is_at(at, "typedef");
    const bool is_used = file.is_at(at, "using");
    if (!is_typedef && !is_used && !file.is_at(at, name)) return found;
    std::size_t end = at;
    std::size_t body = 0;  // its last token
    bool is_only = true;   // not one of several names
    while (end < before && !file.is_any_at(end, is_used ? "; ," : ";")) {
        const std::size_t behind = file.is_at(end, "<") ? file.behind_angles(end) : 0;
        if (is_typedef) {
            if (file.is_any_at(end, "{ (") && file.partner(end) > end) end = file.partner(end);
            if (file.is_at(end, "}")) body = end;
            if (file.is_at(end, ",")) is_only = false;
        }
        if (behind > end) end = behind - 1;
        ++end;
    }
    if (end >= before) return found;
    std::size_t own = end;  // the name in a typedef
    while (is_typedef && !file.is_at(own, name)) {
        if (--own == at) return found;
    }
    const text previous = file.text_at(at - 1);
    found.what = local_name::kind::alias;
    found.at = at;
    found.behind = end;
    if (is_typedef) {
        const bool is_class = body + 1 == own && file.is_any_at(own + 1, "; ,");
        if (is_class) found.what = local_name::kind::other;
        if (body == 0 && is_only) {
            found.begin = at + 1;
            found.end = own;
        }
    } else if (is_used) {
        found.begin = at + 1;
        found.end = end;
    } else if (previous == "using" && file.is_at(at + 1, "=")) {
        found.begin = at + 2;
        found.end = end;
    } else {
        found.what = is_listed(previous, "struct class union enum") ? local_name::kind::other
                                                                    : local_name::kind::none;
    }
    return found;
}

// Searches the blocks around the token at `before`; what the innermost of them declares is meant.
inline local_name find_local_name(const source_outline& file, std::size_t before,
                                  const text& name) {
    local_name innermost;
    for (const name_declaration* each = file.last_declared(name); each != nullptr;
         each = each->previous) {
        if (each->block <= innermost.block || each->block > before) continue;
        const std::size_t close = file.partner(each->block);
        if (close < before) continue;
        const block_kind kind = kind_of_block(file, each->block);
        const bool is_later = each->at > before;
        if (kind == block_kind::of_namespace) continue;
        if (is_later && kind == block_kind::of_function) continue;
        local_name found = declared_at(file, each->at, is_later ? close : before, name);
        found.is_of_function = kind == block_kind::of_function;
        found.block = each->block;
        if (found.what != local_name::kind::none) innermost = found;
    }
    return innermost;
}

// What `name` stands for if it is an alias in a namespace around the place, and nothing else.
inline local_name alias_in_namespace(const source_outline& file, std::size_t at, const text& name) {
    const name_declaration* only = file.last_declared(name);
    const bool is_only = only != nullptr && only->at < at && only->previous == nullptr;
    if (!is_only || (only->block != 0 && file.partner(only->block) < at)) return {};
    return declared_at(file, only->at, at, name);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_LOCAL_NAMES_HPP
