// report_rows.hpp - selects and orders the rows of a snapshot that a report shows.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/text_table.hpp, and by tools/show/
// Threads:  any; the snapshot must outlive the selection
// Memory:   one pointer for each row, in the arena that is passed in
//
//     row_selection top = select_rows(memory, rows, row_order::bytes, 50);
//     for (const snapshot::row* row : top.shown) ...
//     top.rest.places;              // the number of rows not shown; `rest` has their sums, too

#ifndef ALLOCSCOPE_REPORT_REPORT_ROWS_HPP
#define ALLOCSCOPE_REPORT_REPORT_ROWS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

struct row_selection {
    struct remainder {
        std::size_t places = 0;
        std::uint64_t objects = 0;  // in a difference: two's complement
        std::uint64_t bytes = 0;
        std::uint64_t samples = 0;
        std::uint64_t byte_magnitude = 0;
        interval_reach objects_reach;  // of the intervals of these rows, combined
        interval_reach bytes_reach;
    };
    list<const snapshot::row*> shown;
    remainder rest;
    // The number that shares are parts of: all bytes; in a difference, all changes without signs.
    std::uint64_t byte_magnitude = 0;
};

inline row_selection select_rows(arena& memory, const snapshot& rows, row_order order,
                                 std::size_t most) {
    const bool is_difference = rows.info().is_difference;
    row_selection selection;
    selection.shown = list<const snapshot::row*>{memory};
    selection.shown.reserve(rows.size());
    for (const snapshot::row& row : rows) selection.shown.push_back(&row);
    if (order == row_order::bytes) {
        sort(selection.shown,
             [is_difference](const snapshot::row* left, const snapshot::row* right) {
                 return size_of_change(left->bytes, is_difference) >
                        size_of_change(right->bytes, is_difference);
             });
    }
    std::size_t shown_count = 0;
    for (const snapshot::row* row : selection.shown) {
        const std::uint64_t size = size_of_change(row->bytes, is_difference);
        selection.byte_magnitude += size;
        if (shown_count < most) {
            ++shown_count;
            continue;
        }
        row_selection::remainder& rest = selection.rest;
        ++rest.places;
        rest.objects += row->objects;
        rest.bytes += row->bytes;
        rest.samples += row->samples;
        rest.objects_reach.meet({row->objects, row->objects_low, row->objects_high}, true);
        rest.bytes_reach.meet({row->bytes, row->bytes_low, row->bytes_high}, true);
        rest.byte_magnitude += size;
    }
    selection.shown.cut(shown_count);
    return selection;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_REPORT_ROWS_HPP
