// unplaced_allocations.hpp - says how much is in the totals of a window and in none of its stacks.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by formats/summary_lines.hpp and by the command-line program
// Threads:  any
// Memory:   of the text that is written to
//
// With options::details, when a thread ends or another window closes, stacks of which nothing is
// alive may be forgotten (windows/retired_cohorts.hpp). What they had allocated stays in the
// totals. So sums of stacks lack it, and whoever shows such sums says so.

#ifndef ALLOCSCOPE_REPORT_UNPLACED_ALLOCATIONS_HPP
#define ALLOCSCOPE_REPORT_UNPLACED_ALLOCATIONS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// `sum` is the sum of all stacks. Returns false, and writes nothing, if nothing is known to be
// missing in it.
inline bool write_unplaced(text_out& out, const snapshot::window_info& info,
                           const stack_numbers& sum) {
    const std::uint64_t allocations = info.estimates.allocations.value - sum.allocations;
    if (allocations == 0 || is_negative(allocations) || info.record != recording::exact ||
        info.is_filtered) {
        return false;
    }
    write_count(out, allocations, "allocation", "allocations");
    out << " of ";
    write_count(out, info.estimates.bytes_allocated.value - sum.bytes_allocated, "byte", "bytes");
    out << (allocations == 1 ? " is in the totals alone: its stack is not kept"
                             : " are in the totals alone: their stacks are not kept");
    return true;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_REPORT_UNPLACED_ALLOCATIONS_HPP
