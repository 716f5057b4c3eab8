// merged_calls.hpp - whether the compiler may have made one call of two that exclude each other.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by type_ladder.hpp, when the source gave the type
// Threads:  any
// Memory:   none
//
//     if (wild) p = new lynx;      // g++ -O2: one call for both, with one of their places
//     else p = new lion;
//
// No code that has the place of the other `new` calls operator new then. If the other class is as
// large, nothing tells which of them was made.

#ifndef ALLOCSCOPE_TYPES_MERGED_CALLS_HPP
#define ALLOCSCOPE_TYPES_MERGED_CALLS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/placed_new.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether the expression is in a branch of `if constexpr`: the other branch is not compiled.
inline bool is_chosen_by_compiler(const source_outline& file, const new_expression& expression) {
    constexpr std::size_t far_away = 64;
    std::size_t at = expression.begin;
    for (std::size_t left = far_away; left != 0 && at > 1; --left) {
        const text token = file.text_at(--at);
        if (token == ")" && file.partner(at) > 0) {
            at = file.partner(at);
            if (file.is_at(at - 1, "constexpr")) return true;
        } else if (is_listed(token, "; }") || (token == "{" && !file.is_at(at - 1, ")"))) {
            return false;
        }
    }
    return false;
}

// Whether at most one of two expressions runs: branches of a statement, or one behind a return. The
// first one is in [first, last], the second one begins at `second`.
inline bool exclude_each_other(const source_outline& file, std::size_t first, std::size_t last,
                               std::size_t second) {
    bool is_sure = false;  // most pairs are not: a search of lists would cost more than the rest
    for (std::size_t at = last + 1; at < second && !is_sure; ++at) {
        const char begin = *file.token(at).begin;
        const bool may_be =
            begin == 'e' || begin == ':' || begin == 'c' || begin == 'd' || begin == 'r';
        is_sure = may_be && file.is_any_at(at, "else : case default return");
    }
    for (std::size_t at = last + 1; is_sure && at < second; ++at) {
        const text token = file.text_at(at);
        if (is_listed(token, "struct class union namespace ]")) return false;
        const bool leaves = token == "}" && file.partner(at) < first;
        if (leaves && !file.is_any_at(at + 1, "else case default } return")) return false;
    }
    return is_sure;
}

inline bool are_alternatives(const source_outline& file, const new_expression& first,
                             const new_expression& second) {
    constexpr std::size_t far_away = 64;
    if (second.begin > first.last + far_away || second.function != first.function) return false;
    const bool is_sure = exclude_each_other(file, first.begin, first.last, second.begin);
    return is_sure && !is_chosen_by_compiler(file, first);
}

// The `return` before a token of the same statement; 0: there is none.
ALLOCSCOPE_PURE inline std::size_t return_before(const source_outline& file, std::size_t at) {
    at = file.back_to(at, "; { } return");
    return file.is_at(at, "return") ? at : 0;
}

// Whether a function calls itself at the place of `outer`, which is not before that of the frame
// inside it, and does both. A declaration is before them.
inline bool is_called_behind(const code_frame* outer, source_cache& sources) {
    const std::size_t from = token_of(outer[-1], sources).at;
    const auto [file, at] = token_of(*outer, sources);
    std::size_t to = at;
    // In `keep(new T); return next();` the `return` ends nothing before it.
    const std::size_t last = to != 0 ? return_before(*file, to) : 0;
    if (last > from && return_before(*file, from) == 0) to = last;
    return from != 0 && to >= from && outer[-1].file == outer->file &&
           !exclude_each_other(*file, from, from, to);
}

// Whether the source has a call of a function with that name at the place of a frame, and not its
// declaration.
inline bool is_written_call(const code_frame& frame, const text& name, source_cache& sources) {
    const auto [file, at] = token_of(frame, sources);
    const std::size_t open = at != 0 ? end_of_callee(*file, at) + 1 : 0;
    const std::size_t close = open != 0 ? file->partner_if(open, "(") : 0;
    return close != 0 && file->is_at(open - 1, name) && file->is_any_at(close + 1, ") ; ,");
}

inline bool have_same_type(const source_outline& file, const new_expression& a,
                           const new_expression& b) {
    const std::size_t count = a.type_end - a.type_begin;
    if (b.type_end - b.type_begin != count) return false;
    for (std::size_t i = 0; i < count; ++i) {
        if (!file.is_at(a.type_begin + i, file.text_at(b.type_begin + i))) return false;
    }
    return true;
}

// "malloc", "new", or "]" for operator new[].
inline text called_function(const source_outline& file, const new_expression& expression) {
    return expression.is_request ? file.text_at(expression.last - 1) : text{"new"};
}

// Whether the call in a frame, which is at `expression`, may be that of `other`, too.
inline bool may_be_call_of(const source_outline& file, const code_frame& frame,
                           const new_expression& expression, const new_expression& other,
                           const type_knowledge& knowledge) {
    if (have_same_type(file, expression, other)) return false;
    // A call of malloc is none of calloc.
    const text called = called_function(file, expression);
    const text other_called = called_function(file, other);
    if (called != other_called && called != "]" && other_called != "]") return false;
    const auto has_call = [&](std::size_t at) {
        const source_token& token = file.token(at);
        return knowledge.may_call_at(frame.file, token.line, token.column);
    };
    if (differ_in_size(file, expression, other, knowledge)) return false;
    return !has_call(other.begin) && !has_call(other.last);
}

// For a frame in which a `new` gave the type. An inlined function may lack a branch for other
// reasons, for example because an argument is a constant.
inline bool is_merged_call(const code_frame& frame, source_cache& sources,
                           const type_knowledge& knowledge) {
    if (frame.is_inlined || frame.column <= 0) return false;
    const source_outline* file = source_of(frame, sources);
    const new_expression* found =
        file != nullptr ? find_new_expression(*file, frame.line, frame.column, knowledge.is_c)
                        : nullptr;
    if (found == nullptr) return false;
    const list<new_expression>& all = file->expressions();
    const bool is_second = found != all.begin() && are_alternatives(*file, found[-1], *found);
    if (is_second && may_be_call_of(*file, frame, *found, found[-1], knowledge)) return true;
    const bool is_first = found + 1 != all.end() && are_alternatives(*file, *found, found[1]);
    return is_first && may_be_call_of(*file, frame, *found, found[1], knowledge);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_MERGED_CALLS_HPP
