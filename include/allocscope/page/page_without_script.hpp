// page_without_script.hpp - what a page shows if scripts do not run: totals and the top places.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_writer.hpp; formats/format_list.hpp needs its number of rows
// Threads:  one for each text that is written to
// Memory:   of that text, and an arena of its own while it is written

#ifndef ALLOCSCOPE_PAGE_PAGE_WITHOUT_SCRIPT_HPP
#define ALLOCSCOPE_PAGE_PAGE_WITHOUT_SCRIPT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/page/page_escapes.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

constexpr std::size_t rows_without_script = 50;

// Most bytes first; in a difference the largest change.
inline list<const snapshot::row*> rows_by_bytes(arena& memory, const snapshot& shown) {
    const auto size_of = [is_difference = shown.info().is_difference](const snapshot::row* row) {
        return size_of_change(row->bytes, is_difference);
    };
    list<const snapshot::row*> rows{memory};
    rows.reserve(shown.size());
    for (const snapshot::row& row : shown) rows.push_back(&row);
    sort(rows, [size_of](const snapshot::row* a, const snapshot::row* b) {
        return size_of(a) != size_of(b) ? size_of(a) > size_of(b) : a < b;
    });
    return rows;
}

inline void write_row_without_script(text_out& out, const snapshot::row& row, bool is_signed) {
    out << "<tr><td class=\"number\">";
    out << signed_decimal{row.objects, is_signed};
    out << "</td><td class=\"number\">";
    out << signed_decimal{row.bytes, is_signed};
    out << "</td><td>";
    write_page_text(out, row.file);
    if (row.line != 0) {
        out << ':' << decimal{static_cast<std::uint64_t>(row.line)};
    } else {
        out << "+0x" << hexadecimal{row.offset};
    }
    out << "</td><td>";
    write_page_text(out, row.type);
    out << "</td><td>";
    write_page_text(out, row.function);
    out << "</td></tr>\n";
}

// `head` is the lines of a text report above its rows.
inline void write_page_without_script(text_out& out, const shown_stacks& stacks, const text& head) {
    const snapshot& shown = stacks.rows();
    arena parts;
    out << "<pre>";
    write_page_lines(out, head);
    out << "</pre>\n<p>The chart and the whole table need scripts.</p>\n";
    if (shown.empty()) return;
    out << "<table><tr><th>Objects</th><th>Bytes</th><th>Place</th><th>Type</th>"
           "<th>Function</th></tr>\n";
    std::size_t written = 0;
    for (const snapshot::row* row : rows_by_bytes(parts, shown)) {
        if (written++ == rows_without_script) break;
        write_row_without_script(out, *row, shown.info().is_difference);
    }
    out << "</table>\n";
    if (stacks.row_count() > rows_without_script) {
        out << "<p>and " << decimal{stacks.row_count() - rows_without_script}
            << " more places</p>\n";
    }
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PAGE_PAGE_WITHOUT_SCRIPT_HPP
