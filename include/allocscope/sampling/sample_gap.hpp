// sample_gap.hpp - how many bytes until the next sample.
//
// Room:     sampling (floor 2), malloc-safe
// Called:   when a thread starts to sample, and after each sample
// Threads:  any; the random source is the caller's
// Memory:   none
//
// The gap is an exponentially distributed number, rounded up to whole bytes. Only the exponential
// distribution is memoryless: however long a thread has counted down, the next byte has the same
// chance. So every object is sampled independently of all others. An object that counts c bytes
// (sampling/counted_bytes.hpp) is sampled with probability 1 - exp(-c / mean), for which
// sampling/sample_weight.hpp corrects. Rounding up keeps this exact: the gap is at most c if, and
// only if, the unrounded number is.
//
//     countdown -= bytes_to_count(bytes);
//     if (countdown <= 0) { sample(); countdown = draw_gap(random, mean); }

#ifndef ALLOCSCOPE_SAMPLING_SAMPLE_GAP_HPP
#define ALLOCSCOPE_SAMPLING_SAMPLE_GAP_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/sampling/own_arithmetic.hpp>
#include <allocscope/sampling/random_source.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// No gap is longer than this, so that it fits a signed countdown.
constexpr std::uint64_t longest_sample_gap = 0x7fffffffffffffffU;

// An exponentially distributed number with mean 1, never 0 and at most 45.1. The uniform number is
// the middle of one of 2^64 steps. The logarithm is computed from the nearer end, where a double is
// fine enough to distinguish all steps. So gaps far below a mean of 2^62 are still right.
inline double draw_exponential(random_source& random) noexcept {
    constexpr double step = 1.0 / 18446744073709551616.0;  // 2^-64
    constexpr std::uint64_t half = std::uint64_t{1} << 63U;
    const std::uint64_t uniform = random.next();
    if (uniform < half) return -__builtin_log((static_cast<double>(uniform) + 0.5) * step);
    return -__builtin_log1p(-(static_cast<double>(~uniform) + 0.5) * step);
}

// Returns the number of bytes up to and including the sampled one: 1 to longest_sample_gap. With a
// mean of 1 or 0 the gap is always 1, so everything is recorded. Cost: about 20 ns.
inline std::uint64_t draw_gap(random_source& random, std::uint64_t mean) noexcept {
    if (mean <= 1) return 1;
    const own_arithmetic own;
    mean = own.within(mean);
    const double gap = draw_exponential(random) * static_cast<double>(mean);
    if (!(gap < static_cast<double>(longest_sample_gap))) return longest_sample_gap;
    const auto whole = static_cast<std::uint64_t>(gap);
    const std::uint64_t up = whole + (static_cast<double>(whole) < gap ? 1 : 0);
    return own.within(up > 1 ? up : 1);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SAMPLING_SAMPLE_GAP_HPP
