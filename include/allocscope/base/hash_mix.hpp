// hash_mix.hpp - one number from the return addresses of a stack.
//
// Room:     base (floor 0), malloc-safe
// Called:   when a stack is not the one its thread saw last at this place
// Threads:  any
// Memory:   none
//
// The hash only chooses where to look; the addresses themselves always decide equality. A stack's
// hash comes from a sum: each address is multiplied by a random number that belongs to its
// position, so no product waits for another. Only the low 32 bits of both factors are used, because
// SSE2 can multiply those. The numbers must be random: with a regular series, stacks that take the
// same turn at different depths (recursion, templates) would get equal hashes.

#ifndef ALLOCSCOPE_BASE_HASH_MIX_HPP
#define ALLOCSCOPE_BASE_HASH_MIX_HPP

#include <allocscope/base/compiler.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// 2^64 divided by the golden ratio, made odd: spreads consecutive numbers well.
constexpr std::uint64_t golden_multiplier = 0x9e3779b97f4a7c15U;

// The last step of splitmix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom
// number generators", OOPSLA 2014): a one-to-one mapping in which every bit of the result depends
// on every bit of the number.
ALLOCSCOPE_FAST_PATH constexpr std::uint64_t mix_64(std::uint64_t number) noexcept {
    number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
    return number ^ (number >> 31U);
}

// A number for each position: the high half of a number of the splitmix64 series, made odd.
constexpr std::uint64_t position_multiplier(std::uint32_t position) noexcept {
    return (mix_64((position + 1U) * golden_multiplier) >> 32U) | 1U;
}

struct position_table {
    static constexpr std::uint32_t size = 128;
    alignas(64) std::uint64_t multipliers[size];

    constexpr position_table() noexcept : multipliers() {
        for (std::uint32_t i = 0; i < size; ++i) multipliers[i] = position_multiplier(i);
    }
};
ALLOCSCOPE_HIDDEN inline constexpr position_table positions{};

// What the address at a position adds to the sum.
ALLOCSCOPE_FAST_PATH std::uint64_t hash_part(std::uint64_t address,
                                             std::uint32_t position) noexcept {
    return (address & 0xffffffffU) * positions.multipliers[position];
}

constexpr std::uint64_t hash_seed = 0x2545f4914f6cdd1dU;

ALLOCSCOPE_FAST_PATH std::uint64_t hash_step(std::uint64_t hash, std::uint64_t value) noexcept {
    return (hash ^ value) * golden_multiplier;
}

// Folds the strong high bits into the low ones, from which tables take their index.
ALLOCSCOPE_FAST_PATH std::uint64_t hash_finish(std::uint64_t hash) noexcept {
    return hash ^ (hash >> 32U);
}

// The hash of a stack, from the sum over its addresses. Addresses at equal distances (neighbouring
// functions) make sums at equal distances, so the sum is folded before it is multiplied.
ALLOCSCOPE_FAST_PATH std::uint64_t stack_hash(std::uint64_t sum) noexcept {
    return hash_finish(hash_finish(sum) * golden_multiplier);
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_BASE_HASH_MIX_HPP
