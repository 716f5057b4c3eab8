// annotated_snapshot.hpp - a copy of a snapshot with additional facts about its window.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by report/explain_memory.hpp and measure/timed_scope.hpp
// Threads:  any
// Memory:   a page or two; the rows and stacks stay in the original snapshot, which is kept

#ifndef ALLOCSCOPE_SNAPSHOT_ANNOTATED_SNAPSHOT_HPP
#define ALLOCSCOPE_SNAPSHOT_ANNOTATED_SNAPSHOT_HPP

#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/snapshot_difference.hpp>

#include <new>  // placement new

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline void drop_snapshot(void* kept) {
    static_cast<snapshot*>(kept)->~snapshot();
}

inline void find_stacks_of_kept(const snapshot_data&, const void* source, later_stacks& made) {
    const snapshot& kept = *static_cast<const snapshot*>(source);
    if (!kept.has_stacks()) refuse_memory();  // then the copy would have no stacks either
    const auto stacks = kept.stacks();
    const auto modules = kept.modules();
    const auto threads = kept.allocating_threads();
    made.table = {stacks.begin(), stacks.size(),   modules.begin(),
                  modules.size(), threads.begin(), threads.size()};
}

// `change(info, memory)` writes the additional facts; what they point to lies in `memory`.
template <class Change>
snapshot annotated(const snapshot& of, const Change& change) {
    snapshot_block block;
    if (!block.has_memory()) return refused_snapshot();
    snapshot::window_info info = of.info();
    const bool is_made = is_done_with_memory([&] {
        void* const place = block.memory().allocate(sizeof(snapshot));
        auto* const kept = ::new (place) snapshot{of};
        block.keep(kept_thing{kept, &drop_snapshot});
        block.set_stacks(&find_stacks_of_kept, kept);
        change(info, block.memory());
    });
    if (!is_made) return refused_snapshot();
    snapshot_data* const made = block.finish(info);
    made->rows = of.begin();
    made->row_count = of.size();
    made->live_objects = of.live_objects();
    made->live_bytes = of.live_bytes();
    made->info.families = info.families;
    made->info.family_count = info.family_count;
    return snapshot{made};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_ANNOTATED_SNAPSHOT_HPP
