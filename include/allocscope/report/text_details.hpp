// text_details.hpp - the places that mattered at the peak of a window with options::details.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/text_report.hpp, below the rows
// Threads:  any
// Memory:   of an arena, and the groups
//
//     what was alive at the peak of 1.2 MiB:
//
//     bytes  share  ...  allocations    at peak  of peak  temporary  mean life  place
//       0 B   0.0%  ...           12    1.1 MiB    91.7%          0    20.1 ms  load.cpp:7:char
//
// If the peak was not followed, it shows the places with most temporary allocations. In a
// difference it shows what has changed, and nothing if nothing has.

#ifndef ALLOCSCOPE_REPORT_TEXT_DETAILS_HPP
#define ALLOCSCOPE_REPORT_TEXT_DETAILS_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/group_by.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/report/number_units.hpp>
#include <allocscope/report/text_groups.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline void write_text_details(text_out& out, const snapshot& rows, const text_options& wanted,
                               std::size_t width) {
    constexpr std::size_t most_places = 10;
    const snapshot::window_info& info = rows.info();
    if (!info.has_details || rows.stacks().empty()) return;
    arena memory;
    text_options fewer = wanted;
    if (fewer.rows > most_places) fewer.rows = most_places;
    fewer.width = static_cast<std::uint32_t>(width);
    auto order = info.has_peak_details ? stack_value::peak_bytes : stack_value::temporary;
    snapshot_groups groups = rows.group_by(group_key::place, order);
    if (groups.empty()) return;  // at each place, as much was freed as was allocated
    if (info.is_difference) {
        // Both snapshots usually have the same peak: then temporary allocations say more.
        if (order == stack_value::peak_bytes && groups[0].peak_bytes == 0) {
            order = stack_value::temporary;
            groups = rows.group_by(group_key::place, order);
        }
        if (numbers_of(groups[0])[order] == 0) return;
    }
    if (order == stack_value::temporary) {
        out << "\nwhat was freed before the next allocation:\n\n";
    } else if (info.is_difference) {
        out << "\nchanges of what was alive at the peak, "
            << number_form{memory, true, false}.amount(info.totals.peak_bytes) << " in all:\n\n";
    } else {
        out << "\nwhat was alive at the peak of ";
        write_bytes(out, info.totals.peak_bytes);
        out << ":\n\n";
    }
    write_groups(out, memory, groups, fewer);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_TEXT_DETAILS_HPP
