// declared_variable.hpp - finds the declaration of a variable in the source text before a place.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by type_from_source.hpp, bare_requests.hpp and called_name.hpp
// Threads:  any
// Memory:   none
//
// With -g1 the debug information has no variables:
//
//     void load(std::vector<part>& parts) {
//         parts.push_back({});             // its tokens: std :: vector < part >
//     }
//
// If the name may be declared in a way that is not understood, there is no answer.

#ifndef ALLOCSCOPE_SOURCE_DECLARED_VARIABLE_HPP
#define ALLOCSCOPE_SOURCE_DECLARED_VARIABLE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/spelling/pretty_type.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct declared_variable {
    // Without these g++ writes all members at each place that makes one.
    ALLOCSCOPE_NOINLINE declared_variable() noexcept {}
    ALLOCSCOPE_NOINLINE declared_variable(std::size_t name, std::size_t first,
                                          std::size_t behind) noexcept
        : at(name), begin(first), end(behind) {}

    std::size_t at = 0;     // the token of its name
    std::size_t begin = 0;  // the first token of its type, without & and its own const
    std::size_t end = 0;    // the token after its type; 0: the type is not known

    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_known() const noexcept { return end != 0; }
};

// The first token of a type, with its scopes, if its last token is the one before `end`; 0: the
// tokens are not understood.
inline std::size_t begin_of_type(const source_outline& file, std::size_t end) noexcept {
    std::size_t at = file.back_over(end, "*");
    for (;;) {
        int depth = 0;
        do {
            if (at-- < 2) return 0;
            const text token = file.text_at(at);
            if (is_listed(token, "; { } = sizeof return throw delete")) return 0;
            if (token == ">") ++depth;
            if (token == "<") --depth;
            at = file.begin_of_brackets(at);
        } while (depth > 0);
        if (file.is_at(at, "<")) --at;
        if (!file.is_word_at(at)) return 0;
        while (at > 1 && is_builtin_word(file.text_at(at - 1))) --at;
        if (at < 3 || !file.is_at(at - 1, "::")) return at;
        --at;
    }
}

// The variable that the name at `at` declares, if it declares one.
inline declared_variable declared_there(const source_outline& file, std::size_t at) noexcept {
    declared_variable found;
    if (!file.is_any_at(at + 1, "; ( { = , ) : ]")) return found;
    found.at = at;
    if (file.is_at(at + 1, "(")) {  // `part p(3);`, or a function
        const std::size_t close = file.partner(at + 1);
        const bool is_empty = close == at + 2;
        if (is_empty || file.is_any_at(close + 1, "{ const noexcept ->")) return found;
    }
    if (file.is_at(at - 1, ",") && file.is_word_at(at - 2)) {  // `part a, b;`
        found = declared_there(file, at - 2);
        found.at = at;
        if (file.is_at(found.end - 1, "*") || file.is_at(found.end, "&")) found.end = 0;
        return found;
    }
    const std::size_t end = file.back_over(at, "& const");
    found.begin = begin_of_type(file, end);
    std::size_t before = file.back_over(
        found.begin,
        "static const thread_local constexpr inline mutable volatile extern struct union");
    if (file.are_at(before - 2, "]", "]")) {  // [[maybe_unused]]
        before = file.partner(before - 1);
    }
    const bool is_alone =
        found.begin != 0 && (before == 0 || file.is_any_at(before - 1, "; { } ( , :"));
    if (is_alone) found.end = end;
    if (file.is_at(end - 1, "*")) {  // the const belongs to what it points to
        before = file.find(before, found.begin, "const");
        if (before + 1 == found.begin) found.begin = before;
        if (before + 1 < found.begin) found.end = 0;
    }
    return found;
}

// The member with that name of the class whose body opens at `open`, unless that is a class.
inline declared_variable member_of(const source_outline& file, std::size_t open,
                                   const text& name) noexcept {
    for (std::size_t at = open + 1; at < file.partner(open); ++at) {
        at = file.end_of_brackets(at);
        if (!file.is_at(at, name) || file.is_at(at + 1, "(")) continue;
        if (!file.is_any_at(at - 1, "struct class union enum")) return declared_there(file, at);
    }
    return {};
}

// The colon before the initialisers of a constructor, `: n(3), parts(n)`, if the name at `at` is
// one of them; 0: it is not.
inline std::size_t colon_before(const source_outline& file, std::size_t at) noexcept {
    while (file.is_at(at - 1, ",") && file.is_any_at(at - 2, ") }")) {
        at = file.partner(at - 2) - 1;
    }
    return file.is_at(at - 1, ":") ? at - 1 : 0;
}

// Whether the name at `at` is read in `sizeof(*p)` or `sizeof *p`.
ALLOCSCOPE_PURE inline bool is_in_sizeof(const source_outline& file, std::size_t at) noexcept {
    at = file.back_over(at, "*");
    return file.is_at(at - 1, "sizeof") || file.are_at(at - 2, "sizeof", "(");
}

// The brace of the class that a function defined outside of it belongs to, `void box<T>::put(`,
// if the bracket at `open` is that of its parameters; 0: the file does not define such a class.
inline std::size_t class_of_member(const source_outline& file, std::size_t open) noexcept {
    if (open < 4 || !file.is_at(open - 2, "::")) return 0;
    const std::size_t begin = begin_of_type(file, open - 2);
    std::size_t name = open - 3;
    for (int depth = 0; name > begin; --name) {  // back over its arguments
        if (file.is_at(name, ">")) ++depth;
        if (depth == 0) break;
        if (file.is_at(name, "<")) --depth;
    }
    // Not for the initialiser of a base class: `: outer::base(3)`.
    const bool is_initialiser = file.is_any_at(begin - 1, ": ,");
    return begin != 0 && !is_initialiser ? body_of_class(file, file.text_at(name)) : 0;
}

// Whether a function whose parameters the bracket at `open` begins may be a member of a class that
// it is not written in: `void box::put(`, or the macro in `TEST_F(box, puts) {`.
inline bool may_be_member(const source_outline& file, std::size_t open) noexcept {
    return !file.is_any_at(open - 1, "__attribute__ if for while switch catch") &&
           (open < 3 || file.is_any_at(open - 2, ":: ; { }"));
}

// Searches the blocks around the token at `from`, the innermost first, and what classes declare
// behind the place, also that of a member which is defined outside of it. That token may itself be
// the declaration. Namespaces are searched for functions that are no members: a member may mean a
// variable of a base class.
inline declared_variable find_variable(const source_outline& file, std::size_t from) noexcept {
    const text name = file.text_at(from);
    constexpr std::size_t most_tokens = 4096;
    const std::size_t colon = colon_before(file, from);
    if (colon != 0 && file.is_at(colon - 1, ")")) {
        const std::size_t open = class_of_member(file, file.partner(colon - 1));
        if (open != 0) return member_of(file, open, name);
    }
    declared_variable found;
    bool is_in_header = false;    // of a block around the place, which may have parameters
    bool is_in_statement = true;  // that of the place; it may have a header without a block
    bool is_free = true;          // it is in no class
    std::size_t at = from + 1;
    for (std::size_t left = most_tokens; left != 0 && at > 1; --left) {
        const text token = file.text_at(--at);
        const std::size_t partner = file.partner(at);
        const bool is_header = token == ")" && is_in_statement && partner > 0 &&
                               file.is_any_at(partner - 1, "for if while switch");
        if (token == "}" || (token == ")" && !is_in_header && !is_header)) {
            if (partner == 0) return {};
            if (token == "}") is_in_header = is_in_statement = false;
            at = partner;
        } else if (token == "{") {
            const block_kind kind = kind_of_block(file, at);
            const bool is_searched = kind != block_kind::of_namespace || is_free;
            if (found.at != 0) return is_searched ? found : declared_variable{};
            if (kind == block_kind::of_class) {
                found = member_of(file, at, name);
                is_free = false;
            }
            if (found.at != 0) return found;
            is_in_header = true;
        } else if (token == ";") {
            is_in_header = is_in_statement = false;
        } else if (token == "(" && is_in_header && found.at == 0) {
            const std::size_t open = class_of_member(file, at);
            if (open != 0) found = member_of(file, open, name);
            if (found.at != 0) return found;
            is_free = is_free && (partner > from || !may_be_member(file, at));
        } else if (token == name && found.at == 0) {
            const bool is_object = file.is_any_at(at + 1, ". ->") || is_in_sizeof(file, at);
            const bool is_in_expression = file.is_any_at(
                at - 1,
                "; { } ( ) = + - ! . -> :: ? / % return else do case throw co_return co_yield "
                "new struct class union enum");
            if (is_object || is_in_expression) continue;
            if (colon_before(file, at) != 0) continue;
            const std::size_t star = file.back_over(at, "*");  // of `while (*p)`
            if (star != at && file.is_any_at(star - 1, "( ! = ; { && || return")) continue;
            found = declared_there(file, at);
            if (!found.is_known() || is_in_header || at == from) return found;
            left = 16 * most_tokens;  // to the beginning of the block around it
        }
    }
    return is_free && at <= 1 ? found : declared_variable{};
}

// The first argument of the class template whose name, perhaps behind `std::`, stands at `at`, if
// it is one of `classes`.
inline declared_variable first_argument_at(const source_outline& file, std::size_t at,
                                           const char* classes) {
    if (file.is_at(at, "std")) at += 2;
    if (!file.is_any_at(at, classes) || !file.is_at(at + 1, "<")) return {};
    const std::size_t close = file.behind_angles(at + 1);
    std::size_t end = at + 2;
    for (int depth = 0; end + 1 < close && (depth != 0 || !file.is_at(end, ",")); ++end) {
        if (file.is_at(end, "<")) ++depth;
        if (file.is_at(end, ">")) --depth;
        if (file.is_at(end, "(")) end = file.partner(end);
    }
    return close != 0 ? declared_variable{at, at + 2, end} : declared_variable{};
}

// The element of the rows that the name at `from` leads to, if it is declared before as
// `part (*name)[4]`.
inline declared_variable row_before(const source_outline& file, std::size_t from) noexcept {
    const text name = file.text_at(from);
    for (std::size_t at = from; at > 4; --at) {
        if (file.is_at(at, "}") && file.partner(at) > 4) at = file.partner(at);
        const bool is_row =
            file.is_at(at, name) && file.are_at(at - 2, "(", "*") && file.is_at(at + 2, "[");
        if (is_row) return {at, begin_of_type(file, at - 2), at - 2};
    }
    return {};
}

// The type that is written behind `auto v =`, or that of the elements in `for (auto& v : items)`;
// in `auto p = std::make_unique<T>()` it is the function.
inline declared_variable without_auto(const source_outline& file, const declared_variable& found) {
    if (!file.is_at(found.begin, "auto")) return found;
    if (file.is_at(found.at + 1, ":") && file.is_at(found.at + 3, ")")) {
        const declared_variable items = find_variable(file, found.at + 2);
        if (!items.is_known()) return {};
        return first_argument_at(file, items.begin, "vector deque list forward_list set array");
    }
    const std::size_t begin = found.at + 2;
    const std::size_t end = file.behind_name(begin);
    const bool is_made = file.is_at(begin - 1, "=") && file.is_any_at(end, "( {");
    return is_made ? declared_variable{found.at, begin, end} : declared_variable{};
}

// What `v->` leads to.
inline declared_variable target_of(const source_outline& file, declared_variable found) {
    if (file.is_at(found.begin, "auto") && file.is_at(found.at + 2, "new")) {
        return {found.at, found.at + 3, file.behind_name(found.at + 3)};
    }
    if (file.is_at(found.end - 1, "*")) {
        --found.end;
        return found;
    }
    return first_argument_at(file, without_auto(file, found).begin,
                             "unique_ptr shared_ptr optional make_unique make_shared");
}

// The type of the object that a variable is, or that it leads to if `->` stands behind it.
inline declared_variable object_of(const source_outline& file, const declared_variable& variable,
                                   bool is_arrow) {
    if (!variable.is_known()) return variable;
    return is_arrow ? target_of(file, variable) : without_auto(file, variable);
}
inline declared_variable object_at(const source_outline& file, std::size_t name) {
    return object_of(file, find_variable(file, name), file.is_at(name + 1, "->"));
}

// The class of v in `v.member` or `v->member`; `name` is the token with the name of the member. ""
// if it is not known by one word.
inline text class_of_owner(const source_outline& file, std::size_t name) {
    const std::size_t owner = name - 2;
    if (owner < 2 || !file.is_word_at(owner) || file.is_any_at(owner - 1, ". -> ::")) {
        return no_text();
    }
    const declared_variable found = object_at(file, owner);
    const bool is_word = found.is_known() && found.end == found.begin + 1;
    return is_word ? file.text_at(found.begin) : text{};
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_DECLARED_VARIABLE_HPP
