// whole_difference.hpp - all that one snapshot has more than another: threads, families, details.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by the user and by the command-line program
// Threads:  any
// Memory:   as difference_from(); when the stacks are first asked for, 300 bytes for each stack
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
//                   objects have gone, whoever freed them. Snapshots of two processes count as two
//                   runs of one program: equal number and name mean the same thread
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
#include <allocscope/grouping/subtracted_stacks.hpp>
#include <allocscope/measure/scope.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/report/merge_refusals.hpp>
#include <allocscope/report/merge_snapshots.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/snapshot_members.hpp>

#include <cstdint>           // uint64_t
#include <initializer_list>  // for over a list in braces
#include <new>               // placement new

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Lies in the memory of the block.
struct sides_of_difference {
    snapshot rows;  // the difference as every program can make it
    snapshot later;
    snapshot earlier;
};

inline void let_go_of_sides(void* kept) {
    static_cast<sides_of_difference*>(kept)->~sides_of_difference();
}

inline void find_subtracted_stacks(const snapshot_data&, const void* source, later_stacks& made) {
    const auto& sides = *static_cast<const sides_of_difference*>(source);
    for (const snapshot* side : {&sides.later, &sides.earlier}) {
        if (!side->has_stacks() && !is_of_no_window(*side)) refuse_memory();  // nor has this one
    }
    made.table = subtracted_stacks{made.memory, sides.later, sides.earlier}.table_of_stacks();
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

// What a snapshot of no window does not have counts as 0.
inline bool have_both(const snapshot& a, const snapshot& b, bool snapshot::window_info::*what) {
    if (is_of_no_window(a)) return b.info().*what;
    return a.info().*what && (is_of_no_window(b) || b.info().*what);
}

// Null if memory was refused.
inline snapshot_data* whole_difference(const snapshot& rows, const snapshot& later,
                                       const snapshot& earlier) {
    snapshot_block block;
    if (!block.has_memory()) return nullptr;
    snapshot::window_info info = rows.info();
    info.has_details = have_both(later, earlier, &snapshot::window_info::has_details);
    info.has_peak_details = have_both(later, earlier, &snapshot::window_info::has_peak_details);
    const bool is_made = is_done_with_memory([&] {
        void* const place = block.memory().allocate(sizeof(sides_of_difference));
        auto* const sides = ::new (place) sides_of_difference{rows, later, earlier};
        block.keep({sides, &let_go_of_sides});
        block.set_stacks(&find_subtracted_stacks, sides);
        arena scratch;
        list<snapshot::family> families{scratch};
        subtract_families(families, later.info(), earlier.info());
        block.add_families(families);
    });
    if (!is_made) return nullptr;
    snapshot_data* const made = block.finish(info);
    made->rows = rows.begin();
    made->row_count = rows.size();
    made->live_objects = rows.live_objects();
    made->live_bytes = rows.live_bytes();
    return made;
}

}  // namespace detail

inline snapshot difference(const snapshot& later, const snapshot& earlier) {
    const pause_recording quietly;
    const snapshot rows = later.difference_from(earlier);
    if (!rows.info().is_difference) return rows;  // both come from no window
    detail::snapshot_data* const made = detail::whole_difference(rows, later, earlier);
    return made != nullptr ? snapshot{made} : detail::refused_snapshot();
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_WHOLE_DIFFERENCE_HPP
