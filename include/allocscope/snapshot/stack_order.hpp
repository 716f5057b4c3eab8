// stack_order.hpp - the order of snapshot::stacks().
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by everything that makes a list of stacks: naming/stacks_of_window.hpp,
//           snapshot/stacks_of_difference.hpp
// Threads:  any
// Memory:   as much as the list, while it is sorted

#ifndef ALLOCSCOPE_SNAPSHOT_STACK_ORDER_HPP
#define ALLOCSCOPE_SNAPSHOT_STACK_ORDER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Most bytes alive first (in a difference: the largest change), then most bytes allocated.
inline bool stack_comes_before(const snapshot::stack& a, const snapshot::stack& b,
                               bool is_difference) {
    const std::uint64_t a_bytes = size_of_change(a.bytes, is_difference);
    const std::uint64_t b_bytes = size_of_change(b.bytes, is_difference);
    if (a_bytes != b_bytes) return a_bytes > b_bytes;
    return size_of_change(a.bytes_allocated, is_difference) >
           size_of_change(b.bytes_allocated, is_difference);
}

inline void sort_stacks(list<snapshot::stack>& stacks, arena& scratch, bool is_difference) {
    sort(
        stacks.data(), stacks.size(),
        [is_difference](const snapshot::stack& a, const snapshot::stack& b) {
            return stack_comes_before(a, b, is_difference);
        },
        scratch);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SNAPSHOT_STACK_ORDER_HPP
