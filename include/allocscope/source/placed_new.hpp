// placed_new.hpp - finds the `new` that compilers place at a line and column of a source file.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by type_from_source.hpp, implied_new.hpp, merged_calls.hpp and only_new.hpp
// Threads:  any
// Memory:   none
//
//     keep(new int[3], MAKE(long));      g++ places both at the bracket: neither is found
//
// If line and column do not decide which of several is meant, there is none.

#ifndef ALLOCSCOPE_SOURCE_PLACED_NEW_HPP
#define ALLOCSCOPE_SOURCE_PLACED_NEW_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/class_size.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/source/type_knowledge.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// True if something in [begin, end) might call operator new at the same position: `operator`, or a
// possible macro with a `new` inside, by naming convention or because this file defines it.
ALLOCSCOPE_PURE inline bool has_hidden_new(const source_outline& file, std::size_t begin,
                                           std::size_t end) {
    for (std::size_t i = begin; i < end && i < file.count(); ++i) {
        const text word = file.text_at(i);
        if (!is_word(word)) continue;
        if (word == "operator" || file.is_macro(word)) return true;
        const bool is_call = file.is_at(i + 1, "(");
        const bool is_upper = word.find_first_of(lower_case) == no_position;
        if (is_call && is_upper && word.size() > 1) return true;
    }
    return false;
}

// How many times something in [begin, end) asks for memory by name, whatever for.
inline std::size_t requests_in(const source_outline& file, std::size_t begin, std::size_t end) {
    return file.count_of(begin, end,
                         "new malloc calloc realloc aligned_alloc posix_memalign reallocarray "
                         "memalign valloc pvalloc");
}

// The last word of the type: the name by which its size is known.
inline text own_word(const source_outline& file, const new_expression& expression) {
    text own;
    for (std::size_t at = expression.type_begin; at < expression.type_end; ++at) {
        if (file.is_at(at, "<")) break;
        if (file.is_word_at(at)) own = file.text_at(at);
    }
    return own;
}

// Whether objects of two expressions certainly differ in size. An array may have any.
inline bool differ_in_size(const source_outline& file, const new_expression& a,
                           const new_expression& b, const type_knowledge& knowledge) {
    if (file.is_at(a.type_end, "[") || file.is_at(b.type_end, "[")) return false;
    const auto bytes_of = [&](const new_expression& of) {
        const bool is_one_word = of.type_end == of.type_begin + 1;
        const text last = file.text_at(of.type_end - 1);
        const std::uint64_t plain =
            is_one_word || last == "*" ? bytes_of_plain_type(last) : std::uint64_t{0};
        const text own = own_word(file, of);
        if (plain != 0) return plain;
        return knowledge.bytes_of(own == "string" ? text{"basic_string"} : own);
    };
    const std::uint64_t bytes = bytes_of(a);
    const std::uint64_t others = bytes_of(b);
    return bytes != 0 && others != 0 && bytes != others;
}

// The name of the function in whose call an expression is an argument by itself, if g++ may place
// it at the call (see find_in_call); otherwise "".
inline text called_around(const source_outline& file, const new_expression& expression) {
    if (expression.has_initialiser) return no_text();
    std::size_t at = expression.begin - 1;
    while (file.is_at(at, ",")) {
        while (--at > 0 && !file.is_any_at(at, ", ( ; { }")) {
            at = file.begin_of_brackets(at);
        }
    }
    return file.is_at(at, "(") ? file.text_at(at - 1) : text{};
}

// If a `new` without initialiser is an argument of a call by itself, or a request for bytes is
// anywhere in its arguments, g++ places it at the call's "(", and gcc at the name before it. Finds
// the only such expression in that call.
inline const new_expression* find_in_call(const source_outline& file, std::size_t open) {
    const std::size_t close = file.partner_if(open, "(");
    if (close <= open) return nullptr;
    const new_expression* only = nullptr;
    for (const new_expression& each : file.expressions_in(open, close + 1)) {
        if (each.has_initialiser && !each.is_request) continue;
        if (only != nullptr) return nullptr;
        only = &each;
    }
    if (only == nullptr) return nullptr;
    const std::size_t first = only->is_request ? open - 1 : open;  // what is called may be a macro
    if (has_hidden_new(file, first, close)) return nullptr;
    const bool is_certain = only->is_request ? requests_in(file, open, close) == 1 &&
                                                   !file.has_new_in_default(file.text_at(first))
                                             : file.is_any_at(only->begin - 1, "( ,");
    return is_certain ? only : nullptr;
}

// Without a column: the only new-expression that begins or ends on the line.
inline const new_expression* find_on_line(const source_outline& file, int line) {
    const list<new_expression>& all = file.expressions();
    const std::size_t first = file.token_from(line, 0);
    const std::size_t behind = file.token_from(line + 1, 0);
    const new_expression* only = nullptr;
    const std::size_t end = file.first_from(behind);
    for (std::size_t i = file.first_reaching(first); i < end; ++i) {
        const new_expression& each = all[i];
        const bool ends = first <= each.last && each.last < behind;
        if (each.begin < first && !ends) continue;
        if (only != nullptr) return nullptr;
        only = &each;
    }
    if (only == nullptr) return nullptr;
    const std::size_t first_of_all = file.token_from(file.token(only->begin).line, 0);
    const std::size_t behind_all = file.token_from(file.token(only->last).line + 1, 0);
    return has_hidden_new(file, first_of_all, behind_all) ? nullptr : only;
}

inline const new_expression* find_new_expression(const source_outline& file, int line, int column,
                                                 bool is_c = false) {
    if (column <= 0) return find_on_line(file, line);
    const std::size_t at = file.token_at(line, column);
    if (at == file.count()) return nullptr;
    const new_expression* const found = file.expression_at(at);
    if (found != nullptr && (found->is_request || !is_c)) return found;  // C has no `new`
    if (file.is_at(at, "(")) return find_in_call(file, at);
    return is_c ? find_in_call(file, at + 1) : nullptr;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_PLACED_NEW_HPP
