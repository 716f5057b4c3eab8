// closing_brace.hpp - moves a call from the closing brace to the line on which it is written.
//
// Room:     types (floor 8), not malloc-safe
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
// Only destructors are really called at a brace. If the code before and after the call has the same
// line, the call gets that line. Otherwise it gets the line of the code after it, because the
// temporaries of a call are made before the call. If that line is less than the line before, the
// code was moved, and the call stays at the brace.

#ifndef ALLOCSCOPE_TYPES_CLOSING_BRACE_HPP
#define ALLOCSCOPE_TYPES_CLOSING_BRACE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/function_name.hpp>
#include <allocscope/types/new_expressions.hpp>
#include <allocscope/types/source_cache.hpp>
#include <allocscope/types/source_of_frame.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether the line contains only a closing brace.
inline bool is_closing_brace(const source_outline& file, int line) noexcept {
    const list<source_token>& tokens = file.tokens();
    const std::size_t at = file.token_from(line, 0);
    if (at >= tokens.size() || tokens[at].line != line || !file.is_at(at, "}")) return false;
    return at + 1 == tokens.size() || tokens[at + 1].line != line;
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
    if (file == nullptr || !is_closing_brace(*file, frame.line)) return false;
    return at == 0 || !is_destructor(memory, frames[at - 1]);
}

inline void leave_closing_brace(code_frame& frame, const lines_near_call& nearest) noexcept {
    const int line = nearest.behind != 0 ? nearest.behind : nearest.before;
    if (line == 0) return;
    if (line < nearest.before) return;  // the code was moved, so no line is certain
    frame.line = line;
    frame.column = 0;
    frame.is_nearby = true;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_CLOSING_BRACE_HPP
