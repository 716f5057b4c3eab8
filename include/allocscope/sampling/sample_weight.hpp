// sample_weight.hpp - what one sample stands for.
//
// Room:     sampling (floor 2), malloc-safe
// Called:   when a sampled object is recorded, and when it is freed
// Threads:  any
// Memory:   none
//
// An object that is sampled with probability p stands for 1/p objects and size/p bytes. Summed over
// all samples, this gives the true number on average, whatever the sizes are (D. G. Horvitz, D. J.
// Thompson, "A generalization of sampling without replacement from a finite universe", Journal of
// the American Statistical Association 47, 1952). Each sample is corrected by its own probability
// before it is added; correcting the sum by an average size would be biased.
//
// For a mean of 512 KiB; an object counts 16 bytes more than its size (counted_bytes.hpp):
//
//     size       p          stands for objects   and bytes
//     0 B        0.00003    32768.5              0
//     16 B       0.00006    16384.5              256 KiB
//     8 KiB      0.0155     64.4                 515 KiB
//     512 KiB    0.632      1.58                 809 KiB
//     4 MiB      0.99966    1.0003               4 MiB
//     32 MiB     1          1                    32 MiB, exactly

#ifndef ALLOCSCOPE_SAMPLING_SAMPLE_WEIGHT_HPP
#define ALLOCSCOPE_SAMPLING_SAMPLE_WEIGHT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/sampling/counted_bytes.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// In the formulas x is 1 for objects, and the size for bytes.
struct sample_weight {
    double objects;  // x / p
    double bytes;
    double
        objects_variance;  // x^2 (1 - p) / p^2: its sum estimates the variance of the sum of x / p
    double bytes_variance;
    double objects_skew;  // x^3 (1 - p)^2 / p^3: see sampling/confidence_interval.hpp
    double bytes_skew;
};

// For an object that is recorded without being drawn, as all are while an exact window is open.
constexpr sample_weight weigh_certain(std::uint64_t bytes) noexcept {
    return {1.0, static_cast<double>(bytes), 0.0, 0.0, 0.0, 0.0};
}

// The weight of an object of `bytes` when one sample is taken in `mean` bytes. An object of 0 bytes
// stands for objects, but for no bytes. Where p is 1 as a double (for sizes from 38 means on;
// always when the mean is 1 or 0), the weight is exactly 1 and the variance exactly 0.
inline sample_weight weigh_sample(std::uint64_t bytes, std::uint64_t mean) noexcept {
    if (mean <= 1) return weigh_certain(bytes);
    const double size = static_cast<double>(bytes);
    const double ratio =
        (size + static_cast<double>(bytes_beside_each_object)) / static_cast<double>(mean);
    const double p = -__builtin_expm1(-ratio);  // 1 - exp(-ratio) would be 0 for small ratios
    if (p >= 1.0) return weigh_certain(bytes);
    const double missed = __builtin_exp(-ratio);
    const double objects = 1.0 / p;
    const double variance = missed * objects * objects;
    const double skew = variance * missed * objects;
    return {objects, size * objects,           variance, variance * size * size,
            skew,    skew * size * size * size};
}

// (1 - p) / p of an object of 0 bytes, which stands for the most objects that were not sampled.
ALLOCSCOPE_INLINE double most_unseen_objects(std::uint64_t mean) noexcept {
    if (mean <= 1) return 0.0;
    return 1.0 / __builtin_expm1(static_cast<double>(bytes_beside_each_object) /
                                 static_cast<double>(mean));
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SAMPLING_SAMPLE_WEIGHT_HPP
