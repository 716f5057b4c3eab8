// cut_stacks.hpp - counts the rows at lines of libraries whose stacks were cut.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/text_head.hpp
// Threads:  any
// Memory:   none that is kept
//
// A row is at a line of a library if no frame of its stack is at one of the user's. If the stack
// has as many frames as the window records, frames further out were not recorded, and the user's
// line may be in one of them. Templates of libraries take more than 24 frames at -O0.

#ifndef ALLOCSCOPE_REPORT_CUT_STACKS_HPP
#define ALLOCSCOPE_REPORT_CUT_STACKS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/places/library_files.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A stack that ends at code without a line may be complete: main() and threads are called by such.
inline bool is_cut_in_library(arena& scratch, const snapshot::row& row, std::size_t most_frames) {
    if (row.line == 0 || row.user_frame >= row.frame_count) return false;
    std::size_t calls = 0;
    for (std::size_t i = 0; i < row.frame_count; ++i) calls += row.frames[i].is_inlined ? 0U : 1U;
    if (calls < most_frames || row.frames[row.frame_count - 1].line == 0) return false;
    return symbolize::is_library_file(scratch, row.frames[row.user_frame].file, {});
}

inline std::size_t rows_cut_in_libraries(arena& scratch, const snapshot& rows) {
    std::size_t count = 0;
    for (const snapshot::row& row : rows) {
        count += is_cut_in_library(scratch, row, rows.info().stack_frames) ? 1U : 0U;
    }
    return count;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_CUT_STACKS_HPP
