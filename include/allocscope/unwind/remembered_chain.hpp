// remembered_chain.hpp - the words that one walk depended on, and their addresses.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   as an entry of chain_memo.hpp
// Threads:  one thread's own
// Memory:   72 + at most 40 bytes for each frame
//
//     | head | pairs: 16 bytes each | single words, places | places of pairs | modules | rules |

#ifndef ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP
#define ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/unwind/module_identity.hpp>
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

// One remembered chain. record/ writes and reads what the chain stands for.
struct alignas(64) remembered_chain {
    std::uintptr_t frame;  // where the walk began; 0: empty
    std::uint16_t pair_count;
    std::uint16_t single_count;
    std::uint16_t frame_count;
    std::uint8_t is_ordered;  // the frames with pairs are the innermost ones
    std::uint8_t method;
    std::uint32_t epoch;       // for which `counters` and `record` are valid; 0: for none
    std::uint16_t singles_at;  // in bytes from the chain's beginning, like the next
    std::uint16_t places_at;
    void* counters;
    std::uint64_t record;
    const void* site;
    std::uint64_t sum;    // as in walked_stack
    std::uint64_t shape;  // as in walked_stack, made odd; 0: a module in it may be unloaded

    frame_pair* pairs() noexcept { return reinterpret_cast<frame_pair*>(this + 1); }
    const frame_pair* pairs() const noexcept {
        return reinterpret_cast<const frame_pair*>(this + 1);
    }
    stack_word* singles() noexcept {
        return reinterpret_cast<stack_word*>(reinterpret_cast<char*>(this) + singles_at);
    }
    // The addresses of the pairs.
    std::uintptr_t* places() noexcept {
        return reinterpret_cast<std::uintptr_t*>(reinterpret_cast<char*>(this) + places_at);
    }
    // Sum of module_tag over the frames in modules that may be unloaded.
    std::uint64_t& module_sum() noexcept { return places()[in_fours(pair_count)]; }
    unwind_rule* rules() noexcept { return reinterpret_cast<unwind_rule*>(&module_sum() + 1); }

    // Pairs and singles are compared four at a time; the last four are filled up.
    static constexpr std::uint32_t in_fours(std::uint32_t count) noexcept {
        return (count + 3U) & ~std::uint32_t{3};
    }
    // Computes the layout for the counts that are set. Returns the bytes of all but the rules.
    std::uint32_t lay_out() noexcept {
        const std::uint32_t pairs = in_fours(pair_count);
        singles_at =
            static_cast<std::uint16_t>(sizeof(remembered_chain) + pairs * sizeof(frame_pair));
        places_at =
            static_cast<std::uint16_t>(singles_at + in_fours(single_count) * sizeof(stack_word));
        return static_cast<std::uint32_t>(places_at + (pairs + 1) * sizeof(std::uintptr_t));
    }
};
static_assert(sizeof(remembered_chain) == 64, "the head is one cache line");

// For an unchanged chain without a shape: whether the modules of its frames are still those that
// the walk met. Takes 30 ns for each module that may be unloaded.
ALLOCSCOPE_NOINLINE bool has_same_modules(remembered_chain& chain) noexcept {
    const frame_pair* pair = chain.pairs();
    const stack_word* single = chain.singles();
    const unwind_rule* const rules_of = chain.rules();
    module_identity here;
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < chain.frame_count; ++i) {
        const unwind_rule& rule = rules_of[i];
        const std::uintptr_t pc = rule.is_pair ? (pair++)->return_address : (single++)->value;
        if (rule.life == module_life::permanent || rule.kind == rule_kind::unknown) continue;
        if (!here.holds(pc - 1)) here = identify_module(pc - 1);
        sum += here.tag();
    }
    return sum == chain.module_sum();
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP
