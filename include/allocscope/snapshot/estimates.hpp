// estimates.hpp - computes the numbers of a snapshot and their intervals from sums of samples.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by naming/ when a snapshot is made, and by everything that sums, merges or subtracts
//           rows and stacks
// Threads:  any
// Memory:   none
//
//     info.estimates = sampled_estimates(totals, births, deaths, sample_bytes);
//     set_estimates(row, alive);

#ifndef ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP
#define ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/sampling/estimate.hpp>
#include <allocscope/sampling/sample_sums.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr estimate exactly(std::uint64_t value) noexcept {
    return {value, value, value};
}

// The numbers of a window that records every event.
inline snapshot::window_estimates exact_estimates(const allocation_counts& totals) noexcept {
    return {exactly(totals.allocations),    exactly(totals.frees),
            exactly(totals.live_objects()), exactly(totals.bytes_allocated),
            exactly(totals.bytes_freed),    exactly(totals.live_bytes())};
}

// The interval of an estimate, for a number that was rounded in another way.
inline estimate around(std::uint64_t value, const estimate& known) noexcept {
    return {value, known.low < value ? known.low : value, known.high > value ? known.high : value};
}

// `deaths` are part of `births`; `totals` are the counts of the window.
inline snapshot::window_estimates sampled_estimates(const allocation_counts& totals,
                                                    const sample_sums& births,
                                                    const sample_sums& deaths,
                                                    std::uint64_t sample_bytes) noexcept {
    sample_sums alive = births;
    alive.subtract(deaths);
    return {around(totals.allocations, births.objects_95(sample_bytes)),
            around(totals.frees, deaths.objects_95(sample_bytes)),
            around(totals.live_objects(), alive.objects_95(sample_bytes)),
            around(totals.bytes_allocated, births.bytes_95(sample_bytes)),
            around(totals.bytes_freed, deaths.bytes_95(sample_bytes)),
            around(totals.live_bytes(), alive.bytes_95(sample_bytes))};
}

// Sets all estimated numbers of a row or stack: objects, bytes, samples, and the intervals.
template <class Row>
inline void set_estimates(Row& row, const sample_sums& alive) noexcept {
    const estimate objects = alive.objects_95();
    const estimate bytes = alive.bytes_95();
    row.samples = alive.samples;
    row.objects = objects.value;
    row.objects_low = objects.low;
    row.objects_high = objects.high;
    row.bytes = bytes.value;
    row.bytes_low = bytes.low;
    row.bytes_high = bytes.high;
}

// For a row or stack of a window that records every event: its numbers are exact.
template <class Row>
ALLOCSCOPE_INLINE void set_exact(Row& row) noexcept {
    row.objects_low = row.objects_high = row.objects;
    row.bytes_low = row.bytes_high = row.bytes;
}

// How far an interval reaches below and above its number, while numbers are added and subtracted.
// The sum of distances is the root of the sum of their squares. This is right for estimates that do
// not depend on each other (the method of variance estimates recovery: G. Y. Zou, A. Donner,
// "Construction of confidence limits about effect measures", Statistics in Medicine 27, 2008). Two
// snapshots of one window share samples, so their estimates do depend on each other, and the
// interval of their difference is wider than necessary.
class interval_reach {
public:
    void meet(const estimate& number, bool is_added) noexcept {
        const double below = static_cast<double>(number.value - number.low);
        const double above = static_cast<double>(number.high - number.value);
        below_squared_ += is_added ? below * below : above * above;
        above_squared_ += is_added ? above * above : below * below;
    }

    estimate around(std::uint64_t value) const noexcept {
        return {value, value - whole_number(__builtin_ceil(__builtin_sqrt(below_squared_))),
                value + whole_number(__builtin_ceil(__builtin_sqrt(above_squared_)))};
    }

private:
    double below_squared_ = 0.0;
    double above_squared_ = 0.0;
};

// A row or a stack, to which others are added or from which others are subtracted.
template <class Row>
struct summed {
    Row sum;  // without its intervals
    interval_reach objects;
    interval_reach bytes;

    template <class Part>
    void add(const Part& part, bool is_added) noexcept {
        const std::uint64_t sign = is_added ? 1 : ~std::uint64_t{0};
        sum.objects += sign * part.objects;
        sum.bytes += sign * part.bytes;
        sum.samples += part.samples;
        objects.meet({part.objects, part.objects_low, part.objects_high}, is_added);
        bytes.meet({part.bytes, part.bytes_low, part.bytes_high}, is_added);
    }

    const Row& finished() noexcept {
        const estimate objects_95 = objects.around(sum.objects);
        const estimate bytes_95 = bytes.around(sum.bytes);
        sum.objects_low = objects_95.low;
        sum.objects_high = objects_95.high;
        sum.bytes_low = bytes_95.low;
        sum.bytes_high = bytes_95.high;
        return sum;
    }
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP
