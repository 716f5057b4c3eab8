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
//             numbers go elsewhere (retired_cohorts.hpp), and its id goes back to the thread.
//   release   after the last window, when the tables have grown. Everything is given back at once,
//             so no thread may be inside a hook. The gate is shut, and a fence in all threads makes
//             sure that each thread is either seen busy or sees the gate shut. The release waits
//             for a busy thread, but not for long; after that, the tables stay until the next time.

#ifndef ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP
#define ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/clocks.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/thread_fence.hpp>
#include <allocscope/platform/thread_wait.hpp>
#include <allocscope/state/epoch.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/tables/cohort_table.hpp>
#include <allocscope/tables/live_object_map.hpp>
#include <allocscope/windows/retired_cohorts.hpp>
#include <allocscope/windows/window_sums.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

#include <pthread.h>  // pthread_mutex_trylock

ALLOCSCOPE_COOL_BEGIN

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

// Waits until no thread but `self` is inside a hook, for so long at most. Returns whether none is.
inline bool threads_leave_within(std::uint64_t patience_ns, const thread_state* self) noexcept {
    const std::uint64_t gives_up_at = monotonic_ns() + patience_ns;
    thread_wait waiting;
    for (thread_state& each : all_threads()) {
        if (self != nullptr && each.primary_state.load(memory_order::relaxed) == self) continue;
        // Acquire: pairs with the release in leave().
        while (each.busy.load(memory_order::acquire) != 0) {
            if (monotonic_ns() > gives_up_at) return false;
            waiting.once();
        }
    }
    return true;
}

// True when no thread is inside a hook, and none can come in before the gate opens again.
ALLOCSCOPE_INLINE bool all_threads_are_outside() noexcept {
    constexpr std::uint64_t not_long_ns = 1'000'000;
    return fence_all_threads() && threads_leave_within(not_long_ns, nullptr);
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

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_WINDOWS_TABLE_RELEASE_HPP
