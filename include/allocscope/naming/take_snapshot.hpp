// take_snapshot.hpp - the only reader of live tables: what a window holds, by stack.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   by the engine for stats()
// Threads:  any; copies under the control lock, while hooks go on
// Memory:   8 bytes for each frame of each site with live objects
//
// The result is plain numbers and addresses. Names come later, outside the lock.

#ifndef ALLOCSCOPE_NAMING_TAKE_SNAPSHOT_HPP
#define ALLOCSCOPE_NAMING_TAKE_SNAPSHOT_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/platform/monotonic_clock.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/windows/window_control.hpp>
#include <allocscope/windows/window_sums.hpp>

#include <algorithm>  // sort
#include <cstddef>    // size_t
#include <cstdint>    // uint32_t, uint64_t, uintptr_t
#include <vector>     // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The live objects of one stack.
struct live_site {
    std::uint32_t id;  // of the site; 0: the stack is not known
    std::uint64_t objects;
    std::uint64_t bytes;
    sample_sums samples;        // of a sampled window: what objects and bytes are estimated from
    std::uint64_t hash;         // of the frames below
    std::uint32_t first_frame;  // index into live_window::frames
    std::uint32_t frame_count;
};

// One window at one moment.
struct live_window {
    bool exists = false;
    char name[sizeof(open_window::name)] = {};
    options wanted;
    std::uint64_t duration_ns = 0;
    std::uint64_t own_memory_bytes = 0;
    window_sum totals;
    std::uint64_t losses[static_cast<std::uint32_t>(loss_reason::count)] = {};
    std::vector<live_site> sites;
    std::vector<std::uintptr_t> frames;
};

// Control lock. What allocscope has in memory for its tables now; of the live object map, when few
// objects were born, what they touched at most.
inline std::uint64_t own_memory_bytes() noexcept {
    constexpr std::uint64_t few = 256;
    const std::uint64_t births =
        process.births_since_wipe + births_since(process.session_began_at, few);
    const std::uint64_t map_bytes = births < few ? births * page_bytes : process.objects.resident();
    return table_bytes() + map_bytes;
}

// What is alive of one cohort: as counted, or in a sampled window as estimated.
struct live_cohort {
    std::uint32_t id;
    std::uint32_t site;
    std::uint64_t objects;
    std::uint64_t bytes;
    sample_sums samples;
};

inline live_cohort deaths_in(const cohort& c, std::uint32_t id, bool in_samples) {
    live_cohort found{id, c.facts().site.load(std::memory_order_relaxed), 0, 0, {}};
    if (in_samples) {
        found.samples = death_sums_of(c, id);
    } else {
        const death_sum deaths = deaths_of(c, id);
        found.objects = deaths.deaths;
        found.bytes = deaths.bytes;
    }
    return found;
}

inline void subtract_from_births(live_cohort& c, bool in_samples) {
    const cohort& counted = *process.cohorts.by_id(c.id);
    if (in_samples) {
        sample_sums alive = birth_sums_of(counted, c.id);
        alive.subtract(c.samples);
        c.samples = alive;
    } else {
        c.objects = counted.births.read() - c.objects;
        c.bytes = counted.birth_bytes.read() - c.bytes;
    }
}

// Deaths of all first, then births: see window_sums.hpp.
inline std::vector<live_cohort> live_cohorts_in(const birth_range& range, bool in_samples) {
    std::vector<live_cohort> found;
    for_each_cohort_in(range, [&found, in_samples](const cohort& c, std::uint32_t id) {
        found.push_back(deaths_in(c, id, in_samples));
    });
    for (live_cohort& c : found) subtract_from_births(c, in_samples);
    return found;
}

inline void add_site(live_window& to, live_site found) {
    found.first_frame = static_cast<std::uint32_t>(to.frames.size());
    if (const site* known = process.sites.by_id(found.id)) {
        const std::uint32_t most = to.wanted.stack_frames;
        found.frame_count = known->frame_count < most ? known->frame_count : most;
        found.hash = hash_seed;
        for (std::uint32_t i = 0; i < found.frame_count; ++i) {
            found.hash = hash_step(found.hash, known->frames()[i]);
            to.frames.push_back(known->frames()[i]);
        }
        found.hash = hash_finish(found.hash);
    }
    to.sites.push_back(found);
}

inline void collect_sites(live_window& to, const birth_range& range) {
    const bool in_samples = to.wanted.record == recording::sampled;
    std::vector<live_cohort> found = live_cohorts_in(range, in_samples);
    std::sort(found.begin(), found.end(),
              [](const live_cohort& a, const live_cohort& b) { return a.site < b.site; });
    for (std::size_t i = 0; i < found.size();) {
        live_site here{found[i].site, 0, 0, {}, 0, 0, 0};
        std::size_t end = i;
        for (; end < found.size() && found[end].site == found[i].site; ++end) {
            here.objects += found[end].objects;
            here.bytes += found[end].bytes;
            here.samples.add(found[end].samples);
        }
        if (in_samples) {
            here.objects = here.samples.objects_95().value;
            here.bytes = here.samples.bytes_95().value;
        }
        if (here.objects != 0) add_site(to, here);
        i = end;
    }
}

inline void collect_losses(live_window& to) noexcept {
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(loss_reason::count); ++i) {
        to.losses[i] = losses_ever(static_cast<loss_reason>(i)) - process.losses_before_session[i];
    }
}

// Control lock. Waits until no hook works with the view of before: what it records is then counted.
inline void wait_for_hooks() noexcept {
    all_threads_are_outside();
}

// The window's live objects; then it starts anew if it is to forget them. To end it is left to the
// caller: types are still to be read from the live objects. Throws std::bad_alloc when memory for
// the sites is refused; everything else is then in `taken` all the same, but for own_memory_bytes,
// which is never filled: it asks the system for each table.
inline void take_live_objects(live_window& taken, window_id id, after_stats then) {
    control_lock lock;
    open_window* window = find_window(id);
    if (window == nullptr) return;
    taken.exists = true;
    copy_name(taken.name, sizeof taken.name, window->name);
    taken.wanted = window->wanted;
    taken.duration_ns = monotonic_ns() - window->started_ns;
    birth_range range = births_in(*window);
    const window_sum before = totals_of(*window, slot_of(id));
    if (then == after_stats::forget) {
        const retired_births ended = window->retired;
        begin_window(*window);
        announce(*window, 0);
        wait_for_hooks();  // else an object born just now would be in neither report
        range.until = window->open_at.load(std::memory_order_relaxed);
        taken.totals = totals_in(range, taken.wanted.record, ended);
        taken.totals.counts.peak_bytes = before.counts.peak_bytes;
    } else {
        taken.totals = before;
    }
    collect_losses(taken);
    if (taken.wanted.record != recording::counters) collect_sites(taken, range);
    if (then == after_stats::forget) reclaim_when_due();
}

inline void add_own_memory(live_window& taken) noexcept {
    control_lock lock;
    taken.own_memory_bytes = own_memory_bytes();
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_TAKE_SNAPSHOT_HPP
