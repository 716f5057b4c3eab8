// coroutine_frame.hpp - recognises the frame of a coroutine by the source text of its function.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by naming/stack_namer.hpp, for the direct caller of operator new
// Threads:  one source_cache belongs to one thread
// Memory:   of the given arena
//
// A coroutine allocates a block for its variables when it is called. g++ gives this call the
// position of the function's closing brace, clang++ that of the function's name:
//
//     task app::work(int n) {           type: "frame of app::work()"
//          ^ clang++
//         co_await sleep(n);
//     }
//     ^ g++

#ifndef ALLOCSCOPE_TYPES_COROUTINE_FRAME_HPP
#define ALLOCSCOPE_TYPES_COROUTINE_FRAME_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/name_scopes.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/source/type_knowledge.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/pretty_function.hpp>
#include <allocscope/spelling/pretty_type.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The character of a token that is one sign; 0 for a word, for a longer sign, and after the end.
ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE char sign_at(const source_outline& file,
                                                 std::size_t at) noexcept {
    const text token = file.text_at(at);
    return token.size() == 1 && !is_word(token) ? token.front() : '\0';
}

// The `{` of the body after a function's name or a lambda's `[`, or the `{` that the `}` at `at`
// closes; 0 if there is none.
ALLOCSCOPE_NOINLINE std::size_t body_of(const source_outline& file, std::size_t at) noexcept {
    if (sign_at(file, at) == '}') return file.partner(at);
    for (const std::size_t end = at + 256; at < end && at < file.count(); ++at) {
        const char sign = sign_at(file, at);
        if (sign == '{') return at;
        if (sign == ';' || sign == '}') break;
        at = file.end_of_brackets(at);
    }
    return 0;
}

// Whether the `[` at `at` begins a lambda, and not a subscript or an array.
ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE bool begins_lambda(const source_outline& file,
                                                       std::size_t at) noexcept {
    const char behind = sign_at(file, file.partner(at) + 1);
    if (at == 0 || (behind != '(' && behind != '{' && behind != '<')) return false;
    const char before = sign_at(file, at - 1);
    if (before != '\0') return before != ')' && before != ']';
    const text word = file.text_at(at - 1);
    return !is_word(word) || is_listed(word, "return co_return co_yield co_await");
}

// Whether the body at `open` belongs to a coroutine. Lambdas inside it do not count.
ALLOCSCOPE_PURE inline bool is_coroutine_body(const source_outline& file,
                                              std::size_t open) noexcept {
    const std::size_t close = file.partner(open);
    for (std::size_t at = open + 1; at < close; ++at) {
        const text token = file.text_at(at);
        if (is_listed(token, "co_await co_yield co_return")) return true;
        if (sign_at(file, at) != '[' || !begins_lambda(file, at)) continue;
        const std::size_t inner = body_of(file, at);
        if (file.partner(inner) > at) at = file.partner(inner);
    }
    return false;
}

// The token that names the function with this body, or the `[` of the lambda; `open` if neither is
// found.
inline std::size_t name_of_body(const source_outline& file, std::size_t open) noexcept {
    for (std::size_t at = open - 1; at > 1 && open - at < 64; --at) {
        const char sign = sign_at(file, at);
        if (sign == ';' || sign == '{' || sign == '}') break;
        if (sign != ')' && sign != ']') continue;
        at = file.partner(at);
        if (at < 2) break;
        if (sign == ']' && begins_lambda(file, at)) return at;
        const text name = file.text_at(at - 1);
        if (sign == ')' && is_word(name) && !is_listed(name, "noexcept requires")) return at - 1;
    }
    return open;
}

// If the function of `frame` is a coroutine that allocates its frame, returns "frame of work()" and
// gives `frame` the line of the function's name. Otherwise returns "".
inline text coroutine_frame(arena& memory, code_frame& frame, source_cache& sources) {
    if (is_standard_header(frame.file)) return no_text();
    const auto [file, at] = token_of(frame, sources);
    if (at == 0) return no_text();
    const char sign = sign_at(*file, at);
    const bool is_name = file->is_word_at(at) && sign_at(*file, at + 1) == '(';
    if (sign != '}' && sign != '[' && !is_name) return no_text();
    const std::size_t open = body_of(*file, at);
    if (open == 0 || !is_coroutine_body(*file, open)) return no_text();
    const std::size_t named = name_of_body(*file, open);
    frame.line = file->token(named).line;
    frame.column = 0;
    frame.is_nearby = true;
    text function = pretty_function(memory, frame.function);
    // With -g1, g++ does not name the scopes of an inlined lambda.
    if (function.starts_with("operator()")) function = "{lambda}";
    const function_name name = parse_function_name(memory, function);
    if (name.components.size() == 1 && function != "{lambda}") {
        // Nor does clang name those of an inlined function.
        const type_knowledge nothing;
        const name_scopes place{memory, *file, named, name, nothing};
        function = joined(memory, place.scopes_around_place(), function);
    }
    function = without_unnamed_namespaces(memory, function);
    const text whole = parse_function_name(memory, function).whole;
    return enclosed(memory, "frame of ", whole.empty() ? function : whole, "()");
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_COROUTINE_FRAME_HPP
