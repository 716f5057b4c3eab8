// few_samples.hpp - when the reader of a sampled window must be told how little is known.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by what prints rows: snapshot/print_rows.hpp, report/
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_SNAPSHOT_FEW_SAMPLES_HPP
#define ALLOCSCOPE_SNAPSHOT_FEW_SAMPLES_HPP

#include <allocscope/config.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// From how many samples on a row is not called "few": with ten equal samples the truth lies between
// 0.54 and 1.84 times the estimate. One sample more or less matters little from there on.
constexpr std::uint64_t enough_samples = 10;

// Few samples, and an interval wider than half the number and than one object. (The weight of a
// sample that is larger than several means is known almost exactly: then one sample is enough.)
inline bool has_few_samples(const snapshot::row& row, bool is_difference) noexcept {
    const std::uint64_t size = size_of_change(row.objects, is_difference);
    const std::uint64_t width = row.objects_high - row.objects_low;
    return row.samples != 0 && row.samples < enough_samples && width > 1 && width > size / 2;
}

// A sampled window in which objects may be alive, and none of them was met by a sample. (With a
// sample in every byte they all are.)
inline bool is_all_unsampled(const snapshot& rows) noexcept {
    const snapshot::window_info& info = rows.info();
    return info.record == recording::sampled && rows.empty() && !info.is_difference &&
           info.not_recording[0] == '\0' && info.estimates.live_bytes.high != 0;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_FEW_SAMPLES_HPP
