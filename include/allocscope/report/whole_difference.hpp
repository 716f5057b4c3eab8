// whole_difference.hpp - subtracts one snapshot from another with threads, families and details.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by the user and by the command-line program
// Threads:  any
// Memory:   as difference_from(); when the stacks are first asked for, 360 bytes for each stack
//           with details; the result keeps both snapshots; charged to no window
//
//     allocscope::snapshot change = allocscope::difference(later, earlier);
//     change.group_by(allocscope::group_key::thread);          // which thread has allocated more
//
// later.difference_from(earlier) subtracts rows, stacks and totals, and every program has it. This
// header subtracts the rest, and the results mean:
//
//     families      allocations and frees in between; families without any are left out
//     threads       at each stack, what a thread has allocated in between, and how many of its
//                   objects any thread has freed. Snapshots of two processes count as two runs of
//                   one program: equal number and name mean the same thread
//     temporary,    allocations in between that were temporary, or of a class of sizes
//     sizes
//     peak_...      what was alive at the later peak, less what was alive at the earlier peak: 0 if
//                   both are the same moment. The sum over the stacks is the growth of the peak
//     lifetime_us   for two snapshots of one window: how long objects lived between them, added up,
//                   also objects of threads that did nothing meanwhile. It gives no mean life,
//                   because the objects need not be those that were allocated in between
//
// The difference has details if both snapshots have them; a snapshot{} counts as empty.

#ifndef ALLOCSCOPE_REPORT_WHOLE_DIFFERENCE_HPP
#define ALLOCSCOPE_REPORT_WHOLE_DIFFERENCE_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/derived_stacks.hpp>
#include <allocscope/grouping/sourced_snapshot.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/grouping/subtracted_stacks.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/report/merge_refusals.hpp>
#include <allocscope/report/merge_snapshots.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/snapshot_members.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// `source` points to two snapshots: the later one, then the earlier one.
inline void find_subtracted_stacks(const snapshot_data&, const void* source, later_stacks& made) {
    const auto* const sides = static_cast<const snapshot*>(source);
    for (std::size_t i = 0; i < 2; ++i) {
        if (!sides[i].has_stacks() && !is_of_no_window(sides[i])) refuse_memory();  // nor this one
    }
    derived_stacks change{made.memory};
    subtract_stacks(made.memory, change, shown_stacks{sides[0]}, shown_stacks{sides[1]});
    made.table = change.table(made.memory);
}

// The source of the stacks, in the memory of the block.
inline const stack_source* subtracted_source(arena& memory, const snapshot* sides,
                                             const stack_source* later,
                                             const stack_source* earlier) {
    auto* const change = memory.make<derived_stacks>(memory);
    subtract_stacks(memory, *change, shown_stacks{sides[0], later},
                    shown_stacks{sides[1], earlier});
    return memory.make<stack_source>(change->source());
}

inline snapshot::family negated(const snapshot::family& family) noexcept {
    return {family.name, 0 - family.allocations, 0 - family.frees, 0 - family.bytes_allocated,
            0 - family.bytes_freed};
}

inline void subtract_families(list<snapshot::family>& changed, const snapshot::window_info& later,
                              const snapshot::window_info& earlier) {
    if (later.family_count == 0 && earlier.family_count == 0) return;
    list<snapshot::family> sums{changed.memory()};
    for_each_family(later, [&](const snapshot::family& each) { add_to_family(sums, each); });
    for_each_family(earlier,
                    [&](const snapshot::family& each) { add_to_family(sums, negated(each)); });
    for (const snapshot::family& each : sums) {
        const std::uint64_t change =
            each.allocations | each.frees | each.bytes_allocated | each.bytes_freed;
        if (change != 0) changed.push_back(each);
    }
}

// Whether both have this. A snapshot of no window does not matter: its numbers are all 0.
inline bool have_both(const snapshot& a, const snapshot& b, bool snapshot::window_info::*what) {
    if (is_of_no_window(a)) return b.info().*what;
    return a.info().*what && (is_of_no_window(b) || b.info().*what);
}

// The result has no snapshot if memory was refused. With sources the stacks are subtracted at once,
// otherwise when stacks() is called.
inline sourced_snapshot whole_difference(const snapshot& rows, const sourced_snapshot& later,
                                         const sourced_snapshot& earlier, bool needs_stacks) {
    snapshot_block block;
    if (!block.has_memory()) return {refused_snapshot()};
    snapshot::window_info info = rows.info();
    info.has_details = have_both(later.rows, earlier.rows, &snapshot::window_info::has_details);
    info.has_peak_details =
        have_both(later.rows, earlier.rows, &snapshot::window_info::has_peak_details);
    const stack_source* source = nullptr;
    const bool is_made = is_done_with_memory([&] {
        const snapshot all[] = {rows, later.rows, earlier.rows};
        kept_snapshots& kept = keep_snapshots(block, all, 3);
        const snapshot* const sides = kept.begin() + 1;
        block.set_stacks(&find_subtracted_stacks, sides);
        const bool has_source = later.source != nullptr || earlier.source != nullptr;
        if (has_source && needs_stacks) {
            source = subtracted_source(kept.memory(), sides, later.source, earlier.source);
        }
        arena scratch;
        list<snapshot::family> families{scratch};
        subtract_families(families, later.rows.info(), earlier.rows.info());
        block.add_families(families);
    });
    if (!is_made) return {refused_snapshot()};
    snapshot_data* const made = block.finish(info);
    made->rows = rows.begin();
    made->row_count = rows.size();
    made->live_objects = rows.live_objects();
    made->live_bytes = rows.live_bytes();
    return {snapshot{made}, source};
}

inline sourced_snapshot difference(const sourced_snapshot& later, const sourced_snapshot& earlier,
                                   bool needs_stacks) {
    const pause_recording quietly;
    const snapshot rows = later.rows.difference_from(earlier.rows);
    if (!rows.info().is_difference) return {rows};  // both come from no window
    return whole_difference(rows, later, earlier, needs_stacks);
}

}  // namespace detail

inline snapshot difference(const snapshot& later, const snapshot& earlier) {
    return detail::difference({later}, {earlier}, false).rows;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_WHOLE_DIFFERENCE_HPP
