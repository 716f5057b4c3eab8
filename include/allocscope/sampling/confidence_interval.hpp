// confidence_interval.hpp - the two bounds between which the true number lies, 95 times in 100.
//
// Room:     sampling (floor 2), malloc-safe
// Called:   when a sampled window is reported, through sampling/sample_sums.hpp
// Threads:  any
// Memory:   none
//
// The score interval (E. B. Wilson, "Probable inference, the law of succession, and statistical
// inference", Journal of the American Statistical Association 22, 1927; for counts it is the
// Poisson score interval) contains all numbers from which the estimate is at most z standard
// deviations away. The deviation is that of the number in question, not that of the estimate.
// Unlike estimate -+ z deviations, the interval never reaches below zero, and it holds even for a
// handful of samples.
//
// The deviation grows with the number: variance = unit * number, where the unit is the change that
// one sample more or less makes. When all samples are equal, the unit is variance / estimate. When
// they differ, it is the mean of their units, weighted by variance (skew / variance): objects that
// are certain add to the estimate, but must not make the others look more certain than they are.

#ifndef ALLOCSCOPE_SAMPLING_CONFIDENCE_INTERVAL_HPP
#define ALLOCSCOPE_SAMPLING_CONFIDENCE_INTERVAL_HPP

#include <allocscope/base/compiler.hpp>

ALLOCSCOPE_COLD_BEGIN

namespace detail {

struct confidence_interval {
    double low;
    double high;
};

// The solutions of (number - estimate)^2 = z^2 (variance + unit (number - estimate)).
inline confidence_interval score_interval(double estimate, double variance, double unit) noexcept {
    constexpr double z = 1.959964;  // 2.5% of a normal distribution lie above
    const double shift = z * z * unit / 2.0;
    const double reach = z * __builtin_sqrt(variance + z * z * unit * unit / 4.0);
    const double low = estimate + shift - reach;
    return {low > 0.0 ? low : 0.0, estimate + shift + reach};
}

// An estimate without variance is its own interval. Without samples there is no variance either,
// and the answer is 0 to 0. Nothing is known then, and the caller must say so.
ALLOCSCOPE_INLINE confidence_interval interval_95(double estimate, double variance) noexcept {
    if (!(variance > 0.0) || !(estimate > 0.0)) return {estimate, estimate};
    return score_interval(estimate, variance, variance / estimate);
}

// For samples that differ. A skew of 0 means that it is not known.
ALLOCSCOPE_INLINE confidence_interval interval_95(double estimate, double variance,
                                                  double skew) noexcept {
    if (!(variance > 0.0) || !(skew > 0.0)) return interval_95(estimate, variance);
    return score_interval(estimate, variance, skew / variance);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SAMPLING_CONFIDENCE_INTERVAL_HPP
