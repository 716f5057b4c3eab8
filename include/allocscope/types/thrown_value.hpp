// thrown_value.hpp - finds the `throw` at the place where the memory of an exception is asked for.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by type_ladder.hpp and type_from_source.hpp
// Threads:  any
// Memory:   none
//
// The runtime allocates the exception: `throw` calls __cxa_allocate_exception, which calls malloc.
// Compilers place this call at one of two tokens:
//
//     throw app::failure("no such file");
//     ^ clang                          ^ g++
//
// A `new` at that place is a part of the value.

#ifndef ALLOCSCOPE_TYPES_THROWN_VALUE_HPP
#define ALLOCSCOPE_TYPES_THROWN_VALUE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/new_reader.hpp>
#include <allocscope/source/placed_new.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether the frame at `asking`, which asked for memory, throws what it asked for.
ALLOCSCOPE_PURE inline bool is_throwing(const list<code_frame>& frames,
                                        std::size_t asking) noexcept {
    return asking != 0 && frames[asking - 1].function == "__cxa_allocate_exception";
}

// Reads the `throw` at a place, which is that of a token. Returns false if there is none, or if its
// value cannot be read.
inline bool find_thrown(const source_outline& file, int line, int column, new_expression& found) {
    const std::size_t at = file.token_from(line, column);
    std::size_t begin = at;
    while (begin != 0 && !file.is_any_at(begin, "throw ; {")) {
        begin = file.begin_of_brackets(begin) - 1;
    }
    if (!file.is_at(begin, "throw")) {  // clang: the beginning of `n != 0 ? n : throw failure(n)`
        begin = at;
        while (begin < file.count() && !file.is_any_at(begin, "throw ; { }")) {
            begin = file.end_of_brackets(begin) + 1;
        }
        if (!file.is_any_at(begin - 1, "? :") || has_hidden_new(file, at, begin)) return false;
    }
    found.scope = file.scope_of(begin);
    return file.is_at(begin, "throw") && new_reader{file}.read_throw(begin, found) &&
           (at <= begin || at >= found.last);  // gcc: the last bracket of `throw (T(1));`
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_THROWN_VALUE_HPP
