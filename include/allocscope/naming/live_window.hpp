// live_window.hpp - what a window holds, stack by stack, copied out of the live tables.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   by define_once/engine_table.hpp for stats(), by verdict/ for checks
// Threads:  any; copies under the control lock, while hooks go on
// Memory:   of the question's arena: 8 bytes for each frame of each stack with live objects
//
// The result is plain numbers and addresses. Names come later, outside the lock.

#ifndef ALLOCSCOPE_NAMING_LIVE_WINDOW_HPP
#define ALLOCSCOPE_NAMING_LIVE_WINDOW_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/naming/stack_modules.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/platform/monotonic_clock.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/windows/window_control.hpp>
#include <allocscope/windows/window_sums.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The objects of one stack.
struct live_site {
    std::uint32_t id;  // of the site; 0: the stack is not known
    std::uint64_t objects;
    std::uint64_t bytes;
    sample_sums samples;        // of a sampled window: what objects and bytes are estimated from
    std::uint64_t hash;         // of the frames below
    std::uint32_t first_frame;  // index into live_window::frames
    std::uint32_t frame_count;
    std::uint32_t all_frames;  // as many are kept: frame_count of them are asked for
    std::uint64_t site_hash;   // of all of them, with their modules; 0: not known
};

// One window at one moment.
struct live_window {
    explicit live_window(arena& memory) noexcept : sites(memory), frames(memory) {}

    bool exists = false;
    window_id id = 0;
    char name[sizeof(open_window::name)] = {};
    options wanted;
    std::uint64_t duration_ns = 0;
    std::uint64_t own_memory_bytes = 0;
    window_sum totals;
    std::uint64_t losses[static_cast<std::uint32_t>(loss_reason::count)] = {};
    list<live_site> sites;
    list<std::uintptr_t> frames;
};

// --- sites ---

// Which objects of a site are counted.
enum class counted_objects { alive, born };

// One cohort's part of that: as counted, or in a sampled window as estimated.
struct cohort_part {
    std::uint32_t id;
    std::uint32_t site;
    std::uint64_t objects;
    std::uint64_t bytes;
    sample_sums samples;
};

inline void add_births(cohort_part& to, bool in_samples) noexcept {
    const cohort& counted = *process.cohorts.by_id(to.id);
    if (in_samples) {
        sample_sums alive = birth_sums_of(counted, to.id);
        alive.subtract(to.samples);
        to.samples = alive;
    } else {
        to.objects += counted.births.read();
        to.bytes += counted.birth_bytes.read();
    }
}

inline void subtract_deaths(cohort_part& from, bool in_samples) noexcept {
    const cohort& counted = *process.cohorts.by_id(from.id);
    if (in_samples) {
        from.samples = death_sums_of(counted, from.id);  // add_births() takes them off
    } else {
        const death_sum deaths = deaths_of(counted, from.id);
        from.objects -= deaths.deaths;
        from.bytes -= deaths.bytes;
    }
}

// Deaths of all first, then births: see windows/window_sums.hpp.
inline void collect_cohorts(list<cohort_part>& to, const birth_range& range, bool in_samples,
                            counted_objects which) {
    for_each_cohort_in(range, [&to](const cohort& c, std::uint32_t id) {
        to.push_back({id, c.facts().site.load(std::memory_order_relaxed), 0, 0, {}});
    });
    if (which == counted_objects::alive) {
        for (cohort_part& each : to) subtract_deaths(each, in_samples);
    }
    for (cohort_part& each : to) add_births(each, in_samples);
}

// What names are found again by.
inline std::uint64_t hash_of_stack(const std::uintptr_t* frames, std::uint32_t count) noexcept {
    std::uint64_t hash = hash_seed;
    for (std::uint32_t i = 0; i < count; ++i) hash = hash_step(hash, frames[i]);
    return hash_finish(hash);
}

// `frames` are not those of `to`; the first `count` of them are asked for.
inline void add_site(live_window& to, live_site found, const std::uintptr_t* frames,
                     std::uint32_t count, std::uint32_t all_frames) {
    found.first_frame = static_cast<std::uint32_t>(to.frames.size());
    found.frame_count = count;
    found.all_frames = all_frames;
    found.hash = hash_of_stack(frames, count);
    for (std::uint32_t i = 0; i < all_frames; ++i) to.frames.push_back(frames[i]);
    to.sites.push_back(found);
}

// `frames` are those of the window.
inline known_stack stack_of(const live_site& site, const std::uintptr_t* frames) noexcept {
    return {site.hash, frames, site.frame_count, site.all_frames, site.site_hash};
}

inline void add_known_site(live_window& to, live_site found) {
    const site* known = process.sites.by_id(found.id);
    if (known == nullptr) {
        add_site(to, found, nullptr, 0, 0);
        return;
    }
    found.site_hash = known->hash;
    const std::uint32_t most = to.wanted.stack_frames;
    add_site(to, found, known->frames(), known->frame_count < most ? known->frame_count : most,
             known->frame_count);
}

inline void collect_sites(live_window& to, const birth_range& range, counted_objects which) {
    const bool in_samples = to.wanted.record == recording::sampled;
    list<cohort_part> found{to.sites.memory()};
    collect_cohorts(found, range, in_samples, which);
    sort(found, [](const cohort_part& a, const cohort_part& b) { return a.site < b.site; });
    for (std::size_t i = 0; i < found.size();) {
        live_site here{found[i].site, 0, 0, {}, 0, 0, 0, 0, 0};
        std::size_t end = i;
        for (; end < found.size() && found[end].site == here.id; ++end) {
            here.objects += found[end].objects;
            here.bytes += found[end].bytes;
            here.samples.add(found[end].samples);
        }
        if (in_samples) {
            here.objects = here.samples.objects_95().value;
            here.bytes = here.samples.bytes_95().value;
        }
        if (here.objects != 0) add_known_site(to, here);
        i = end;
    }
}

// --- the window ---

// Control lock. What allocscope has in memory for its tables now; of the live object map, when few
// objects were born, what they touched at most.
inline std::uint64_t own_memory_bytes() noexcept {
    constexpr std::uint64_t few = 256;
    const std::uint64_t births =
        process.births_since_wipe + births_since(process.session_began_at, few);
    const std::uint64_t map_bytes = births < few ? births * page_bytes : process.objects.resident();
    return table_bytes() + map_bytes;
}

inline void add_own_memory(live_window& taken) noexcept {
    const control_lock lock;
    taken.own_memory_bytes = own_memory_bytes();
}

// Takes the window's live objects; the window then starts anew if it is to forget them. To end it
// is left to the caller, because types are still to be read from the live objects. Throws
// std::bad_alloc when memory for the sites is refused; everything else is then in `taken` all the
// same, but for own_memory_bytes, which add_own_memory() fills: it asks the system for each table.
inline void take_live_objects(live_window& taken, window_id id, after_stats then) {
    const control_lock lock;
    open_window* window = find_window(id);
    if (window == nullptr) return;
    taken.exists = true;
    taken.id = id;
    copy_name(taken.name, sizeof taken.name, window->name);
    taken.wanted = window->wanted;
    taken.duration_ns = monotonic_ns() - window->started_ns;
    birth_range range = births_in(*window);
    taken.totals = totals_of(*window, slot_of(id));
    if (then == after_stats::forget) {
        const retired_births ended = window->retired;
        const std::uint64_t peak_bytes = taken.totals.counts.peak_bytes;
        begin_window(*window);
        announce(*window, 0);
        all_threads_are_outside();  // an object born just now would else be in neither report
        range.until = window->open_at.load(std::memory_order_relaxed);
        taken.totals = totals_in(range, taken.wanted.record, ended);
        taken.totals.counts.peak_bytes = peak_bytes;
    }
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(loss_reason::count); ++i) {
        taken.losses[i] =
            losses_ever(static_cast<loss_reason>(i)) - process.losses_before_session[i];
    }
    if (taken.wanted.record != recording::counters) {
        collect_sites(taken, range, counted_objects::alive);
    }
    if (then == after_stats::forget) reclaim_when_due();
}

// Replaces the live objects of a window that records every event by all that were born in it,
// whatever has become of them since: who allocated too much may have freed it all again. What
// nested windows have reclaimed meanwhile is in the totals only.
inline void count_births_by_site(live_window& window, window_id id) {
    const control_lock lock;
    const open_window* found = find_window(id);
    if (found == nullptr) return;
    window.sites.clear();
    window.frames.clear();
    collect_sites(window, births_in(*found), counted_objects::born);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_LIVE_WINDOW_HPP
