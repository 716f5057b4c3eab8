// estimates.hpp - from sums of samples to the numbers of a snapshot.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by whoever makes a snapshot of a window
// Threads:  any
// Memory:   none
//
//     info.estimates = sampled_estimates(totals, births, deaths, sample_bytes);
//     set_estimates(row, alive);

#ifndef ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP
#define ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/config.hpp>
#include <allocscope/sampling/estimate.hpp>
#include <allocscope/sampling/sample_sums.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr estimate exactly(std::uint64_t value) noexcept {
    return {value, value, value};
}

// What a window knows that records every event.
inline snapshot::window_estimates exact_estimates(const allocation_counts& totals) noexcept {
    return {exactly(totals.allocations),    exactly(totals.frees),
            exactly(totals.live_objects()), exactly(totals.bytes_allocated),
            exactly(totals.bytes_freed),    exactly(totals.live_bytes())};
}

// The interval of an estimate around a number that was rounded in another way.
inline estimate around(std::uint64_t value, const estimate& known) noexcept {
    return {value, known.low < value ? known.low : value, known.high > value ? known.high : value};
}

// `deaths` are part of `births`; `totals` are what the counts of the window say.
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

// All numbers of a row that are estimated: objects, bytes, samples, and the intervals.
inline void set_estimates(snapshot::row& row, const sample_sums& alive) noexcept {
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

// Of a row of a window that records every event: the numbers are known.
template <class Row>
void set_exact(Row& row) noexcept {
    row.objects_low = row.objects_high = row.objects;
    row.bytes_low = row.bytes_high = row.bytes;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_ESTIMATES_HPP
