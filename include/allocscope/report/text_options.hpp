// text_options.hpp - options for the look of a text report.
//
// Room:     report (floor 10), not malloc-safe
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
    objects,  // as in the snapshot: most objects first (in a difference: largest change)
    bytes     // most bytes first; equal rows in the order of the snapshot
};

enum class text_color {
    automatic,  // on a terminal, unless NO_COLOR is set and not empty or TERM is "dumb"
    never,
    always
};

struct text_options {
    // Lines are cut to this number of columns, which is at least 60. 0 means the width of the
    // terminal (the width that it reports, else COLUMNS, else 100); output that does not go to a
    // terminal is then not cut. file:line is never cut.
    std::uint32_t width = 0;
    text_color color = text_color::automatic;
    std::size_t rows = 50;  // the most rows; one last row sums up the others
    row_order sort = row_order::objects;
    // Stack frames shown below each row, from its file:line outwards; in a tree, the most calls in
    // each other, and 0 means all.
    std::uint32_t frames = 0;
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_OPTIONS_HPP
