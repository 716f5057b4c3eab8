// remembered_chain.hpp - the words that one walk depended on, and their addresses.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   as an entry of chain_memo.hpp
// Threads:  one thread's own
// Memory:   72 + at most 40 bytes for each frame
//
//     | head | pairs and their places: 24 bytes each | single words | modules | rules |
//
// Pairs and words are kept by twos, values beside values, so that one comparison sees 16 bytes.

#ifndef ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP
#define ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/unwind/module_identity.hpp>
#include <allocscope/unwind/stack_walk.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstdint>  // uint16_t ... uintptr_t

ALLOCSCOPE_TIGHT_BEGIN

namespace detail {

// A saved frame pointer and the return address above it.
struct alignas(16) frame_pair {
    std::uintptr_t saved_bp;
    std::uintptr_t return_address;
};

struct alignas(16) two_frame_pairs {
    std::uintptr_t places[2];
    frame_pair pairs[2];
};

// Two words that stand alone.
struct alignas(16) two_stack_words {
    std::uintptr_t addresses[2];
    std::uintptr_t values[2];
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
    std::uint16_t singles_end;
    void* counters;
    std::uint64_t record;
    const void* site;
    std::uint64_t sum;    // as in walked_stack
    std::uint64_t shape;  // as in walked_stack, made odd; 0: a module in it may be unloaded

    two_frame_pairs* pairs() noexcept { return reinterpret_cast<two_frame_pairs*>(this + 1); }
    ALLOCSCOPE_INLINE frame_pair& pair(std::uint32_t i) noexcept {
        return pairs()[i / 2].pairs[i % 2];
    }
    std::uintptr_t& place(std::uint32_t i) noexcept { return pairs()[i / 2].places[i % 2]; }
    two_stack_words* singles() noexcept {
        return reinterpret_cast<two_stack_words*>(reinterpret_cast<char*>(this) + singles_at);
    }
    std::uintptr_t& single_address(std::uint32_t i) noexcept {
        return singles()[i / 2].addresses[i % 2];
    }
    ALLOCSCOPE_INLINE std::uintptr_t& single_value(std::uint32_t i) noexcept {
        return singles()[i / 2].values[i % 2];
    }
    // Sum of module_tag over the frames in modules that may be unloaded.
    ALLOCSCOPE_INLINE std::uint64_t& module_sum() noexcept {
        return *reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(this) + singles_end);
    }
    ALLOCSCOPE_INLINE unwind_rule* rules() noexcept {
        return reinterpret_cast<unwind_rule*>(&module_sum() + 1);
    }

    // Pairs and singles are compared four at a time; the last four are filled up.
    static constexpr std::uint32_t in_fours(std::uint32_t count) noexcept {
        return (count + 3U) & ~std::uint32_t{3};
    }
    // Computes the layout for the counts that are set. Returns the bytes of all but the rules.
    std::uint32_t lay_out() noexcept {
        const auto bytes_of_pairs = in_fours(pair_count) / 2 * sizeof(two_frame_pairs);
        const auto bytes_of_singles = in_fours(single_count) / 2 * sizeof(two_stack_words);
        singles_at = static_cast<std::uint16_t>(sizeof(remembered_chain) + bytes_of_pairs);
        singles_end = static_cast<std::uint16_t>(singles_at + bytes_of_singles);
        return static_cast<std::uint32_t>(singles_end + sizeof(std::uint64_t));
    }
};
static_assert(sizeof(remembered_chain) == 64, "the head is one cache line");

// For an unchanged chain without a shape: whether the modules of its frames are still those that
// the walk met. Takes 30 ns for each module that may be unloaded.
ALLOCSCOPE_NOINLINE bool has_same_modules(remembered_chain& chain) noexcept {
    std::uint32_t pair = 0;
    std::uint32_t single = 0;
    const unwind_rule* const rules_of = chain.rules();
    module_identity here;
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < chain.frame_count; ++i) {
        const unwind_rule& rule = rules_of[i];
        const std::uintptr_t pc =
            rule.is_pair ? chain.pair(pair++).return_address : chain.single_value(single++);
        if (rule.life == module_life::permanent || rule.kind == rule_kind::unknown) continue;
        if (!here.holds(pc - 1)) here = identify_module(pc - 1);
        sum += here.tag();
    }
    return sum == chain.module_sum();
}

}  // namespace detail

ALLOCSCOPE_TIGHT_END

#endif  // ALLOCSCOPE_UNWIND_REMEMBERED_CHAIN_HPP
