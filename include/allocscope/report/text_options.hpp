// text_options.hpp - how a text report looks.
//
// Room:     report (floor 9), not malloc-safe
// Called:   filled by the user, read by report/whole_report.hpp, report/text_table.hpp and
//           report/report_rows.hpp
// Threads:  a plain value
// Memory:   none
//
//     allocscope::text_options by_bytes;
//     by_bytes.sort = allocscope::row_order::bytes;
//     by_bytes.frames = 5;
//     allocscope::write_text(window.stats(), "heap.txt", by_bytes);

#ifndef ALLOCSCOPE_REPORT_TEXT_OPTIONS_HPP
#define ALLOCSCOPE_REPORT_TEXT_OPTIONS_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_NAMESPACE_BEGIN

enum class row_order {
    objects,  // as in the snapshot: most objects first (in a difference: the largest change)
    bytes     // most bytes first; equal ones in the snapshot's order
};

enum class text_color {
    automatic,  // on a terminal, unless NO_COLOR is set and not empty or TERM is "dumb"
    never,
    always
};

struct text_options {
    // Lines are cut to this many columns, at least 60. 0: to the width of the terminal (what it
    // says, else COLUMNS, else 100); what does not go to a terminal is then not cut at all.
    // file:line is never cut.
    std::uint32_t width = 0;
    text_color color = text_color::automatic;
    std::size_t rows = 50;  // at most so many; the others are summed in one last row
    row_order sort = row_order::objects;
    std::uint32_t frames = 0;  // stack frames shown below each row, from its file:line outwards
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_OPTIONS_HPP
