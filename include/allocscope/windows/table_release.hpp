// table_release.hpp - reuses the memory of tables, or gives it back.
//
// Room:     windows (floor 6), malloc-safe
// Called:   at window boundaries and when a thread ends, under the control lock
// Threads:  hooks go on meanwhile
// Memory:   gives back that of the tables
//
// There are two ways, for two needs:
//
//   reclaim   under a long window. A cohort of a closed epoch of which nothing is alive can never
//             be touched again: its thread has moved on, and every object's death was counted. Its
//             numbers go to another such cohort of its site and thread, or if there is none, it
//             stays for those that come. What threads that have ended allocated at a site is
//             summed without their names. Cohorts with details are too large to stay: their
//             numbers go to the windows that own them. The id goes back to the thread.
//   release   after the last window, when the tables have grown. Everything is given back at once,
//             so no thread may be inside a hook. The gate is shut, and a fence in all threads makes
//             sure that each thread is either seen busy or sees the gate shut. The release waits
//             for a busy thread, but not for long; after that, the tables stay until the next time.

#ifndef ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP
#define ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/thread_fence.hpp>
#include <allocscope/state/epoch.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/tables/cohort_table.hpp>
#include <allocscope/tables/live_object_map.hpp>
#include <allocscope/windows/window_sums.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

#include <pthread.h>  // pthread_mutex_trylock
#include <sched.h>    // sched_yield

ALLOCSCOPE_RARE_BEGIN

namespace detail {

// While an object of this class lives, sums are only half moved. The flag says so to a child that
// was forked without handlers.
class moving_sums {
public:
    moving_sums() noexcept { process.are_sums_moving.store(true, memory_order::seq_cst); }
    ~moving_sums() { process.are_sums_moving.store(false, memory_order::release); }
    moving_sums(const moving_sums&) = delete;
    moving_sums& operator=(const moving_sums&) = delete;
};

// --- reclaim ---

// Any thread may have counted deaths of the cohort. Its id must start from zero when it is reused.
inline void clear_foreign_deaths(std::uint32_t id) noexcept {
    process.foreign.for_each(id, [](owned_events& count) { count.clear(); });
}

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
    process.windows.for_each_open(
        [&wanted](const open_window& window) { wanted += count_of_families(window); });
    if (all.size() == wanted) return;
    retired_family_list kept;
    process.windows.for_each_open([&](const open_window& window) {
        for (std::uint32_t i = window.retired.families; i != 0;) {
            retired_family each = all.begin()[i - 1];
            i = each.next;
            each.next = i == 0 ? 0 : static_cast<std::uint32_t>(kept.size()) + 2;
            kept.add(each);
        }
    });
    if (kept.has_refused()) {
        kept.release();
        return;
    }
    std::uint32_t first = 1;
    process.windows.for_each_open([&](open_window& window) {
        const std::size_t count = count_of_families(window);
        if (count != 0) window.retired.families = first;
        first += static_cast<std::uint32_t>(count);
    });
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
    process.windows.for_each_open([&](open_window& window) {
        if (!window.owns(born_at, instance)) return;
        retired_family* const own =
            family == allocation_tags::operator_new ? nullptr : retired_family_of(window, family);
        if (window.wanted.record == recording::sampled) {
            const sample_sums births = birth_sums_of(dead, id);
            const sample_sums gone = death_sums_of(dead, id);
            window.retired.births.add(births);
            window.retired.deaths.add(gone);
            if (own == nullptr) return;
            own->births.add(births);
            own->deaths.add(gone);
            return;
        }
        add_retired(window.retired.counts, dead, deaths);
        if (own != nullptr) add_retired(own->counts, dead, deaths);
    });
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
        bool is_same = true;
        process.windows.for_each_open([&](const open_window& window) {
            is_same =
                is_same && makes_no_difference(window, born_at, instance, other_born_at, other);
        });
        return is_same;
    }

    page_list<heir> by_site_;
};

// Puts an item on the list from which its thread takes it again.
template <class Item>
inline void push_returned(atomic<Item>& head, Item item, atomic<Item>& link) noexcept {
    Item first = head.load(memory_order::relaxed);
    do {
        link.store(first, memory_order::relaxed);
        // Release: the thread that takes the item sees the cleared counters.
    } while (!head.compare_exchange_weak(first, item, memory_order::acq_rel));
}

// Removes the cohorts without live objects from a closed epoch, but for the heirs.
inline void reclaim_epoch(thread_state& thread, epoch& closed, heirs_of_sites& heirs) noexcept {
    const bool is_over =
        !thread.is_taken.load(memory_order::acquire) ||
        thread.instance.load(memory_order::relaxed) != closed.instance.load(memory_order::relaxed);
    std::uint32_t kept_last = 0;
    std::uint32_t id = closed.cohorts.load(memory_order::relaxed);
    while (id != 0) {
        cohort& c = *process.cohorts.by_id(id);
        const std::uint32_t next = c.facts().next.load(memory_order::relaxed);
        const event_sum deaths = deaths_of(c, id);
        const bool has_live = deaths.events != c.births.events();
        if (has_live || (!is_detailed(c) && !heirs.take_over(c, id, closed, is_over, deaths))) {
            kept_last = id;
            id = next;
            continue;
        }
        if (is_detailed(c)) retire_into_windows(c, id, closed, deaths);
        clear_foreign_deaths(id);
        if (kept_last == 0) {
            closed.cohorts.store(next, memory_order::relaxed);
        } else {
            process.cohorts.by_id(kept_last)->facts().next.store(next, memory_order::relaxed);
        }
        push_returned(is_sampled(c)    ? thread.returned_sampled
                      : is_detailed(c) ? thread.returned_detailed
                                       : thread.returned_cohorts,
                      id, c.facts().next);
        id = next;
    }
}

// The newest epoch of a thread may still grow; all older ones are closed for good.
inline void reclaim_thread(thread_state& thread, heirs_of_sites& heirs) noexcept {
    epoch* newer = thread.newest_epoch.load(memory_order::acquire);
    if (newer == nullptr) return;
    for (epoch* e = newer->older.load(memory_order::relaxed); e != nullptr;) {
        epoch* older = e->older.load(memory_order::relaxed);
        reclaim_epoch(thread, *e, heirs);
        if (e->cohorts.load(memory_order::relaxed) == 0) {
            newer->older.store(older, memory_order::relaxed);
            push_returned(thread.returned_epochs, e, e->older);
        } else {
            newer = e;
        }
        e = older;
    }
}

inline std::uint64_t cohorts_ever_made() noexcept {
    std::uint64_t sum = 0;
    for (const thread_state& each : all_threads()) {
        sum += each.new_cohorts.read();
    }
    return sum;
}

// Reclaims when enough cohorts have been made since the last time to justify a loop over all of
// them. Called while nobody reads the tables.
inline void reclaim_unread() noexcept {
    process.is_reclaim_put_off = false;
    constexpr std::uint64_t least = 2048;
    const std::uint64_t made = cohorts_ever_made();
    const std::uint64_t since = made - process.cohorts_at_last_reclaim;
    if (since < least || since < process.cohorts_kept * 2) return;
    // Each cohort that is reclaimed has to be added to each window that owns it.
    constexpr std::uint32_t many_windows = 1024;
    if (process.windows.open_count() > many_windows) return;
    const moving_sums meanwhile;
    compact_retired_families();
    heirs_of_sites heirs;
    for (thread_state& each : all_threads()) {
        reclaim_thread(each, heirs);
    }
    process.cohorts_at_last_reclaim = made;
    std::uint64_t kept = 0;
    for (thread_state& each : all_threads()) {
        for (epoch* e = each.newest_epoch.load(memory_order::acquire); e != nullptr;
             e = e->older.load(memory_order::relaxed)) {
            for_each_cohort(*e, [&kept](const cohort&, std::uint32_t) { ++kept; });
        }
    }
    process.cohorts_kept = kept;
}

// Does the same. If the tables are being read, the reader does it afterwards.
inline void reclaim_when_due() noexcept {
    if (::pthread_mutex_trylock(&process.walking) != 0) {
        process.is_reclaim_put_off = true;
        return;
    }
    reclaim_unread();
    ::pthread_mutex_unlock(&process.walking);
}

// --- release ---

// True when no thread is inside a hook, and none can come in before the gate opens again.
ALLOCSCOPE_INLINE bool all_threads_are_outside() noexcept {
    constexpr int most_yields = 2000;
    if (!fence_all_threads()) return false;
    for (thread_state& each : all_threads()) {
        // Acquire: pairs with the release in leave().
        for (int i = 0; each.busy.load(memory_order::acquire) != 0; ++i) {
            if (i == most_yields) return false;
            ::sched_yield();
        }
    }
    return true;
}

inline void release_thread_tables(thread_state& thread) noexcept {
    thread.question.counts.release();
    thread.question.step.store(question_step::nobody_asks, memory_order::relaxed);
    thread.memo.release();
    thread.cohorts.release();
    thread.foreign.release();
    thread.newest_epoch.store(nullptr, memory_order::relaxed);
    thread.returned_cohorts.store(0, memory_order::relaxed);
    thread.returned_sampled.store(0, memory_order::relaxed);
    thread.returned_detailed.store(0, memory_order::relaxed);
    thread.returned_epochs.store(nullptr, memory_order::relaxed);
    thread.next_cohort = thread.next_detailed = 0;
    thread.last_cohort = thread.last_detailed = 0;
}

// Called while the gate is shut and nobody reads the tables. Returns false when a thread is still
// inside a hook; then nothing was given back.
inline bool release_unread_tables() noexcept {
    if (!all_threads_are_outside()) return false;
    process.is_releasing.store(true, memory_order::seq_cst);
    for (thread_state& each : all_threads()) {
        release_thread_tables(each);
    }
    process.objects.wipe();
    process.samples.wipe();
    process.pools.release();
    process.retired_families.release();
    process.foreign.release();
    process.cohorts.release();
    process.sites.release();
    process.arena.release();
    ++process.tables;
    process.session = 1;
    process.births_since_wipe = 0;
    process.cohorts_at_last_reclaim = cohorts_ever_made();
    process.cohorts_kept = 0;
    process.is_releasing.store(false, memory_order::release);
    return true;
}

// Does the same. Also returns false while the tables are being read.
inline bool release_tables() noexcept {
    if (::pthread_mutex_trylock(&process.walking) != 0) return false;
    const bool is_released = release_unread_tables();
    ::pthread_mutex_unlock(&process.walking);
    return is_released;
}

// Births on all threads in epochs that began at `clock` or later; stops counting at `enough`.
ALLOCSCOPE_INLINE std::uint64_t births_since(std::uint64_t clock, std::uint64_t enough) noexcept {
    std::uint64_t births = 0;
    for (thread_state& each : all_threads()) {
        for (epoch* e = each.newest_epoch.load(memory_order::acquire); e != nullptr;
             e = e->older.load(memory_order::relaxed)) {
            if (e->began_at.load(memory_order::relaxed) < clock || births >= enough) break;
            for_each_cohort(
                *e, [&births](const cohort& c, std::uint32_t) { births += c.births.events(); });
        }
    }
    return births;
}

// How much may stay mapped after the last window, so that a suite of small windows does not map and
// unmap all the time. The promise is 2 MiB; the difference is for memory that is not counted here.
constexpr std::size_t kept_bytes = std::size_t{1536} * 1024;

// Called when the last window has closed and the gate is shut.
inline void end_session() noexcept {
    process.births_since_wipe += births_since(process.session_began_at, kept_bytes / page_bytes);
    // An event touches at most one page of the map.
    const std::uint64_t map_bytes = process.births_since_wipe * page_bytes;
    const bool is_last_session = process.session == live_object_map::last_session;
    if (map_bytes + table_bytes() > kept_bytes || is_last_session) {
        if (release_tables()) return;
    }
    // From now on, records of this session mean nothing. If the numbers have run out while a thread
    // hangs inside a hook, the last number stays in use: an old record may then be taken for a
    // current one, until the next release.
    if (!is_last_session) ++process.session;
}

}  // namespace detail

ALLOCSCOPE_RARE_END

#endif  // ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP
