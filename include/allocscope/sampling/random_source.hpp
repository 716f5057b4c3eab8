// random_source.hpp - the random numbers that decide which allocations are sampled.
//
// Room:     sampling (floor 2), malloc-safe
// Called:   by sampling/sample_gap.hpp, once per sample
// Threads:  each thread has its own
// Memory:   8 bytes, in the owner
//
// splitmix64 (base/hash_mix.hpp). Every state is as good as any other, so any number will do as a
// seed. The seed is mixed first, so that the threads of a process may take seed, seed + 1, seed +
// 2, ... The numbers are not for secrets: anybody who sees a few of them can compute the next ones.

#ifndef ALLOCSCOPE_SAMPLING_RANDOM_SOURCE_HPP
#define ALLOCSCOPE_SAMPLING_RANDOM_SOURCE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

struct random_source {
    std::uint64_t state = 0;  // zero is a seed like any other: usable before seed()

    ALLOCSCOPE_FAST_PATH void seed(std::uint64_t number) noexcept {
        state = mix_64(number + golden_multiplier);
    }

    // Returns each of the 2^64 numbers once in 2^64 calls.
    ALLOCSCOPE_FAST_PATH std::uint64_t next() noexcept {
        state += golden_multiplier;
        return mix_64(state);
    }
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_SAMPLING_RANDOM_SOURCE_HPP
