// report_rows.hpp - the rows of a snapshot in the order and number that a report shows.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by the writers that show a selection
// Threads:  any; the snapshot must outlive the selection
// Memory:   one pointer for each row
//
//     row_selection top = select_rows(rows, row_order::bytes, 50);
//     for (const snapshot::row* row : top.shown) ...
//     top.rest.places;              // how many rows are not shown, and what they add up to

#ifndef ALLOCSCOPE_REPORT_REPORT_ROWS_HPP
#define ALLOCSCOPE_REPORT_REPORT_ROWS_HPP

#include <allocscope/config.hpp>
#include <allocscope/snapshot/interval_reach.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <algorithm>  // stable_sort, min
#include <cstddef>    // size_t
#include <cstdint>    // uint64_t, int64_t
#include <vector>     // vector

ALLOCSCOPE_NAMESPACE_BEGIN

enum class row_order {
    objects,  // as in the snapshot: most objects first (in a difference: the largest change)
    bytes     // most bytes first; equal ones in the snapshot's order
};

namespace detail {

// In a difference both numbers are two's complement: how far they are from "no change".
inline std::uint64_t magnitude(std::uint64_t number, bool is_difference) noexcept {
    const bool is_negative = is_difference && static_cast<std::int64_t>(number) < 0;
    return is_negative ? std::uint64_t{0} - number : number;
}

struct row_selection {
    struct remainder {
        std::size_t places = 0;
        std::uint64_t objects = 0;  // in a difference: two's complement
        std::uint64_t bytes = 0;
        std::uint64_t samples = 0;
        std::uint64_t byte_magnitude = 0;
        interval_reach objects_reach;  // as far as the intervals of those rows reach together
        interval_reach bytes_reach;
    };
    std::vector<const snapshot::row*> shown;
    remainder rest;
    // What shares are of: all bytes; in a difference, all changes without their signs.
    std::uint64_t byte_magnitude = 0;
};

inline row_selection select_rows(const snapshot& rows, row_order order, std::size_t most) {
    const bool is_difference = rows.info().is_difference;
    row_selection selection;
    selection.shown.reserve(rows.size());
    for (const snapshot::row& row : rows) selection.shown.push_back(&row);
    if (order == row_order::bytes) {
        std::stable_sort(selection.shown.begin(), selection.shown.end(),
                         [is_difference](const snapshot::row* left, const snapshot::row* right) {
                             return magnitude(left->bytes, is_difference) >
                                    magnitude(right->bytes, is_difference);
                         });
    }
    const std::size_t shown_count = std::min(most, selection.shown.size());
    for (std::size_t i = 0; i < selection.shown.size(); ++i) {
        const snapshot::row& row = *selection.shown[i];
        selection.byte_magnitude += magnitude(row.bytes, is_difference);
        if (i < shown_count) continue;
        ++selection.rest.places;
        selection.rest.objects += row.objects;
        selection.rest.bytes += row.bytes;
        selection.rest.samples += row.samples;
        selection.rest.objects_reach.meet({row.objects, row.objects_low, row.objects_high}, true);
        selection.rest.bytes_reach.meet({row.bytes, row.bytes_low, row.bytes_high}, true);
        selection.rest.byte_magnitude += magnitude(row.bytes, is_difference);
    }
    selection.shown.resize(shown_count);
    return selection;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_REPORT_ROWS_HPP
