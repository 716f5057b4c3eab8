// source_of_frame.hpp - the source file in which the line of a frame stands, and the token there.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by everything that reads the source at a call
// Threads:  one source_cache belongs to one thread
// Memory:   of the source_cache

#ifndef ALLOCSCOPE_TYPES_SOURCE_OF_FRAME_HPP
#define ALLOCSCOPE_TYPES_SOURCE_OF_FRAME_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/new_expressions.hpp>
#include <allocscope/types/source_cache.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Returns null if the frame has no line, or if its source cannot be read.
inline const source_outline* source_of(const code_frame& frame, source_cache& sources) {
    if (frame.line <= 0 || frame.file.empty()) return nullptr;
    return sources.find(frame.file, frame.built_ns);
}

// The token at the place of a frame; 0: there is none. Sets `file` to the source of the frame.
inline std::size_t token_of(const code_frame& frame, source_cache& sources,
                            const source_outline*& file) {
    if (frame.column <= 0 || frame.is_nearby) return 0;
    file = source_of(frame, sources);
    const source_token* token =
        file != nullptr ? file->token_at(frame.line, frame.column) : nullptr;
    return token != nullptr ? static_cast<std::size_t>(token - file->tokens().begin()) : 0;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_SOURCE_OF_FRAME_HPP
