// estimate.hpp - an estimated number and the interval in which the true number lies.
//
// Room:     sampling (floor 2), malloc-safe
// Called:   filled by sampling/sample_sums.hpp, handed to the user by snapshot/
// Threads:  a plain value
// Memory:   24 bytes
//
//     allocscope::estimate alive = rows.info().estimates.live_objects;
//     alive.value;   // 2048, the best guess
//     alive.low;     //  797, and in 95 of 100 cases the truth is between these two
//     alive.high;    // 5268

#ifndef ALLOCSCOPE_SAMPLING_ESTIMATE_HPP
#define ALLOCSCOPE_SAMPLING_ESTIMATE_HPP

#include <allocscope/config.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

// low <= value <= high; all are equal when nothing is estimated. In a difference of snapshots all
// three are two's complement: cast them to std::int64_t. docs/sampling.md says what they mean.
struct estimate {
    std::uint64_t value = 0;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAMPLING_ESTIMATE_HPP
