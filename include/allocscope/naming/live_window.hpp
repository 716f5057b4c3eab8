// live_window.hpp - copies the contents of a window, stack by stack, from the live tables.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by define_once/engine_table.hpp and naming/ for stats(), by verdict/ for checks
// Threads:  any; it copies under the walking lock, while hooks continue
// Memory:   8 bytes for each frame of each stack of the window
//
// The result is plain numbers and addresses. Names are found later, outside the lock.

#ifndef ALLOCSCOPE_NAMING_LIVE_WINDOW_HPP
#define ALLOCSCOPE_NAMING_LIVE_WINDOW_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/cut_text.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/base/owned_events.hpp>
#include <allocscope/naming/ages_of_window.hpp>
#include <allocscope/naming/details_of_window.hpp>
#include <allocscope/naming/family_sums.hpp>
#include <allocscope/naming/moment_of_reading.hpp>
#include <allocscope/naming/stack_modules.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/platform/clocks.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/windows/window_control.hpp>
#include <allocscope/windows/window_reading.hpp>
#include <allocscope/windows/window_sums.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint32_t, uint64_t, uintptr_t
#include <cstring>  // memcpy

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The objects of one stack.
struct live_site {
    std::uint32_t id;  // of the site; 0: the stack is unknown
    bool is_expected;  // a check has found that it is no leak
    std::uint64_t objects;
    std::uint64_t bytes;
    std::uint64_t allocations;
    std::uint64_t bytes_allocated;
    const sample_sums* samples;  // of a sampled window: what objects and bytes are estimated from
    std::uint64_t hash;          // hash_of_names()
    std::uint32_t first_frame;   // index into live_window::frames
    std::uint32_t frame_count;
    std::uint32_t all_frames;  // how many were kept; frame_count of them are asked for
    std::uint64_t site_hash;   // of all of them, with their modules; 0: unknown
    std::uint32_t tag;         // what its objects say about themselves
    std::uint32_t instance;    // of the thread, if it is one; see thread_lifecycle.hpp
    std::uint32_t age;         // if it is one: in live_window::ages
    std::uint32_t part_count;  // 0: one thread and one age
    std::size_t first_part;    // index into live_window::parts
    std::size_t details;       // in live_window::details, from 1; 0: none
};

// The objects of one age that one thread has allocated with one stack.
struct live_part {
    std::uint32_t instance;
    std::uint32_t age;
    std::uint64_t objects;
    std::uint64_t bytes;
    std::uint64_t allocations;
    std::uint64_t bytes_allocated;
    const sample_sums* samples;  // as in live_site
    std::size_t details;         // as in live_site
};

// One window at one moment. The stacks lie in `kept`, everything else in `scratch`.
struct live_window {
    live_window(arena& kept, arena& question) noexcept
        : scratch(question),
          sites(kept),
          gone(kept),
          parts(kept),
          ages(kept),
          details(kept),
          frames(kept),
          families(question) {}

    arena& scratch;
    bool exists = false;
    window_id id = 0;
    char name[sizeof(open_window::name)] = {};
    options wanted;
    std::uint64_t started_ns = 0;
    std::uint64_t duration_ns = 0;
    std::int64_t taken_unix_ns = 0;
    std::uint64_t own_memory_bytes = 0;
    window_sum totals;
    reading_doubt doubt;
    std::uint64_t losses[static_cast<std::uint32_t>(loss_reason::count)] = {};
    std::uint64_t losses_before[static_cast<std::uint32_t>(loss_reason::count)] = {};
    list<live_site> sites;  // with live objects
    list<live_site> gone;   // all their objects have been freed
    list<live_part> parts;  // of stacks with several threads or ages
    ages_of_window marks;
    list<snapshot::age> ages;  // the oldest first; empty if the window has no marks
    list<snapshot::stack_details> details;
    bool has_peak_details = false;
    list<std::uintptr_t> frames;
    list<family_sum> families;  // empty if there is only one family

    const std::uintptr_t* frames_of(const live_site& site) const noexcept {
        return frames.data() + site.first_frame;
    }
};

// --- sites ---

// One cohort's part of a site: the counts, or estimates in a sampled window. There are as many
// parts as stacks, so a window that records every event has no memory for estimates in them.
struct cohort_part {
    std::uint32_t id;
    std::uint32_t site;
    std::uint32_t instance;
    std::uint32_t age;
    std::uint64_t objects;  // alive
    std::uint64_t bytes;
    std::uint64_t allocations;
    std::uint64_t bytes_allocated;
    const cohort_samples* samples;  // null: every event was recorded
};

// Goes from cohort to cohort and adds what was born and what of it is alive.
class cohort_parts {
public:
    ALLOCSCOPE_INLINE cohort_parts(const kept_counts& counts, const ages_of_window& ages,
                                   bool in_samples, arena& memory) noexcept
        : counts_(counts),
          ages_(ages),
          in_samples_(in_samples),
          memory_(memory),
          foreign_(memory) {}

    // The oldest cohort comes first, which is nearly the order of sites. Throws std::bad_alloc.
    void add_to(list<cohort_part>& parts) {
        foreign_.reserve(counts_.foreign.size());
        for (const cohort_count& each : counts_.foreign) {
            foreign_[each.id] = {each.deaths, each.death_bytes};
        }
        parts.reserve(counts_.own.size() + counts_.sampled.size());
        for (const cohort_count* own = counts_.own.end(); own != counts_.own.begin();) {
            parts.push_back(part_of(*--own));
        }
        for (const sampled_count& each : counts_.sampled) {
            parts.push_back({each.id, each.site, instance_of(each.id), ages_.number_of(each.id), 0,
                             0, 0, 0, &each.samples});
        }
    }

private:
    static ALLOCSCOPE_INLINE std::uint32_t instance_of(std::uint32_t id) noexcept {
        return process.cohorts.by_id(id)->facts().instance.load(memory_order::relaxed);
    }

    cohort_part part_of(const cohort_count& own) const {
        event_sum deaths{own.deaths, own.death_bytes};
        if (const event_sum* foreign = foreign_.find(own.id)) deaths.add(*foreign);
        cohort_part part{own.id,
                         own.site,
                         instance_of(own.id),
                         ages_.number_of(own.id),
                         own.births - deaths.events,
                         own.birth_bytes - deaths.bytes,
                         own.births,
                         own.birth_bytes,
                         nullptr};
        if (in_samples_) {
            auto* samples = memory_.make<cohort_samples>();
            samples->births = certain_sums(own.births, own.birth_bytes);
            samples->alive = samples->births;
            samples->alive.subtract(certain_sums(deaths.events, deaths.bytes));
            part.samples = samples;
        }
        return part;
    }

    const kept_counts& counts_;
    const ages_of_window& ages_;
    const bool in_samples_;
    arena& memory_;
    table<std::uint64_t, event_sum> foreign_;  // the deaths on other threads, by the cohort
};

// The hash by which names are found again.
inline std::uint64_t hash_of_stack(const std::uintptr_t* frames, std::uint32_t count,
                                   std::uint32_t tag) noexcept {
    std::uint64_t hash = hash_seed ^ tag;
    for (std::uint32_t i = 0; i < count; ++i) hash = hash_step(hash, frames[i]);
    return hash_finish(hash);
}

// The same for a site. If its stack is not cut, its own hash saves the work; thousands of pools may
// report from one stack.
inline std::uint64_t hash_of_names(const live_site& site, const std::uintptr_t* frames) noexcept {
    const bool is_whole = site.frame_count == site.all_frames && site.site_hash != 0;
    return is_whole ? hash_step(site.site_hash, site.tag)
                    : hash_of_stack(frames, site.frame_count, site.tag);
}

// `frames` are those of the window.
inline known_stack stack_of(const live_site& site, const std::uintptr_t* frames) noexcept {
    return {site.hash, frames, site.frame_count, site.all_frames, site.site_hash, site.tag};
}

// Sums the parts of one site.
inline live_site sum_of(arena& memory, const cohort_part* parts, std::size_t count,
                        bool in_samples) {
    live_site sum{};
    sum.id = parts->site;
    cohort_samples samples;
    for (std::size_t i = 0; i < count; ++i) {
        const cohort_part& part = parts[i];
        sum.objects += part.objects;
        sum.bytes += part.bytes;
        sum.allocations += part.allocations;
        sum.bytes_allocated += part.bytes_allocated;
        if (part.samples == nullptr) continue;
        samples.alive.add(part.samples->alive);
        samples.births.add(part.samples->births);
    }
    if (in_samples) {
        sum.samples = memory.make<sample_sums>(samples.alive);
        sum.objects = samples.alive.objects_95().value;
        sum.bytes = samples.alive.bytes_95().value;
        sum.allocations = samples.births.objects_95().value;
        sum.bytes_allocated = samples.births.bytes_95().value;
    }
    return sum;
}

// Sums the details of some parts of a site; returns 0 if the window has no details.
inline std::size_t add_details(live_window& to, const cohort_part* parts, std::size_t count,
                               const details_reading& reading) {
    if (!to.wanted.details) return 0;
    snapshot::stack_details sum{};
    for (std::size_t i = 0; i < count; ++i) {
        const cohort_part& part = parts[i];
        reading.add(sum, part.id, part.allocations, part.objects, part.bytes);
    }
    reading.finish(sum);
    to.details.push_back(sum);
    return to.details.size();
}

ALLOCSCOPE_INLINE bool is_of_same_part(const cohort_part& a, const cohort_part& b) noexcept {
    return a.instance == b.instance && a.age == b.age;
}

// Adds one site, thread by thread and age by age; `parts` are in this order. If there are several,
// the details of the site are their sum: if threads go on, another reading would find more.
inline void add_parts(live_window& to, live_site& site, const cohort_part* parts, std::size_t count,
                      bool in_samples, const details_reading& reading) {
    site.instance = parts[0].instance;
    site.age = parts[0].age;
    const bool is_one = is_of_same_part(parts[0], parts[count - 1]);
    site.details = add_details(to, parts, is_one ? count : 0, reading);
    if (is_one) return;
    site.first_part = to.parts.size();
    const cohort_part* const end = parts + count;
    while (parts != end) {
        const cohort_part& first = *parts;
        std::size_t same = 1;
        while (parts + same != end && is_of_same_part(parts[same], first)) ++same;
        const live_site sum = sum_of(to.parts.memory(), parts, same, in_samples);
        const std::size_t details = add_details(to, parts, same, reading);
        if (details != 0) to.details[site.details - 1].add(to.details[details - 1]);
        to.parts.push_back({first.instance, first.age, sum.objects, sum.bytes, sum.allocations,
                            sum.bytes_allocated, sum.samples, details});
        ++site.part_count;
        parts += same;
    }
}

// Returns how many frames of a site are copied.
inline std::uint32_t add_known_facts(live_site& to, std::uint32_t most_frames) noexcept {
    const site* known = process.sites.by_id(to.id);
    if (known == nullptr) return 0;
    to.site_hash = known->hash;
    to.tag = known->tag;
    to.all_frames = known->frame_count;
    to.frame_count = to.all_frames < most_frames ? to.all_frames : most_frames;
    return to.all_frames;
}

inline void add_frames(live_window& to, list<live_site>& sites) {
    for (live_site& each : sites) {
        each.first_frame = static_cast<std::uint32_t>(to.frames.size());
        const site* known = process.sites.by_id(each.id);
        if (known != nullptr) to.frames.append(known->frames(), each.all_frames);
        each.hash = hash_of_names(each, to.frames.data() + each.first_frame);
    }
}

// Needs the walking lock. Reads the window's totals, and its sites from the same numbers. Throws
// std::bad_alloc if memory for the sites is refused; the totals have been read even then.
inline void read_sites(live_window& to, const window_facts& facts) {
    const bool in_samples = facts.how == recording::sampled;
    kept_counts counts;
    read_totals(to.totals, facts, to.doubt, &counts);
    if (counts.has_refused()) refuse_memory();
    sum_families(to.families, facts.retired, counts, to.totals, in_samples);
    list<cohort_part> found{to.scratch};
    const details_reading details{facts.followed};
    to.has_peak_details = to.wanted.details && details.has_peak();
    if (facts.how == recording::counters) return;
    to.marks.add_to(to.ages);
    cohort_parts{counts, to.marks, in_samples, to.scratch}.add_to(found);
    sort(found, [](const cohort_part& a, const cohort_part& b) {
        if (a.site != b.site) return a.site < b.site;
        return a.instance != b.instance ? a.instance < b.instance : a.age < b.age;
    });
    std::size_t all_frames = 0;
    const cohort_part* const end = found.end();
    for (const cohort_part* next = found.begin(); next != end;) {
        const cohort_part* const parts = next;
        while (next != end && next->site == parts->site) ++next;
        const auto count = static_cast<std::size_t>(next - parts);
        live_site here = sum_of(to.sites.memory(), parts, count, in_samples);
        if (here.objects == 0 && here.allocations == 0) continue;
        add_parts(to, here, parts, count, in_samples, details);
        all_frames += add_known_facts(here, unoptimised_frames(to.wanted.stack_frames));
        (here.objects != 0 ? to.sites : to.gone).push_back(here);
    }
    to.frames.reserve(all_frames);
    add_frames(to, to.sites);
    add_frames(to, to.gone);
}

// --- the window ---

// Needs the control lock. The memory that allocscope has for its tables now. If few objects were
// born, the live object map counts with what they touched at most.
inline std::uint64_t own_memory_bytes() noexcept {
    constexpr std::uint64_t few = 256;
    const std::uint64_t births =
        process.births_since_wipe + births_since(process.session_began_at, few);
    const std::uint64_t map_bytes = births < few ? births * page_bytes : process.objects.resident();
    return table_bytes() + map_bytes;
}

ALLOCSCOPE_INLINE void add_own_memory(live_window& taken) noexcept {
    const control_lock lock;
    taken.own_memory_bytes = own_memory_bytes();
}

// Control lock. A window has begun anew. An event that another thread has begun before would be in
// neither of its reports if it were counted only now.
inline void wait_for_events_before() noexcept {
    constexpr std::uint64_t long_ns = 1'000'000'000;  // a thread may have to wait for ten others
    thread_state* const self = own_state();
    fence_all_threads();
    if (threads_leave_within(long_ns, self)) return;
    if (self != nullptr) self->lose(loss_reason::torn_event);
}

// Needs the control lock and the walking lock. Returns false if there is no such window.
inline bool begin_taking(live_window& taken, window_facts& facts, window_id id, after_stats then) {
    open_window* window = find_window(id);
    if (window == nullptr) return false;
    taken.exists = true;
    taken.id = id;
    copy_cut(taken.name, sizeof taken.name, window->name);
    taken.wanted = window->wanted;
    const std::uint64_t now_ns = moment_of_reading_ns();
    taken.started_ns = window->started_ns;
    taken.duration_ns = now_ns - taken.started_ns;
    taken.marks.read(*window, now_ns);
    taken.taken_unix_ns = unix_time_ns() - static_cast<std::int64_t>(monotonic_ns() - now_ns);
    begin_reading(facts, *window, id);
    std::memcpy(taken.losses_before, window->losses_before, sizeof taken.losses_before);
    if (then == after_stats::forget) {
        facts.peak_bytes = peak_of_window(facts.slot, facts.opened_at);
        begin_window(*window, now_ns);
        announce(*window, 0);
        wait_for_events_before();
        facts.range.until = window->open_at.load(memory_order::relaxed);
    }
    return true;
}

inline void end_taking(live_window& taken, const window_facts& facts) {
    const control_lock lock;
    allocation_counts& totals = taken.totals.counts;
    totals.peak_bytes = end_reading(facts, totals.live_bytes(), taken.doubt);
    const open_window& window = *process.windows.by_slot(facts.slot);
    if (window.open_at.load(memory_order::relaxed) == facts.opened_at) {
        read_losses(taken.losses);
    } else {  // it has begun anew, and what was lost since belongs to the next report
        std::memcpy(taken.losses, window.losses_before, sizeof taken.losses);
    }
    subtract_losses(taken.losses, taken.losses_before);
    totals.lost_events = lost_events_in(taken.losses, taken.wanted.record == recording::sampled);
}

// Takes the window's live objects, and restarts the window if it is to forget them. The caller must
// end the window, because types are still to be read from the live objects. Throws std::bad_alloc
// if memory for the sites is refused. Everything else is in `taken` even then, except
// own_memory_bytes: add_own_memory() sets it, because it asks the system about each table.
inline void take_live_objects(live_window& taken, window_id id, after_stats then) {
    const walking_lock walk;
    window_facts facts;
    {
        const control_lock lock;
        if (!begin_taking(taken, facts, id, then)) return;
        if (then == after_stats::forget) process.is_reclaim_put_off = true;
    }
    bool has_sites = true;
    if (taken.wanted.record == recording::counters && !process.tags.has_families()) {
        read_totals(taken.totals, facts, taken.doubt, nullptr);
    } else {
        has_sites = is_done_with_memory([&] { read_sites(taken, facts); });
    }
    end_taking(taken, facts);
    if (!has_sites) refuse_memory();
}

// For a window that records every event. All objects that were born in the window replace those
// that are alive, because the code that allocated too much may have freed everything again. With
// details, what nested windows have reclaimed in the meantime is in the totals only.
inline void count_births_by_site(live_window& window) {
    window.sites.append(window.gone);
    window.gone.cut(0);
    for (live_site& each : window.sites) {
        each.objects = each.allocations;
        each.bytes = each.bytes_allocated;
    }
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_LIVE_WINDOW_HPP
