// family_sums.hpp - how much of a window belongs to operator new, and how much to each pool.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/live_window.hpp, with the counts that the rows are made of
// Threads:  any; under the walking lock
// Memory:   of the request's arena
//
// A family belongs to the site, so its sums are those of cohorts. Operator new gets the rest: the
// totals minus all other families.

#ifndef ALLOCSCOPE_NAMING_FAMILY_SUMS_HPP
#define ALLOCSCOPE_NAMING_FAMILY_SUMS_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/windows/window_reading.hpp>
#include <allocscope/windows/window_sums.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

struct family_sum {
    std::uint32_t family;      // the number of its tag
    allocation_counts counts;  // without the peak
    sample_sums births;        // in a sampled window: what the counts are estimated from
    sample_sums deaths;
};

using family_table = table<std::uint64_t, family_sum>;  // by the number: there may be thousands

// Null for operator new, which gets what is left.
inline family_sum* sum_of_family(family_table& sums, std::uint32_t family) {
    if (family == allocation_tags::operator_new) return nullptr;
    family_sum& sum = sums[family];
    sum.family = family;
    return &sum;
}

inline family_sum* sum_of_site(family_table& sums, std::uint32_t site) {
    return sum_of_family(sums, family_of_site(site));
}

inline void add_events(family_sum* to, const cohort_count& events) noexcept {
    if (to == nullptr) return;
    to->counts.allocations += events.births;
    to->counts.bytes_allocated += events.birth_bytes;
    to->counts.frees += events.deaths;
    to->counts.bytes_freed += events.death_bytes;
    to->births.add(certain_sums(events.births, events.birth_bytes));
    to->deaths.add(certain_sums(events.deaths, events.death_bytes));
}

inline void subtract_counts(allocation_counts& from, const allocation_counts& less) noexcept {
    from.allocations -= less.allocations;
    from.frees -= less.frees;
    from.bytes_allocated -= less.bytes_allocated;
    from.bytes_freed -= less.bytes_freed;
}

// Needs the walking lock. Adds all families but operator new's, with what was reclaimed of them.
inline void add_other_families(family_table& sums, const retired_births& retired,
                               const kept_counts& counts) {
    const retired_family_list& all = process.retired_families;
    for (std::uint32_t i = retired.families; i != 0; i = all.begin()[i - 1].next) {
        const retired_family& gone = all.begin()[i - 1];
        family_sum& sum = *sum_of_family(sums, gone.family);  // never operator new
        sum.counts = gone.counts;
        sum.births.add(gone.births);
        sum.deaths.add(gone.deaths);
    }
    for (const cohort_count& own : counts.own) {
        add_events(sum_of_site(sums, own.site), own);
    }
    for (const cohort_count& other : counts.foreign) {  // without births
        const cohort_facts& facts = process.cohorts.by_id(other.id)->facts();
        const std::uint32_t site = facts.site.load(memory_order::relaxed);
        add_events(sum_of_site(sums, site), other);
    }
    for (const sampled_count& each : counts.sampled) {
        family_sum* const sum = sum_of_site(sums, each.site);
        if (sum == nullptr) continue;
        sample_sums deaths = each.samples.births;
        deaths.subtract(each.samples.alive);
        sum->births.add(each.samples.births);
        sum->deaths.add(deaths);
    }
}

// Needs the walking lock. Divides the totals of a window by family, operator new first; gives no
// family if everything belongs to operator new. Throws std::bad_alloc.
inline void sum_families(list<family_sum>& sums, const retired_births& retired,
                         const kept_counts& counts, const window_sum& totals, bool in_samples) {
    if (!process.tags.has_families()) return;
    family_table found{sums.memory()};
    add_other_families(found, retired, counts);
    if (found.empty()) return;
    list<family_sum> others{sums.memory()};
    for (const auto& each : found) others.push_back(each.value);
    sort(others, [](const family_sum& a, const family_sum& b) { return a.family < b.family; });
    family_sum rest{allocation_tags::operator_new, totals.counts, totals.births, totals.deaths};
    for (family_sum& each : others) {
        if (in_samples) each.counts = counts_from(each.births, each.deaths);
        subtract_counts(rest.counts, each.counts);
        rest.births.subtract(each.births);
        rest.deaths.subtract(each.deaths);
    }
    if (in_samples) rest.counts = counts_from(rest.births, rest.deaths);
    if (rest.counts.allocations != 0) sums.push_back(rest);
    sums.append(others);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_FAMILY_SUMS_HPP
