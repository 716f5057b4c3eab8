// few_samples.hpp - decides when a reader of a sampled window must be told how little is known.
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

// A row with this many samples is not called "few": with ten equal samples the true number lies
// between 0.54 and 1.84 times the estimate. From there on, one sample more or less matters little.
constexpr std::uint64_t enough_samples = 10;

// Whether a row has few samples, and an interval that is wider than half of its number and than one
// object. (The weight of a sample that is several times as large as the mean is known almost
// exactly; then one sample is enough.)
inline bool has_few_samples(const snapshot::row& row, bool is_difference) noexcept {
    const std::uint64_t size = size_of_change(row.objects, is_difference);
    const std::uint64_t width = row.objects_high - row.objects_low;
    return row.samples != 0 && row.samples < enough_samples && width > 1 && width > size / 2;
}

// Whether objects may be alive in a sampled window, although no live object was sampled. (With a
// sample in every byte this cannot happen.)
inline bool is_all_unsampled(const snapshot& rows) noexcept {
    const snapshot::window_info& info = rows.info();
    return info.record == recording::sampled && rows.empty() && !info.is_difference &&
           info.not_recording[0] == '\0' && info.estimates.live_bytes.high != 0;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_FEW_SAMPLES_HPP
