// text_function.hpp - writes a function into columns that may be too few for its whole name.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by text_frames.hpp, text_table.hpp and number_columns.hpp
// Threads:  any
// Memory:   of the arena of the text
//
// What tells functions of the standard library apart is neither at the beginning nor at the end of
// their names, so parameters and template arguments give way first:
//
//     std::vector<int, std::allocator<int>>::push_back(const int&)  // 60 columns
//     std::vector::push_back                                        // 22 or more
//     std::ve..._back                                               // 15

#ifndef ALLOCSCOPE_REPORT_TEXT_FUNCTION_HPP
#define ALLOCSCOPE_REPORT_TEXT_FUNCTION_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/text_columns.hpp>
#include <allocscope/spelling/function_name.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

inline void write_function(text_out& out, text function, std::size_t columns) {
    if (columns_of(function) > columns) {
        const text plain = symbolize::plain_name(
            out.memory(), symbolize::parse_function_name(out.memory(), function));
        if (!plain.empty()) function = plain;
    }
    write_middle_cut(out, function, columns);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_TEXT_FUNCTION_HPP
