// remembered_chain.hpp - the words that one walk depended on, and where they stood.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   as an entry of chain_memo.hpp
// Threads:  one thread's own
// Memory:   64 + at most 40 bytes for each frame
//
//     | head | pairs: 16 bytes each | their places | single words with places | rules |

#ifndef ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP
#define ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP

#include <allocscope/config.hpp>
#include <allocscope/unwind/stack_walk.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstdint>  // uint16_t ... uintptr_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A saved frame pointer and the return address above it.
struct alignas(16) frame_pair {
    std::uintptr_t saved_bp;
    std::uintptr_t return_address;
};

// One remembered chain. record/ fills and reads what the chain stands for.
struct alignas(64) remembered_chain {
    std::uintptr_t frame;  // where the walk began; 0: empty
    std::uint16_t pair_count;
    std::uint16_t single_count;
    std::uint16_t frame_count;
    std::uint16_t is_ordered;    // the frames with pairs are the innermost ones
    std::uint32_t epoch;         // in which `counters` and `record` are right; 0: in none
    std::uint16_t return_count;  // may be one more than frames
    std::uint16_t method;
    void* counters;
    std::uint64_t record;
    const void* site;
    std::uint64_t sum;    // hash_part of each frame's return address
    std::uint64_t shape;  // of this thread, never used again; 0: walk when anything differs

    frame_pair* pairs() noexcept { return reinterpret_cast<frame_pair*>(this + 1); }
    const frame_pair* pairs() const noexcept {
        return reinterpret_cast<const frame_pair*>(this + 1);
    }
    std::uintptr_t* places() noexcept {
        return reinterpret_cast<std::uintptr_t*>(pairs() + pair_count);
    }
    stack_word* singles() noexcept { return reinterpret_cast<stack_word*>(places() + pair_count); }
    unwind_rule* rules() noexcept {
        return reinterpret_cast<unwind_rule*>(singles() + single_count);
    }
};
static_assert(sizeof(remembered_chain) == 64, "the head is one cache line");

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP
