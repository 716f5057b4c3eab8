// followed_peak.hpp - the peak of a window with details, seen at every event.
//
// Room:     state (floor 4), malloc-safe
// Called:   by record/detailed_events.hpp at each event; by windows/ when a window begins or ends
// Threads:  any, with locked instructions; begun and ended under the control lock
// Memory:   576 bytes for all
//
// Which moment was the peak is known only later. So each cohort keeps what it had at the peak, and
// does that as late as possible: when it is about to change for the first time since the peak, it
// stores what it still has, and which peak that belongs to. A peak is identified by its bytes,
// because each new peak has more. At the end, a cohort that stored something for the last peak
// reports that. Any other cohort has not changed since, and reports what it has.
//
// One window at a time is followed: the first of the open windows with details.

#ifndef ALLOCSCOPE_STATE_FOLLOWED_PEAK_HPP
#define ALLOCSCOPE_STATE_FOLLOWED_PEAK_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>

#include <cstdint>  // int64_t, uint32_t, uint64_t

ALLOCSCOPE_MILD_BEGIN

namespace detail {

struct alignas(64) followed_peak {
    atomic<std::uint64_t> number{0};  // of the window's part that is followed; 0: none
    atomic<std::int64_t> live_bytes{0};
    atomic<std::int64_t> peak_bytes{0};
};

struct followed_peaks {
    // An event may still be working on the peak before this one, or on the one before that.
    static constexpr std::uint64_t kept = 8;
    followed_peak peaks[kept];

    // What is followed now. Written under the control lock.
    atomic<std::uint64_t> number{0};     // 0: nothing
    atomic<std::uint64_t> opened_at{0};  // of the followed window; no other window has the same
    atomic<std::uint64_t> instance{0};
    std::uint64_t last_number = 0;

    // Two clocks, read at the same moment before the first event with details; 0: there was none.
    std::uint64_t first_ticks = 0;
    std::uint64_t first_ns = 0;

    // Control lock. The number of the peak of the window that opened at that clock; 0: that window
    // is not followed.
    ALLOCSCOPE_INLINE std::uint64_t number_of(std::uint64_t window_opened_at) const noexcept {
        return opened_at.load(memory_order::relaxed) == window_opened_at
                   ? number.load(memory_order::relaxed)
                   : 0;
    }

    // Returns null when that peak is over.
    ALLOCSCOPE_INLINE followed_peak* find(std::uint64_t wanted) noexcept {
        followed_peak& found = peaks[wanted % kept];
        return wanted != 0 && found.number.load(memory_order::acquire) == wanted ? &found : nullptr;
    }
};

}  // namespace detail

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_STATE_FOLLOWED_PEAK_HPP
