// retired_cohorts.hpp - where the numbers of a cohort go whose memory is used again.
//
// Room:     windows (floor 6), malloc-safe
// Called:   by table_release.hpp, under the control lock
// Threads:  hooks go on meanwhile, but never with such a cohort
// Memory:   a list of the sites for the time of one reclaim
//
// They go to another such cohort of its site and thread, or if there is none, the cohort stays for
// those that come. So sums of stacks are whole. What threads that have ended allocated at a site is
// summed without their names. Cohorts with details are too large to stay: their numbers go to the
// totals of the windows that own them, and to no stack.

#ifndef ALLOCSCOPE_WINDOWS_RETIRED_COHORTS_HPP
#define ALLOCSCOPE_WINDOWS_RETIRED_COHORTS_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/base/owned_events.hpp>
#include <allocscope/platform/page_list.hpp>
#include <allocscope/sampling/own_arithmetic.hpp>
#include <allocscope/state/age_marks.hpp>
#include <allocscope/state/epoch.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/tables/cohort_table.hpp>
#include <allocscope/windows/window_sums.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Returns null when there is no memory. The family then counts as operator new's.
inline retired_family* retired_family_of(open_window& window, std::uint32_t family) noexcept {
    retired_family_list& all = process.retired_families;
    for (std::uint32_t i = window.retired.families; i != 0; i = all.begin()[i - 1].next) {
        if (all.begin()[i - 1].family == family) return all.begin() + (i - 1);
    }
    const std::size_t before = all.size();
    all.add({family, window.retired.families, {}, {}, {}});
    if (all.size() == before) return nullptr;
    window.retired.families = static_cast<std::uint32_t>(all.size());
    return all.end() - 1;
}

inline std::size_t count_of_families(const open_window& window) noexcept {
    const retired_family* const all = process.retired_families.begin();
    std::size_t count = 0;
    for (std::uint32_t i = window.retired.families; i != 0; i = all[i - 1].next) ++count;
    return count;
}

// Drops the entries of windows that have closed or begun anew, and moves the others together. Pages
// of a lasting area are not used again, so nothing moves when nothing goes.
inline void compact_retired_families() noexcept {
    retired_family_list& all = process.retired_families;
    std::size_t wanted = 0;
    for (std::uint32_t slot = 0; const open_window* each = process.windows.next_open(slot);) {
        wanted += count_of_families(*each);
    }
    if (all.size() == wanted) return;
    retired_family_list kept;
    for (std::uint32_t slot = 0; const open_window* window = process.windows.next_open(slot);) {
        for (std::uint32_t i = window->retired.families; i != 0;) {
            retired_family each = all.begin()[i - 1];
            i = each.next;
            each.next = i == 0 ? 0 : static_cast<std::uint32_t>(kept.size()) + 2;
            kept.add(each);
        }
    }
    if (kept.has_refused()) {
        kept.release();
        return;
    }
    std::uint32_t first = 1;
    for (std::uint32_t slot = 0; open_window* window = process.windows.next_open(slot);) {
        const std::size_t count = count_of_families(*window);
        if (count != 0) window->retired.families = first;
        first += static_cast<std::uint32_t>(count);
    }
    all.release();
    all = kept;
}

// Adds the births of a cohort of which nothing is alive, and their deaths.
inline void add_retired(allocation_counts& counts, const cohort& dead,
                        const event_sum& deaths) noexcept {
    const event_sum births = dead.births.read();
    counts.allocations += births.events;
    counts.bytes_allocated += births.bytes;
    counts.frees += deaths.events;
    counts.bytes_freed += deaths.bytes;
}

inline void retire_into_windows(const cohort& dead, std::uint32_t id, const epoch& of,
                                const event_sum& deaths) noexcept {
    const std::uint64_t born_at = of.began_at.load(memory_order::relaxed);
    const std::uint64_t instance = of.instance.load(memory_order::relaxed);
    const std::uint32_t family = family_of_site(dead.facts().site.load(memory_order::relaxed));
    for (std::uint32_t slot = 0; open_window* window = process.windows.next_open(slot);) {
        if (!window->owns(born_at, instance)) continue;
        retired_family* const own =
            family == allocation_tags::operator_new ? nullptr : retired_family_of(*window, family);
        if (window->wanted.record == recording::sampled) {
            const sample_sums births = birth_sums_of(dead, id);
            const sample_sums gone = death_sums_of(dead, id);
            window->retired.births.add(births);
            window->retired.deaths.add(gone);
            if (own == nullptr) continue;
            own->births.add(births);
            own->deaths.add(gone);
            continue;
        }
        add_retired(window->retired.counts, dead, deaths);
        if (own != nullptr) add_retired(own->counts, dead, deaths);
    }
}

// Whether the window owns both or neither, and has made no age mark between them.
inline bool makes_no_difference(const open_window& window, std::uint64_t born_at,
                                std::uint64_t instance, std::uint64_t other_born_at,
                                std::uint64_t other_instance) noexcept {
    const bool is_owned = window.owns(born_at, instance);
    if (is_owned != window.owns(other_born_at, other_instance)) return false;
    if (!is_owned || window.ages == nullptr || born_at == other_born_at) return true;
    age_mark marks[age_marks::most];
    const std::uint32_t count = window.ages->copy_to(marks);
    for (std::uint32_t i = 0; i < count; ++i) {
        if ((marks[i].clock <= born_at) != (marks[i].clock <= other_born_at)) return false;
    }
    return true;
}

inline void add_weights(sampled_part::sums& to, const sampled_part::sums& more) noexcept {
    const own_arithmetic own;
    const auto add = [](atomic<double>& sum, const atomic<double>& part) {
        sum.store(sum.load(memory_order::relaxed) + part.load(memory_order::relaxed),
                  memory_order::relaxed);
    };
    add(to.objects, more.objects);
    add(to.objects_variance, more.objects_variance);
    add(to.bytes_variance, more.bytes_variance);
    add(to.objects_skew, more.objects_skew);
    add(to.bytes_skew, more.bytes_skew);
}

// For each site a cohort without live objects that takes over the births of others. Only for the
// time of one reclaim.
class heirs_of_sites {
public:
    heirs_of_sites() = default;
    ~heirs_of_sites() { by_site_.release(); }
    heirs_of_sites(const heirs_of_sites&) = delete;
    heirs_of_sites& operator=(const heirs_of_sites&) = delete;

    // Returns whether the numbers of the cohort are elsewhere now: in its heir, or if there is no
    // memory, in the windows alone. If not, it is the heir itself from now on. `is_over`: the
    // thread of the epoch has ended.
    bool take_over(const cohort& dead, std::uint32_t id, const epoch& of, bool is_over,
                   const event_sum& deaths) noexcept {
        heir* const known = of_site(dead.facts().site.load(memory_order::relaxed));
        if (known == nullptr) {
            retire_into_windows(dead, id, of, deaths);
            return true;
        }
        const heir own{id, is_over, &of};
        const bool is_known =
            known->id != 0 && is_sampled(*process.cohorts.by_id(known->id)) == is_sampled(dead);
        if (!is_known || !is_like(*known, own)) {
            *known = own;
            return false;
        }
        cohort& to = *process.cohorts.by_id(known->id);
        to.births.add_sum(dead.births.read());
        to.deaths.add_sum(deaths);
        if (is_sampled(to)) {
            sampled_part& part = *process.cohorts.sampled_part_of(known->id);
            const sampled_part& more = *process.cohorts.sampled_part_of(id);
            add_weights(part.births, more.births);
            add_weights(part.deaths, more.deaths);
        }
        const std::uint32_t instance = dead.facts().instance.load(memory_order::relaxed);
        if (to.facts().instance.load(memory_order::relaxed) != instance) {
            const thread_state& common = *process.latecomer.load(memory_order::acquire);
            to.facts().instance.store(
                static_cast<std::uint32_t>(common.instance.load(memory_order::relaxed)),
                memory_order::relaxed);
        }
        return true;
    }

private:
    struct heir {
        std::uint32_t id;  // 0: none
        bool is_over;
        const epoch* of;
    };

    // Null if there is no memory.
    heir* of_site(std::uint32_t site) noexcept {
        while (by_site_.size() <= site && !by_site_.has_refused()) by_site_.add({});
        return by_site_.size() > site ? by_site_.begin() + site : nullptr;
    }

    static bool is_like(const heir& a, const heir& b) noexcept {
        const std::uint64_t instance = a.of->instance.load(memory_order::relaxed);
        const std::uint64_t other = b.of->instance.load(memory_order::relaxed);
        if (instance != other && !(a.is_over && b.is_over)) return false;
        const std::uint64_t born_at = a.of->began_at.load(memory_order::relaxed);
        const std::uint64_t other_born_at = b.of->began_at.load(memory_order::relaxed);
        for (std::uint32_t slot = 0; const open_window* each = process.windows.next_open(slot);) {
            if (!makes_no_difference(*each, born_at, instance, other_born_at, other)) return false;
        }
        return true;
    }

    page_list<heir> by_site_;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_WINDOWS_RETIRED_COHORTS_HPP
