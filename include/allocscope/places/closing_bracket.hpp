// closing_bracket.hpp - moves a call from a closing bracket to the line on which it is written.
//
// Room:     places (floor 9), not malloc-safe
// Called:   by naming/stack_namer.hpp, for the frame that gives a row its line
// Threads:  one
// Memory:   of the source_cache
//
// g++ gives some calls the line on which the function ends. They make temporary parts of an
// expression: aggregates in argument lists, captures of a lambda, the frame of a coroutine.
//
//     rows.push_back({1, "a text"});      // 16
//     ...
// }                                       // 27: here g++ places std::string("a text")
//
// Only destructors are really called at a brace. If the block has only one statement, that has made
// the call. If the code before and after the call has the same line, the call gets that line.
// Otherwise it gets the line of the code after it, because the temporaries of a call are made
// before the call; but `new person{"a text"}` makes the text behind the `new`, and the initialisers
// of `person all[2]{{"a"}, {"b"}};` run in it: what has neither braces nor a lambda makes nothing.
// What the function around a lambda makes of it gets the line on which the lambda begins. If the
// line after the call is less than the line before, the code was moved, and the call stays.
//
// g++ gives `new`, and all calls in the initialiser of a variable, the place of the last token of
// the expression. The row gets the line on which the expression begins:
//
//     auto part = std::make_unique<item>(     // here
//         1, "a text"
//     );                                      // g++

#ifndef ALLOCSCOPE_PLACES_CLOSING_BRACKET_HPP
#define ALLOCSCOPE_PLACES_CLOSING_BRACKET_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The token at the place of a frame if it closes a bracket; 0: it does not.
inline std::size_t closing_bracket(const source_outline& file, const code_frame& frame) noexcept {
    const std::size_t at = file.token_from(frame.line, frame.column);
    if (!file.is_any_at(at, ") }") || file.tokens()[at].line != frame.line) return 0;
    return file.partner(at) < at ? at : 0;
}

// The bracket that begins the lambda whose body opens at `open`; 0: it is another block.
inline std::size_t begin_of_lambda(const source_outline& file, std::size_t open) noexcept {
    std::size_t at = open - 1;
    std::size_t arrow = at;  // of the type that it returns
    while (arrow != 0 && !file.is_any_at(arrow, "-> ) ] ; { }")) --arrow;
    if (file.is_at(arrow, "->")) at = arrow - 1;
    while (file.is_any_at(at, "mutable noexcept")) --at;
    if (file.is_at(at, ")") && file.partner(at) > 1) at = file.partner(at) - 1;
    if (!file.is_at(at, "]") || file.is_at(at - 2, "operator")) return 0;
    return file.partner(at);
}

// Whether a closing bracket is the brace of a block. That has a statement in it, and not only in a
// lambda: `call{[] { run(); }}`.
inline bool closes_block(const source_outline& file, std::size_t close) noexcept {
    if (!file.is_at(close, "}")) return false;
    std::size_t inside = file.partner(close);
    while (++inside < close && !file.is_at(inside, ";")) {
        const bool is_lambda = file.is_at(inside, "{") && begin_of_lambda(file, inside) != 0;
        if (is_lambda) inside = file.partner(inside);
    }
    return inside < close;
}

inline bool is_destructor(arena& memory, const code_frame& frame) {
    if (!frame.function.contains("~")) return false;  // true for most functions
    const borrowed_memory meanwhile{memory};
    const function_name name = parse_function_name(memory, frame.function);
    return !name.components.empty() && name.components.back().name.starts_with("~");
}

// Whether the line of frame `at` may be replaced by one near it.
inline bool is_at_closing_brace(arena& memory, const list<code_frame>& frames, std::size_t at,
                                source_cache& sources) {
    const code_frame& frame = frames[at];
    if (is_standard_header(frame.file)) return false;
    const source_outline* file = source_of(frame, sources);
    if (file == nullptr) return false;
    const std::size_t brace = closing_bracket(*file, frame);
    if (brace == 0 || !closes_block(*file, brace)) return false;
    if (file->tokens()[brace - 1].line == frame.line) return false;
    return at == 0 || !is_destructor(memory, frames[at - 1]);
}

// Whether the code before the call is the `new` of an aggregate that is made of texts or by calls,
// `new person{"a text", find()}`: its members are made after the `new`.
inline bool fills_new_object(const source_outline& file, const lines_near_call& nearest) {
    if (nearest.before_column == 0) return false;
    std::size_t at = file.token_at(nearest.before, nearest.before_column);
    if (file.is_at(at, "=")) ++at;
    const new_expression* made = at < file.count() ? file.expression_at(at) : nullptr;
    if (made == nullptr || !file.is_at(made->last, "}")) return false;
    at = file.partner(made->last);
    while (at < made->last && !file.is_at(at, "(") && file.text_at(at).front() != '"') ++at;
    return at < made->last;
}

// Whether a statement may make what g++ places at a brace: it has a brace that is not that of a
// block, a lambda or a macro, or a coroutine waits in it. `at` is its first token.
inline bool may_make_parts(const source_outline& file, std::size_t at) noexcept {
    while (at < file.tokens().size() && !file.is_any_at(at, "; [ { co_await co_yield co_return")) {
        const bool has_index = file.is_at(at + 1, "[") && !file.is_any_at(at, "= ( , return");
        if (has_index && file.partner(at + 1) != 0) at = file.partner(at + 1);
        const text word = file.text_at(at);
        const bool is_upper = is_word(word) && word.find_first_of(lower_case) == text::npos;
        if (file.is_macro(word) || (is_upper && file.is_at(at + 1, "("))) return true;
        ++at;
    }
    return !file.is_any_at(at, "; {") || (file.is_at(at, "{") && !file.is_at(at - 1, ")"));
}

// The statement that a loop or a condition at `at` has without braces around it; `at` if it has
// them, if parts may be made between its brackets, or if it is another statement.
inline std::size_t bare_body(const source_outline& file, std::size_t at) noexcept {
    const std::size_t first = at;
    while (file.is_any_at(at, "for while if else")) {
        std::size_t end = at;
        if (!file.is_at(at, "else")) {
            while (end < file.tokens().size() && !file.is_any_at(end, "( ;")) ++end;
            if (end == file.tokens().size()) return first;
            const std::size_t close = file.partner(end);
            while (end < close && !file.is_at(end, "{")) ++end;
            if (close == 0 || end < close) return first;
        }
        at = end + 1;
    }
    return file.is_at(at, "{") ? first : at;
}

// `line` if the statement on it may make parts; the first line of the nearest one above it, but
// behind `open`, that may; 0: none may.
inline int line_with_parts(const source_outline& file, std::size_t open, int line) noexcept {
    std::size_t at = file.token_from(line + 1, 0);
    for (int found = line; at > open + 1; found = 0) {
        --at;
        if (file.is_any_at(at, "} ) ]") && file.partner(at) != 0) at = file.partner(at);
        while (at > open + 1 && !file.is_any_at(at - 1, "; { }")) {
            --at;
            if (file.is_any_at(at, ") ]") && file.partner(at) != 0) at = file.partner(at);
        }
        const std::size_t body = bare_body(file, at);
        if (!may_make_parts(file, body)) continue;
        const int begin = static_cast<int>(file.tokens()[body].line);
        return found == 0 || begin > found ? begin : found;
    }
    return 0;
}

// `nearest` is for a frame for which is_at_closing_brace() is true.
inline void leave_closing_brace(arena& memory, code_frame& frame, const lines_near_call& nearest,
                                source_cache& sources) {
    const source_outline& file = *source_of(frame, sources);
    const std::size_t close = file.token_from(frame.line, 0);
    const std::size_t first = file.partner(close) + 1;
    std::size_t at = first;
    while (at < close && !file.is_any_at(at, "; }")) {
        at = file.partner(at) > at ? file.partner(at) + 1 : at + 1;
    }
    int line = nearest.behind != 0 ? nearest.behind : nearest.before;
    int made = line_with_parts(file, first - 1, line);
    if (line < nearest.before) {  // the code was moved: only one of the two may have made it
        made = made == line ? 0 : line_with_parts(file, first - 1, nearest.before);
        line = 0;
    }
    if (made != 0) line = made;
    if (fills_new_object(file, nearest)) line = nearest.before;
    // The only statement, unless it is a loop around those that are meant.
    const bool is_loop = line != 0 && file.is_any_at(first, "for while");
    if (at + 1 == close && !is_loop) line = file.tokens()[first].line;
    const std::size_t lambda = begin_of_lambda(file, first - 1);
    const function_name name = parse_function_name(memory, frame.function);
    if (lambda != 0 && name.is_known() && name.last().name != "operator()") {
        line = file.tokens()[lambda].line;  // the function around it makes something of the lambda
    }
    if (line == 0) return;
    frame.line = line;
    frame.column = 0;
    frame.is_nearby = true;
}

// The type must be known: it may stand at the last token. A line found nearby may end a lambda.
inline void leave_last_token(code_frame& frame, source_cache& sources) {
    const source_outline* file = source_of(frame, sources);
    if (file == nullptr) return;
    const std::size_t close = closing_bracket(*file, frame);
    if (close == 0) return;
    std::size_t begin = file->partner(close);
    if (closes_block(*file, close)) {
        const bool is_last = frame.is_nearby && file->is_any_at(close + 1, "; )");
        begin = is_last ? begin_of_lambda(*file, begin) + 1 : 0;
    }
    if (begin < 2) return;
    const source_token& first = file->tokens()[begin - 1];
    if (first.line == frame.line) return;
    frame.line = first.line;
    frame.column = first.column;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLACES_CLOSING_BRACKET_HPP
