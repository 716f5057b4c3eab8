// whole_difference.hpp - all that one snapshot has more than another: threads, families, details.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by the user and by the command-line program
// Threads:  any
// Memory:   as difference_from(); the stacks, when they are asked for first, 300 bytes for each
//           with details; both snapshots stay as long as it does; charged to no window
//
//     allocscope::snapshot change = allocscope::difference(later, earlier);
//     change.group_by(allocscope::group_key::thread);          // who has allocated more
//
// later.difference_from(earlier) has rows, stacks and totals, and is in every program. Here is what
// else can be subtracted, and what the result then means:
//
//     families      of each, allocations and frees in between; those without any are left out
//     threads       at each stack, what a thread has allocated in between, and what of its objects
//                   has gone, whoever freed it. Snapshots of two processes are taken for two runs
//                   of one program: a thread is the same when its number and name are
//     temporary,    allocations in between that were temporary, or of a class of sizes
//     sizes
//     peak_...      what was alive at the later peak, less what was at the earlier one: 0 where it
//                   is the same moment. The sum over the stacks is by how much the peak has risen
//     lifetime_us   of one window: for how long objects lived between the two snapshots, added up;
//                   also those of threads that did nothing meanwhile. No mean life comes of it:
//                   the objects need not be those that were allocated in between
//
// Details are there when both snapshots have them; a snapshot{} is one without anything.

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

// In the memory of the block.
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

// What a snapshot of no window has not is 0.
inline bool have_both(const snapshot& a, const snapshot& b, bool snapshot::window_info::*what) {
    if (is_of_no_window(a)) return b.info().*what;
    return a.info().*what && (is_of_no_window(b) || b.info().*what);
}

// Null: memory was refused.
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
    if (!rows.info().is_difference) return rows;  // of two that come from no window
    detail::snapshot_data* const made = detail::whole_difference(rows, later, earlier);
    return made != nullptr ? snapshot{made} : detail::refused_snapshot();
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_REPORT_WHOLE_DIFFERENCE_HPP
