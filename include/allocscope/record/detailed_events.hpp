// detailed_events.hpp - what an event adds to a cohort of a window with options::details.
//
// Room:     record (floor 5), malloc-safe
// Called:   at each recorded event while such a window is open, and at no other event
// Threads:  any; locked instructions
// Memory:   in the cohort: see detailed_part
//
// The lifetimes of objects need no stored time for each object: the sum of the lifetimes is the sum
// of the times of death minus the sum of the times of birth. Objects that are alive count as if
// they died at the snapshot. The sums wrap around at 2^64; their difference is correct as long
// as it is below 2^63. Each sum changes together with the number of its events: a reader that comes
// in between finds as many times as events.
//
// An allocation is temporary when its thread frees it before it allocates anything else. To detect
// this, each thread remembers where the record of its newest object lies.
//
// state/followed_peak.hpp describes the peak. With one thread the peak is exact. With several, what
// other threads allocate or free at that moment may be counted or not.

#ifndef ALLOCSCOPE_RECORD_DETAILED_EVENTS_HPP
#define ALLOCSCOPE_RECORD_DETAILED_EVENTS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/size_classes.hpp>
#include <allocscope/state/followed_peak.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/cohort_table.hpp>

#include <cstdint>  // int64_t, uint32_t, uint64_t

ALLOCSCOPE_MILD_BEGIN

namespace detail {

// A time in units of 256 ticks of the processor's clock, about 0.1 us. In this unit the sum of all
// lifetimes in a cohort may reach 10^12 seconds.
constexpr std::uint64_t ticks_per_unit = 256;
ALLOCSCOPE_INLINE std::uint64_t time_in_units() noexcept {
    return __builtin_ia32_rdtsc() / ticks_per_unit;
}

// Called before each change of the cohort. The first call after a peak keeps what was alive then.
inline void keep_what_peak_had(const cohort& changing, detailed_part& part,
                               const followed_peak& peak) noexcept {
    const auto number = static_cast<std::uint64_t>(peak.peak_bytes.load(memory_order::acquire));
    const kept_at_peak known = part.kept.read();
    if (known.is_of(number)) return;
    // Deaths are read first, because every object that died was born before.
    const event_sum deaths = changing.deaths.read();
    const event_sum births = changing.births.read();
    const std::uint64_t objects = births.events - deaths.events;
    const std::uint64_t bytes = births.bytes - deaths.bytes;
    // If this fails, another thread was faster and has stored the same numbers.
    part.kept.replace(known, kept_at_peak::of(number, objects, bytes));
}

// Returns whether `live` is a new peak, and stores it if it is.
inline bool is_new_peak(followed_peak& peak, std::int64_t live) noexcept {
    std::int64_t highest = peak.peak_bytes.load(memory_order::relaxed);
    while (live > highest) {
        if (peak.peak_bytes.compare_exchange_weak(highest, live, memory_order::acq_rel)) {
            return true;
        }
    }
    return false;
}

// Called before a birth is counted. `place` is where the record lies. With null, the
// object is never recognised as the newest one.
ALLOCSCOPE_NOINLINE void note_birth(thread_state& thread, const cohort& counters, std::uint32_t id,
                                    std::uint64_t bytes, const void* place) noexcept {
    detailed_part& part = *process.cohorts.detailed_part_of(id);
    thread.last_born = place;
    part.birth_times.add(time_in_units());
    part.sizes[size_class_of(bytes)].add(1);
    followed_peak* const peak = process.followed.find(part.followed.load(memory_order::relaxed));
    if (peak == nullptr) return;
    const auto more = static_cast<std::int64_t>(bytes);
    const std::int64_t live = peak->live_bytes.fetch_add(more, memory_order::acq_rel) + more;
    if (!is_new_peak(*peak, live)) keep_what_peak_had(counters, part, *peak);
}

ALLOCSCOPE_NOINLINE void count_detailed_death(thread_state& thread, cohort& born, std::uint32_t id,
                                              std::uint64_t bytes, const void* place) noexcept {
    detailed_part& part = *process.cohorts.detailed_part_of(id);
    if (place != nullptr && place == thread.last_born) {
        // If another thread freed that object, the place may hold one of another thread by now.
        const std::uint32_t owner = born.facts().owner.load(memory_order::relaxed);
        if (owner == (thread.number | detailed_owner)) part.temporary.add(1);
        thread.last_born = nullptr;
    }
    followed_peak* const peak = process.followed.find(part.followed.load(memory_order::relaxed));
    if (peak != nullptr) {
        // A thread that has reached a new peak may not have stored it yet.
        is_new_peak(*peak, peak->live_bytes.load(memory_order::acquire));
        keep_what_peak_had(born, part, *peak);
        peak->live_bytes.fetch_sub(static_cast<std::int64_t>(bytes), memory_order::acq_rel);
    }
    part.death_times.add_shared(time_in_units());
    born.deaths.add_shared(bytes);  // last: a cohort without live objects may be used again
}

}  // namespace detail

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_RECORD_DETAILED_EVENTS_HPP
