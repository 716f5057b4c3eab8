// guard_violation.hpp - guards are armed, broken and looked at.
//
// Room:     verdict (floor 10), not malloc-safe
// Called:   through the engine table by measure/no_allocation_guard.hpp; guard_violated() by a hook
// Threads:  a guard belongs to the thread that armed it
// Memory:   one block for the result of a broken guard

#ifndef ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP
#define ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP

#include <allocscope/base/hash_mix.hpp>
#include <allocscope/link/watch_requests.hpp>
#include <allocscope/naming/named_block.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/naming/rows_of_window.hpp>
#include <allocscope/naming/take_snapshot.hpp>
#include <allocscope/platform/output_file.hpp>
#include <allocscope/snapshot/check_data.hpp>
#include <allocscope/state/watches.hpp>
#include <allocscope/verdict/check_message.hpp>
#include <allocscope/verdict/check_window.hpp>
#include <allocscope/windows/uncharged_work.hpp>
#include <allocscope/windows/window_control.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstdlib>  // abort
#include <memory>   // unique_ptr
#include <new>      // bad_alloc
#include <string>   // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A snapshot with one row, for one event at one stack.
inline snapshot snapshot_of_event(const char* name, const allocation_counts& totals,
                                  std::uint64_t bytes, const std::uintptr_t* frames,
                                  std::uint32_t frame_count) {
    live_window window;
    window.exists = true;
    copy_name(window.name, sizeof window.name, name);
    window.wanted.from = threads::current;
    window.wanted.stack_frames = most_fault_frames;
    window.totals.counts = totals;
    window.frames.assign(frames, frames + frame_count);
    live_site site{};
    site.objects = 1;
    site.bytes = bytes;
    site.hash = hash_seed;
    for (std::uint32_t i = 0; i < frame_count; ++i) site.hash = hash_step(site.hash, frames[i]);
    site.hash = hash_finish(site.hash);
    site.frame_count = frame_count;
    window.sites.push_back(site);
    names_at_work names;
    snapshot rows{name_window(names.book(), window, library_rule)};
    names.done();
    return rows;
}

// --- broken ---

inline check_data* describe_violation(const guard_watch& watch, const watched_event& event) {
    const std::string name = name_of_window(watch.window);
    allocation_counts counts = counts_now(watch.window);
    if (!event.is_free) {  // the guard is told before the event
        ++counts.allocations;
        counts.bytes_allocated += event.bytes;
    }
    const snapshot rows =
        snapshot_of_event(name.c_str(), counts, event.bytes, event.frames, event.frame_count);
    std::unique_ptr<check_block> made = new_check(counts);
    const std::string subject = "no_allocation_guard" + quoted(name.c_str()) + ": ";
    if (event.is_free) {
        fail_with(*made, subject + "memory was freed", name.c_str(), rows,
                  "\n  " + place_and_callers(rows[0], library_rule));
    } else {
        fail_with(*made, subject + counted(event.bytes, "byte was", "bytes were") + " allocated",
                  name.c_str(), rows, top_rows(rows, false, library_rule));
    }
    return &made.release()->data;
}

inline bool guard_violated(guard_watch& watch, const watched_event& event) {
    const uncharged_work meanwhile;
    watch.is_broken = true;
    watch.found = shared_check(check_without_memory);
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    watch.found = describe_violation(watch, event);
#else
    try {
        watch.found = describe_violation(watch, event);
    } catch (const std::bad_alloc&) {  // it is told all the same
    }
#endif
    return watch.tell(watch, *watch.found) && !event.is_free;
}

// --- armed ---

inline options counting(threads from) noexcept {
    options wanted;
    wanted.record = recording::counters;
    wanted.from = from;
    return wanted;
}

// False: no memory.
inline bool engine_arm_guard(guard_watch& watch) {
    const uncharged_work meanwhile;
    watch.window = open_window_now(watch.name, counting(threads::current));
    if (watch.window == 0) return false;
    watch.violated = &guard_violated;
    watch.allow_depth = own_watches.allow_depth;
    watch.outer = own_watches.innermost;
    own_watches.innermost = &watch;
    make_view_stale(*own_state());
    return true;
}

// To go on would leave a pointer to a guard that is gone.
[[noreturn]] inline void refuse_foreign_guard() {
    const char text[] =
        "allocscope: a no_allocation_guard was destroyed by another thread than made it; keep it"
        " in a block of one thread\n";
    write_all(2, text, sizeof text - 1);
    std::abort();
}

inline void disarm_guard(guard_watch& watch) {
    guard_watch** at = &own_watches.innermost;
    while (*at != nullptr && *at != &watch) at = &(*at)->outer;
    if (*at == nullptr) refuse_foreign_guard();
    *at = watch.outer;
    close_window_now(watch.window);
    put_names_away();
}

// One reference is handed over; null when there was no memory for the result.
inline check_data* engine_look_at_guard(guard_watch& watch, bool ends) {
    const uncharged_work meanwhile;
    check_data* seen = watch.found;
    if (seen != nullptr) {
        if (!ends) hold_check(seen);
    } else {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
        seen = &new_check(counts_now(watch.window)).release()->data;
#else
        try {
            seen = &new_check(counts_now(watch.window)).release()->data;
        } catch (const std::bad_alloc&) {  // null says it
        }
#endif
    }
    if (ends) disarm_guard(watch);
    return seen;
}

// +1: what this thread allocates from now on breaks none of its guards; -1: takes one +1 back.
inline void engine_allow(int change) {
    own_watches.allow_depth += static_cast<std::uint32_t>(change);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP
