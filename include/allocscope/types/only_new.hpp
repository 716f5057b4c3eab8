// only_new.hpp - moves a call from the declaration of a function to the only `new` in its body.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by naming/stack_namer.hpp, for a function whose code is that of another one
// Threads:  one
// Memory:   of the source_cache
//
//     static b* make_b() {         // declared here
//         return fill(new b);      // the call is moved here
//     }

#ifndef ALLOCSCOPE_TYPES_ONLY_NEW_HPP
#define ALLOCSCOPE_TYPES_ONLY_NEW_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/new_expressions.hpp>
#include <allocscope/types/source_cache.hpp>
#include <allocscope/types/source_of_frame.hpp>
#include <allocscope/types/type_from_source.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The brace that opens the body of the function that is declared on `line`; 0: not certain.
inline std::size_t body_below(const source_outline& file, int line) {
    bool has_parameters = false;
    for (std::size_t at = file.token_from(line, 0); at < file.tokens().size(); ++at) {
        const text token = file.text_at(at);
        if (token == "{") return has_parameters ? at : 0;
        if (is_listed(token, "; } : =")) return 0;  // a constructor may have braces before its body
        if (token != "(") continue;
        has_parameters = true;
        if (file.partner(at) <= at) return 0;
        at = file.partner(at);
    }
    return 0;
}

// Moves a frame that is at the declaration of its function, if the function itself asked for the
// memory.
inline void find_only_new(code_frame& frame, source_cache& sources) {
    const source_outline* file = source_of(frame, sources);
    if (file == nullptr) return;
    const std::size_t open = body_below(*file, frame.line);
    const std::size_t close = open != 0 ? file->partner(open) : 0;
    const list<new_expression>& all = file->expressions();
    const std::size_t first = file->first_from(open);
    const auto is_inside = [&](std::size_t i) { return i < all.size() && all[i].begin < close; };
    if (!is_inside(first) || is_inside(first + 1) || has_hidden_new(*file, open, close)) return;
    frame.line = file->tokens()[all[first].begin].line;
    frame.is_nearby = false;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_ONLY_NEW_HPP
