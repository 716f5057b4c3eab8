// guard_violation.hpp - arms guards, and reports their violations.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   through the engine table by measure/no_allocation_guard.hpp; guard_violated() by a hook
// Threads:  a guard belongs to the thread that armed it
// Memory:   one block for the result of a broken guard

#ifndef ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP
#define ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/cut_text.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/link/watch_requests.hpp>
#include <allocscope/naming/live_window.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/naming/rows_of_window.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/output_file.hpp>
#include <allocscope/snapshot/check_data.hpp>
#include <allocscope/state/watches.hpp>
#include <allocscope/verdict/check_block.hpp>
#include <allocscope/verdict/check_message.hpp>
#include <allocscope/verdict/check_window.hpp>
#include <allocscope/windows/uncharged_work.hpp>
#include <allocscope/windows/window_control.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstdlib>  // abort

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A snapshot with one row, for one event with one stack.
inline snapshot snapshot_of_event(arena& scratch, const char* name, const allocation_counts& totals,
                                  std::uint64_t bytes, const std::uintptr_t* frames,
                                  std::uint32_t frame_count) {
    snapshot_block block;
    if (!block.has_memory()) refuse_memory();
    live_window window{block.memory(), scratch};
    window.exists = true;
    copy_cut(window.name, sizeof window.name, name);
    window.wanted.from = threads::current;
    window.wanted.stack_frames = most_fault_frames;
    window.totals.counts = totals;
    live_site site{};
    site.objects = 1;
    site.bytes = bytes;
    site.allocations = site.objects;
    site.bytes_allocated = bytes;
    site.frame_count = site.all_frames = frame_count;
    site.hash = hash_of_stack(frames, frame_count, 0);
    for (std::uint32_t i = 0; i < frame_count; ++i) window.frames.push_back(frames[i]);
    window.sites.push_back(site);
    names_at_work names;
    add_rows_of(block, names.book(), window, library_rule);
    names.done();
    return snapshot{finish_block(block, window, "")};
}

// --- violations ---

inline check_data* describe_violation(const guard_watch& watch, const watched_event& event) {
    arena scratch;
    const char* name = name_of_window(scratch, watch.window);
    allocation_counts counts = counts_now(watch.window);
    if (!event.is_free) {  // the guard gets the event before it happens
        ++counts.allocations;
        counts.bytes_allocated += event.bytes;
    }
    const snapshot rows =
        snapshot_of_event(scratch, name, counts, event.bytes, event.frames, event.frame_count);
    check_block made{counts};
    text_out& message = made.message();
    write_heading(message, "no_allocation_guard", name);
    if (event.is_free) {
        message << "memory was freed";
        write_place_and_callers(message, scratch, rows[0]);
    } else {
        write_count(message, event.bytes, "byte was", "bytes were");
        message << " allocated";
        write_top_rows(message, scratch, rows, false);
    }
    made.keep_rows(rows);
    made.save_evidence(name);
    return made.finish();
}

// If memory is refused while a guard is broken, the result says only that.
inline bool guard_violated(guard_watch& watch, const watched_event& event) {
    const uncharged_work meanwhile;
    watch.is_broken = true;
    watch.found = shared_check(check_without_memory);
    is_done_with_memory([&] { watch.found = describe_violation(watch, event); });
    return watch.tell(watch, *watch.found) && !event.is_free;
}

// --- arming ---

inline options counting(threads from) noexcept {
    options wanted;
    wanted.record = recording::counters;
    wanted.from = from;
    return wanted;
}

// False if there is no memory.
inline bool engine_arm_guard(guard_watch& watch) {
    watch.allow_depth = own_watches.allow_depth;  // without the pause below
    const uncharged_work meanwhile;
    watch.window = open_window_now(watch.name, counting(threads::current));
    if (watch.window == 0) return false;
    watch.violated = &guard_violated;
    watch.outer = own_watches.innermost;
    own_watches.innermost = &watch;
    make_view_stale(*own_state());
    return true;
}

// Ends the program, because a pointer to a guard that no longer exists would remain.
[[noreturn]] inline void refuse_foreign_guard() {
    const char sentence[] =
        "allocscope: a no_allocation_guard was destroyed by a thread other than its own; keep it"
        " in a block of one thread\n";
    write_all(2, sentence, sizeof sentence - 1);
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

// The caller gets one reference; null if there was no memory for the result.
inline check_data* engine_look_at_guard(guard_watch& watch, bool ends) {
    const uncharged_work meanwhile;
    check_data* seen = watch.found;
    if (seen == nullptr) {
        is_done_with_memory([&] { seen = check_block{counts_now(watch.window)}.finish(); });
    } else if (!ends) {
        hold_check(seen);
    }
    if (ends) disarm_guard(watch);
    return seen;
}

// With +1, what this thread allocates from now on breaks none of its guards; -1 undoes one +1.
inline void engine_allow(int change) {
    own_watches.allow_depth += static_cast<std::uint32_t>(change);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_GUARD_VIOLATION_HPP
