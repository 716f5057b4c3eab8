// coroutine_frame.hpp - tells the frame of a coroutine by the source text of its function.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by naming/name_book.hpp, for the direct caller of operator new
// Threads:  one source_cache belongs to one thread
// Memory:   of the given arena
//
// A coroutine allocates a block for its variables when it is called. g++ gives that call the place
// of the function's closing brace, clang++ that of the function's name:
//
//     task app::work(int n) {           type: "frame of app::work()"
//          ^ clang++
//         co_await sleep(n);
//     }
//     ^ g++

#ifndef ALLOCSCOPE_TYPES_COROUTINE_FRAME_HPP
#define ALLOCSCOPE_TYPES_COROUTINE_FRAME_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/new_expressions.hpp>
#include <allocscope/types/pretty_function.hpp>
#include <allocscope/types/source_cache.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The `{` of the body behind a function's name or a lambda's `[`, or that the `}` at `at` closes;
// 0: there is none.
inline std::size_t body_of(const source_outline& file, std::size_t at) noexcept {
    const list<source_token>& tokens = file.tokens();
    if (tokens[at].spelling == "}") return file.partner(at);
    for (const std::size_t far = at + 256; at < far && at < tokens.size(); ++at) {
        const text token = tokens[at].spelling;
        if (token == "{") return at;
        if (token == ";" || token == "}") return 0;
        const bool opens = token == "(" || token == "[";
        if (opens && file.partner(at) > at) at = file.partner(at);
    }
    return 0;
}

// `[` of a lambda, not of a subscript or an array.
inline bool begins_lambda(const source_outline& file, std::size_t at) noexcept {
    const list<source_token>& tokens = file.tokens();
    if (tokens[at].spelling != "[" || at == 0 || file.partner(at) + 1 >= tokens.size())
        return false;
    const text before = tokens[at - 1].spelling;
    const bool is_subscript = before == ")" || before == "]" ||
                              (is_word(before) && !is_listed(before,
                                                             "return co_return "
                                                             "co_yield "
                                                             "co_await"));
    return !is_subscript && is_listed(tokens[file.partner(at) + 1].spelling, "( { <");
}

// Whether the body at `open` is that of a coroutine; lambdas in it count for themselves.
inline bool is_coroutine_body(const source_outline& file, std::size_t open) noexcept {
    const std::size_t close = file.partner(open);
    for (std::size_t at = open + 1; at < close; ++at) {
        const text token = file.tokens()[at].spelling;
        if (is_listed(token, "co_await co_return co_yield")) return true;
        if (token != "[" || !begins_lambda(file, at)) continue;
        const std::size_t inner = body_of(file, at);
        if (inner > at && file.partner(inner) > inner) at = file.partner(inner);
    }
    return false;
}

// The token that names the function with this body, or the `[` of the lambda; `open` when that is
// not found.
inline std::size_t name_of_body(const source_outline& file, std::size_t open) noexcept {
    for (std::size_t at = open; at > 1 && open - at < 64; --at) {
        const text before = file.tokens()[at - 1].spelling;
        if (before == ";" || before == "}" || before == "{") break;
        if (before != ")" && before != "]") continue;
        const std::size_t partner = file.partner(at - 1);
        if (before == "]" && begins_lambda(file, partner)) return partner;
        if (partner == 0) break;
        const text name = file.tokens()[partner - 1].spelling;
        if (before == ")" && name == "]") return file.partner(partner - 1);
        if (before == ")" && is_word(name) && !is_listed(name, "noexcept requires")) {
            return partner - 1;
        }
        at = partner + 1;
    }
    return open;
}

// "frame of work()", "" when `frame` does not allocate one. The frame then gets the line of the
// function's name.
inline text coroutine_frame(arena& memory, code_frame& frame, source_cache& sources) {
    if (frame.line <= 0 || frame.column <= 0 || frame.is_nearby) return {};
    if (is_standard_header(frame.file)) return {};
    const source_outline* file = sources.find(frame.file, frame.built_ns);
    if (file == nullptr) return {};
    const std::size_t at = file->token_from(frame.line, frame.column);
    if (at >= file->tokens().size()) return {};
    const source_token& token = file->tokens()[at];
    if (token.line != frame.line || token.column != frame.column) return {};
    const bool is_place = token.spelling == "}" || token.spelling == "[" ||
                          (at + 1 < file->tokens().size() && is_word(token.spelling) &&
                           file->tokens()[at + 1].spelling == "(");
    if (!is_place) return {};
    const std::size_t open = body_of(*file, at);
    if (open == 0 || !is_coroutine_body(*file, open)) return {};
    frame.line = file->tokens()[name_of_body(*file, open)].line;
    frame.column = 0;
    frame.is_nearby = true;
    const text function = pretty_function(memory, frame.function);
    return joined(memory, "frame of ", function.substr(0, function.find('(')), "()");
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_COROUTINE_FRAME_HPP
