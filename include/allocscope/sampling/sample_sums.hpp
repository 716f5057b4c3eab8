// sample_sums.hpp - sums of samples: an estimate, and how certain it is.
//
// Room:     sampling (floor 2), malloc-safe
// Called:   when samples are recorded, and when a sampled window is reported
// Threads:  any; threads that share one have to guard it
// Memory:   56 bytes, in the owner
//
//     sample_sums born;
//     born.add(weigh_sample(bytes, mean));        // for each sample
//     sample_sums alive = born; alive.subtract(freed);
//     estimate objects = alive.objects_95();   // {2048, 560, 5240}
//
// Freed objects are subtracted with the weights with which they were added, so what is left is the
// sum over the samples that are alive. Doubles round: this sum may be wrong by some 1e-16 of
// everything ever added. When no sample is left, it is set to zero.

#ifndef ALLOCSCOPE_SAMPLING_SAMPLE_SUMS_HPP
#define ALLOCSCOPE_SAMPLING_SAMPLE_SUMS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/sampling/confidence_interval.hpp>
#include <allocscope/sampling/estimate.hpp>
#include <allocscope/sampling/sample_weight.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Rounds down. Numbers below 0 become 0; numbers that are too large become the largest one.
inline std::uint64_t whole_number(double number) noexcept {
    if (!(number > 0.0)) return 0;
    if (number >= 18446744073709551615.0) return 0xffffffffffffffffU;
    return static_cast<std::uint64_t>(number);
}

// Rounds the value to the nearest whole number, and the interval outwards, except where a double
// cannot tell an end from a whole number.
inline estimate rounded(double value, const confidence_interval& interval) noexcept {
    constexpr double slack = 1e-9;
    estimate whole;
    whole.value = whole_number(__builtin_floor(value + 0.5));
    whole.low = whole_number(__builtin_floor(interval.low * (1.0 + slack)));
    whole.high = whole_number(__builtin_ceil(interval.high * (1.0 - slack)));
    if (whole.low > whole.value) whole.low = whole.value;
    if (whole.high < whole.value) whole.high = whole.value;
    return whole;
}

struct sample_sums {
    std::uint64_t samples = 0;
    double objects = 0.0;
    double bytes = 0.0;
    double objects_variance = 0.0;
    double bytes_variance = 0.0;
    double objects_skew = 0.0;
    double bytes_skew = 0.0;

    void add(const sample_weight& weight) noexcept {
        add(sample_sums{1, weight.objects, weight.bytes, weight.objects_variance,
                        weight.bytes_variance, weight.objects_skew, weight.bytes_skew});
    }

    void add(const sample_sums& other) noexcept {
        samples += other.samples;
        objects += other.objects;
        bytes += other.bytes;
        objects_variance += other.objects_variance;
        bytes_variance += other.bytes_variance;
        objects_skew += other.objects_skew;
        bytes_skew += other.bytes_skew;
    }

    // `other` is part of these sums. Subtracting more samples than there are leaves nothing.
    void subtract(const sample_sums& other) noexcept {
        if (other.samples >= samples) {
            *this = sample_sums{};
            return;
        }
        samples -= other.samples;
        objects = rest_of(objects, other.objects);
        bytes = rest_of(bytes, other.bytes);
        objects_variance = rest_of(objects_variance, other.objects_variance);
        bytes_variance = rest_of(bytes_variance, other.bytes_variance);
        objects_skew = rest_of(objects_skew, other.objects_skew);
        bytes_skew = rest_of(bytes_skew, other.bytes_skew);
    }

    // The objects of one place, which is reported only because it was sampled. There are at least
    // as many objects as samples, because those were seen. After a single sample nothing more is
    // certain: many places that were never sampled had the same chance, and this place may hold
    // only this one object.
    estimate objects_95() const noexcept {
        estimate known = rounded(objects, interval_95(objects, objects_variance, objects_skew));
        if (known.value < samples) known.value = samples;
        if (known.low < samples || samples == 1) known.low = samples;
        if (known.high < known.value) known.high = known.value;
        return known;
    }
    estimate bytes_95() const noexcept {
        estimate known = rounded(bytes, interval_95(bytes, bytes_variance, bytes_skew));
        if (samples == 1) known.low = whole_number(bytes / objects + 0.5);
        if (known.low > known.value) known.low = known.value;
        return known;
    }

    // The objects of all places that were sampled every `sample_bytes`, whether or not they got a
    // sample. Objects without a sample can only add to those with one, so the upper end makes room
    // for as many as there may be: one sample of the smallest objects stands for
    // most_unseen_objects() objects, one of any objects for at most `sample_bytes` bytes. Without
    // any sample there are 0 to 3.84 * sample_bytes bytes, in 0 to 3.84 * sample_bytes / 16
    // objects. A narrower interval would need a guess of the sizes that were not sampled:
    // docs/decisions/0008.
    estimate objects_95(std::uint64_t sample_bytes) const noexcept {
        return with_room(objects_95(), objects, objects_variance,
                         most_unseen_objects(sample_bytes));
    }
    estimate bytes_95(std::uint64_t sample_bytes) const noexcept {
        const bool is_exact = sample_bytes <= 1;
        return with_room(bytes_95(), bytes, bytes_variance,
                         is_exact ? 0.0 : static_cast<double>(sample_bytes));
    }

private:
    static estimate with_room(estimate known, double value, double variance, double unit) noexcept {
        if (!(unit > 0.0)) return known;
        const estimate wider = rounded(value, score_interval(value, variance, unit));
        if (wider.high > known.high) known.high = wider.high;
        return known;
    }

    // A remainder that is only a rounding error becomes zero, because it would pass for a sample.
    static double rest_of(double whole, double part) noexcept {
        constexpr double rounding = 1e-12;
        const double rest = whole - part;
        return rest > whole * rounding ? rest : 0.0;
    }
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SAMPLING_SAMPLE_SUMS_HPP
