// window_sums.hpp - adds up the cohorts of a window.
//
// Room:     windows (floor 6), malloc-safe
// Called:   by counts(), stats() and when cohorts are reclaimed, under the control lock
// Threads:  the control lock keeps epochs in their lists; counting goes on meanwhile
// Memory:   none
//
// Deaths are read before births. Every object is born before it dies, so a death that is seen has
// a birth that will be seen: no sum is ever negative, whatever goes on meanwhile.

#ifndef ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP
#define ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/record/peak_tracking.hpp>
#include <allocscope/sampling/sample_sums.hpp>
#include <allocscope/state/epoch.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/cohort_table.hpp>

#include <atomic>   // atomic
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Calls visit(cohort, id) for every cohort of an epoch. Throws what `visit` throws.
template <class Visit>
inline void for_each_cohort(const epoch& of, Visit&& visit) {
    for (std::uint32_t id = of.cohorts.load(std::memory_order_acquire); id != 0;) {
        const cohort& found = *process.cohorts.by_id(id);
        const std::uint32_t next = found.facts().next.load(std::memory_order_relaxed);
        visit(found, id);
        id = next;
    }
}

// The objects that are meant: born on one thread or any, in [from, until) of the boundary clock.
struct birth_range {
    std::uint64_t from;
    std::uint64_t until;
    std::uint64_t instance;
};

inline birth_range births_in(const open_window& window) noexcept {
    return {window.open_at.load(std::memory_order_relaxed), ~std::uint64_t{0},
            window.instance.load(std::memory_order_relaxed)};
}

// Calls visit(cohort, id) for every cohort in the range. Older epochs cost nothing, because those
// of a thread are in order of time. Throws what `visit` throws.
template <class Visit>
inline void for_each_cohort_in(const birth_range& range, Visit&& visit) {
    for (thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        for (const epoch* e = t->newest_epoch.load(std::memory_order_acquire); e != nullptr;
             e = e->older.load(std::memory_order_relaxed)) {
            const std::uint64_t began_at = e->began_at.load(std::memory_order_relaxed);
            if (began_at < range.from) break;
            if (began_at >= range.until) continue;
            if (range.instance != every_thread &&
                range.instance != e->instance.load(std::memory_order_relaxed)) {
                continue;
            }
            for_each_cohort(*e, visit);
        }
    }
}

struct death_sum {
    std::uint64_t deaths = 0;
    std::uint64_t bytes = 0;
};

// The deaths of one cohort, on all threads.
inline death_sum deaths_of(const cohort& of, std::uint32_t id) noexcept {
    death_sum sum;
    sum.deaths = of.deaths.read();
    sum.bytes = of.death_bytes.read();
    for (const thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        const foreign_count* count = t->foreign.for_reading(id);
        if (count == nullptr) continue;
        sum.deaths += count->deaths.read();
        sum.bytes += count->death_bytes.read();
    }
    return sum;
}

inline sample_sums read_sums(const sampled_part::sums& from, std::uint64_t samples,
                             std::uint64_t bytes) noexcept {
    sample_sums sums;
    sums.samples = samples;
    sums.objects = from.objects.load(std::memory_order_relaxed);
    sums.bytes = static_cast<double>(bytes);
    sums.objects_variance = from.objects_variance.load(std::memory_order_relaxed);
    sums.bytes_variance = from.bytes_variance.load(std::memory_order_relaxed);
    sums.objects_skew = from.objects_skew.load(std::memory_order_relaxed);
    sums.bytes_skew = from.bytes_skew.load(std::memory_order_relaxed);
    return sums;
}

// What events add to a sampled window when each of them was recorded.
inline sample_sums certain_sums(std::uint64_t objects, std::uint64_t bytes) noexcept {
    sample_sums sums;
    sums.samples = objects;
    sums.objects = static_cast<double>(objects);
    sums.bytes = static_cast<double>(bytes);
    return sums;
}

inline sample_sums death_sums_of(const cohort& of, std::uint32_t id) noexcept {
    const death_sum deaths = deaths_of(of, id);
    if (!is_sampled(of)) return certain_sums(deaths.deaths, deaths.bytes);
    return read_sums(process.cohorts.sampled_part_of(id)->deaths, deaths.deaths, deaths.bytes);
}

inline sample_sums birth_sums_of(const cohort& of, std::uint32_t id) noexcept {
    const std::uint64_t births = of.births.read();
    const std::uint64_t bytes = of.birth_bytes.read();
    if (!is_sampled(of)) return certain_sums(births, bytes);
    return read_sums(process.cohorts.sampled_part_of(id)->births, births, bytes);
}

// What a window holds: exact numbers, or for a sampled one what they are estimated from.
struct window_sum {
    allocation_counts counts;
    sample_sums births;
    sample_sums deaths;
};

// Control lock. The totals of a window that is not sampled, without the peak.
inline allocation_counts sum_of(const birth_range& range,
                                const allocation_counts& retired) noexcept {
    allocation_counts sum = retired;
    for_each_cohort_in(range, [&sum](const cohort& c, std::uint32_t id) {
        const death_sum deaths = deaths_of(c, id);
        sum.frees += deaths.deaths;
        sum.bytes_freed += deaths.bytes;
    });
    for_each_cohort_in(range, [&sum](const cohort& c, std::uint32_t) {
        sum.allocations += c.births.read();
        sum.bytes_allocated += c.birth_bytes.read();
    });
    return sum;
}

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

// Control lock. The totals of a sampled window, without the peak.
inline window_sum sampled_totals(const birth_range& range, const retired_births& retired) noexcept {
    window_sum totals{{}, retired.births, retired.deaths};
    for_each_cohort_in(range, [&totals](const cohort& c, std::uint32_t id) {
        totals.deaths.add(death_sums_of(c, id));
    });
    for_each_cohort_in(range, [&totals](const cohort& c, std::uint32_t id) {
        totals.births.add(birth_sums_of(c, id));
    });
    totals.counts = counts_from(totals.births, totals.deaths);
    return totals;
}

// Control lock. The totals of any window, without the peak.
inline window_sum totals_in(const birth_range& range, recording how,
                            const retired_births& retired) noexcept {
    if (how == recording::sampled) return sampled_totals(range, retired);
    return {sum_of(range, retired.counts), {}, {}};
}

// Control lock. The numbers of an open window.
inline window_sum totals_of(const open_window& window, std::uint32_t slot) noexcept {
    window_sum totals = totals_in(births_in(window), window.wanted.record, window.retired);
    allocation_counts& counts = totals.counts;
    counts.peak_bytes = peak_of_window(slot, window.open_at.load(std::memory_order_relaxed));
    if (counts.peak_bytes < counts.live_bytes()) counts.peak_bytes = counts.live_bytes();
    return totals;
}

// What the tables have in memory, without the live object map.
inline std::uint64_t table_bytes() noexcept {
    std::uint64_t bytes = process.arena.used_bytes() + process.sites.used_bytes() +
                          process.cohorts.used_bytes() +
                          mapped_pages_bytes.load(std::memory_order_relaxed);
    for (const thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        bytes += t->memo.touched_bytes();
    }
    return bytes;
}

// How often this loss has happened since the process began.
inline std::uint64_t losses_ever(loss_reason reason) noexcept {
    std::uint64_t sum = 0;
    if (reason == loss_reason::no_memory_for_thread) {
        sum = process.events_without_state.load(std::memory_order_relaxed);
    }
    for (const thread_state* t = process.threads.load(std::memory_order_acquire); t != nullptr;
         t = t->next_state) {
        sum += t->losses[static_cast<std::uint32_t>(reason)].read();
    }
    return sum;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_WINDOWS_WINDOW_SUMS_HPP
