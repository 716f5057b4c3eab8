// sourced_snapshot.hpp - a snapshot whose stacks may lie elsewhere, and how it keeps others alive.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by grouping/filter_stacks.hpp, and report/ for merged snapshots and differences
// Threads:  one at a time
// Memory:   of an arena of its own, until the block goes
//
//     kept_snapshots& kept = keep_snapshots(block, &of.rows, 1);     // as long as the block
//     auto* made = kept.memory().make<derived_stacks>(kept.memory());

#ifndef ALLOCSCOPE_GROUPING_SOURCED_SNAPSHOT_HPP
#define ALLOCSCOPE_GROUPING_SOURCED_SNAPSHOT_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>

#include <cstddef>  // size_t
#include <new>      // placement new

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A snapshot, and its stacks if they are not laid out there.
struct sourced_snapshot {
    snapshot rows;
    const stack_source* source = nullptr;
    shown_stacks stacks() const { return shown_stacks{rows, source}; }
};

// Keeps snapshots as long as the block of another one. It has memory of its own, because that of a
// finished block cannot grow.
class kept_snapshots {
public:
    kept_snapshots(const snapshot* first, std::size_t count)
        : first_(static_cast<snapshot*>(memory_.allocate(count * sizeof(snapshot)))) {
        for (; count_ < count; ++count_) {
            ::new (static_cast<void*>(first_ + count_)) snapshot{first[count_]};
        }
    }
    ~kept_snapshots() {
        for (std::size_t i = 0; i < count_; ++i) first_[i].~snapshot();
    }
    kept_snapshots(const kept_snapshots&) = delete;
    kept_snapshots& operator=(const kept_snapshots&) = delete;

    const snapshot* begin() const noexcept { return first_; }
    arena& memory() noexcept { return memory_; }

private:
    arena memory_;
    snapshot* first_;
    std::size_t count_ = 0;
};

// Throws std::bad_alloc.
inline kept_snapshots& keep_snapshots(snapshot_block& block, const snapshot* first,
                                      std::size_t count) {
    auto* const kept = block.memory().make<kept_snapshots>(first, count);
    block.keep({kept, [](void* all) { static_cast<kept_snapshots*>(all)->~kept_snapshots(); }});
    return *kept;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_SOURCED_SNAPSHOT_HPP
