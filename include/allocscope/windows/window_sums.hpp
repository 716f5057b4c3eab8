// window_sums.hpp - sums what all threads have counted, and checks whether a sum is of one moment.
//
// Room:     windows (floor 6), malloc-safe
// Called:   by windows/window_reading.hpp and naming/, and when cohorts are reclaimed
// Threads:  the walking lock keeps tables in place; counting goes on meanwhile
// Memory:   none

#ifndef ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP
#define ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/record/answer_reading.hpp>
#include <allocscope/sampling/sample_sums.hpp>
#include <allocscope/state/epoch.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/cohort_table.hpp>
#include <allocscope/tables/foreign_deaths.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_WARM_BEGIN

namespace detail {

inline birth_range births_in(const open_window& window) noexcept {
    return {window.open_at.load(memory_order::relaxed), ~std::uint64_t{0},
            window.instance.load(memory_order::relaxed)};
}

// Calls visit(epoch) for each epoch of any thread in the range. Throws what `visit` throws.
template <class Visit>
inline void for_each_epoch_of_all(const birth_range& range, Visit&& visit) {
    for (const thread_state& each : all_threads()) {
        for_each_epoch_in(each, range, visit);
    }
}

// Calls visit(cohort, id) for each sampled cohort in the range. Throws what `visit` throws.
template <class Visit>
inline void for_each_sampled_cohort(const birth_range& range, Visit&& visit) {
    for_each_epoch_of_all(range, [&visit](const epoch& e) {
        if (is_of_samples(e)) for_each_cohort(e, visit);
    });
}

// The deaths of a cohort that were counted on other threads than its own.
inline event_sum foreign_deaths_of(std::uint32_t id) noexcept {
    event_sum sum;
    process.foreign.for_each(id, [&sum](const owned_events& count) { sum.add(count.read()); });
    return sum;
}

// The deaths of one cohort, on all threads.
inline event_sum deaths_of(const cohort& of, std::uint32_t id) noexcept {
    event_sum sum = foreign_deaths_of(id);
    sum.add(of.deaths.read());
    return sum;
}

// The deaths of all cohorts of events in the range that were counted on other threads than the
// cohort's own. Unless `counts` is null, also keeps those of each cohort that has some.
ALLOCSCOPE_NOINLINE event_sum foreign_deaths_in(const birth_range& range,
                                                page_list<cohort_count>* counts) noexcept {
    event_sum sum;
    if (counts != nullptr) counts->clear();
    if (process.foreign.is_empty()) return sum;
    for_each_epoch_of_all(range, [&](const epoch& e) {
        if (is_of_samples(e)) return;
        for_each_cohort(e, [&](const cohort&, std::uint32_t id) {
            const event_sum deaths = foreign_deaths_of(id);
            if (deaths.events == 0) return;
            sum.add(deaths);
            if (counts != nullptr) counts->add({0, 0, deaths.events, deaths.bytes, id, 0});
        });
    });
    return sum;
}

inline sample_sums read_sums(const sampled_part::sums& from, std::uint64_t samples,
                             std::uint64_t bytes) noexcept {
    sample_sums sums;
    sums.samples = samples;
    sums.objects = from.objects.load(memory_order::relaxed);
    sums.bytes = static_cast<double>(bytes);
    sums.objects_variance = from.objects_variance.load(memory_order::relaxed);
    sums.bytes_variance = from.bytes_variance.load(memory_order::relaxed);
    sums.objects_skew = from.objects_skew.load(memory_order::relaxed);
    sums.bytes_skew = from.bytes_skew.load(memory_order::relaxed);
    return sums;
}

// What events add to a sampled window if each of them was recorded.
inline sample_sums certain_sums(std::uint64_t objects, std::uint64_t bytes) noexcept {
    sample_sums sums;
    sums.samples = objects;
    sums.objects = static_cast<double>(objects);
    sums.bytes = static_cast<double>(bytes);
    return sums;
}

inline sample_sums death_sums_of(const cohort& of, std::uint32_t id) noexcept {
    const event_sum deaths = deaths_of(of, id);
    if (!is_sampled(of)) return certain_sums(deaths.events, deaths.bytes);
    return read_sums(process.cohorts.sampled_part_of(id)->deaths, deaths.events, deaths.bytes);
}

inline sample_sums birth_sums_of(const cohort& of, std::uint32_t id) noexcept {
    const event_sum births = of.births.read();
    if (!is_sampled(of)) return certain_sums(births.events, births.bytes);
    return read_sums(process.cohorts.sampled_part_of(id)->births, births.events, births.bytes);
}

// The numbers of a window: exact counts, or for a sampled window the sums that they are estimated
// from.
struct window_sum {
    allocation_counts counts;
    sample_sums births;
    sample_sums deaths;
};

// Objects and bytes of a sampled window. The frees are computed as the allocations minus what is
// alive, so that the numbers of a window agree when nothing of it is left.
inline allocation_counts counts_from(const sample_sums& births,
                                     const sample_sums& deaths) noexcept {
    sample_sums alive = births;
    alive.subtract(deaths);
    allocation_counts counts;
    counts.allocations = births.objects_95().value;
    counts.bytes_allocated = births.bytes_95().value;
    const std::uint64_t objects = alive.objects_95().value;
    const std::uint64_t bytes = alive.bytes_95().value;
    counts.frees =
        counts.allocations - (objects < counts.allocations ? objects : counts.allocations);
    counts.bytes_freed =
        counts.bytes_allocated - (bytes < counts.bytes_allocated ? bytes : counts.bytes_allocated);
    return counts;
}

// How many samples were taken, and how many have been freed.
inline std::uint64_t sample_events(const birth_range& range) noexcept {
    std::uint64_t events = 0;
    for_each_sampled_cohort(range, [&events](const cohort& c, std::uint32_t) {
        events += c.births.events() + c.deaths.events();
    });
    return events;
}

// The memory that the tables use, without the live object map.
inline std::uint64_t table_bytes() noexcept {
    std::uint64_t bytes = process.arena.used_bytes() + process.sites.used_bytes() +
                          process.cohorts.used_bytes() + process.pools.used_bytes() +
                          mapped_pages_bytes.load(memory_order::relaxed);
    for (const thread_state& each : all_threads()) {
        bytes += each.memo.touched_bytes();
    }
    return bytes;
}

// How often each loss has happened since the process began. One loop over the threads, because the
// losses of a thread lie side by side.
ALLOCSCOPE_NOINLINE void read_losses(std::uint64_t* sums) noexcept {
    constexpr auto count = static_cast<std::uint32_t>(loss_reason::count);
    for (std::uint32_t i = 0; i < count; ++i) sums[i] = 0;
    sums[static_cast<std::uint32_t>(loss_reason::no_memory_for_thread)] =
        process.events_without_state.load(memory_order::relaxed);
    for (const thread_state& each : all_threads()) {
        for (std::uint32_t i = 0; i < count; ++i) sums[i] += each.losses[i].read();
    }
}

ALLOCSCOPE_INLINE void subtract_losses(std::uint64_t* from, const std::uint64_t* before) noexcept {
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(loss_reason::count); ++i) {
        from[i] -= before[i];
    }
}

}  // namespace detail

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP
