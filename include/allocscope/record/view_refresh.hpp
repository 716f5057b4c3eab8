// view_refresh.hpp - a thread learns that windows have opened or closed.
//
// Room:     record (floor 5), malloc-safe
// Called:   by a hook that finds another number in the gate than its thread saw last
// Threads:  each for its own state; no locks
// Memory:   none

#ifndef ALLOCSCOPE_RECORD_VIEW_REFRESH_HPP
#define ALLOCSCOPE_RECORD_VIEW_REFRESH_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/platform/random_seed.hpp>
#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/record/answer_reading.hpp>
#include <allocscope/record/peak_tracking.hpp>
#include <allocscope/sampling/sample_gap.hpp>
#include <allocscope/state/gate.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/state/watches.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_MILD_BEGIN

namespace detail {

// The smaller of two mean intervals, where 0 means that there is none.
constexpr std::uint64_t least_interval(std::uint64_t a, std::uint64_t b) noexcept {
    return a == 0 || (b != 0 && b < a) ? b : a;
}

// What the windows that watch a thread want of it, taken together.
struct thread_needs {
    std::uint64_t windows = 0;
    std::uint64_t newest = 0;
    charge mode = charge::nothing;
    std::uint32_t frames = 0;
    unwinding_set methods = 0;
    std::uint64_t sample_bytes = 0;

    void note_opening(const open_window& window) noexcept {
        const std::uint64_t opened_at = window.open_at.load(memory_order::acquire);
        if (opened_at > newest) newest = opened_at;
    }

    void add(const own_demand& own) noexcept {
        windows |= own.windows.load(memory_order::relaxed);
        const charge wanted = own.mode.load(memory_order::relaxed);
        if (wanted > mode) mode = wanted;
        const std::uint32_t depth = own.frames.load(memory_order::relaxed);
        if (depth > frames) frames = depth;
        methods |= own.methods.load(memory_order::relaxed);
        sample_bytes = least_interval(sample_bytes, own.sample_bytes.load(memory_order::relaxed));
    }
};

// If a boundary comes meanwhile, the thread refreshes its view once more.
inline thread_needs needs_of(const thread_state& thread, const view& now) noexcept {
    thread_needs needs;
    needs.windows = now.windows;
    needs.mode = now.mode;
    needs.frames = now.frames;
    needs.methods = now.methods;
    needs.sample_bytes = now.sample_bytes;
    const own_demand& own = thread.primary().own;
    if (own.count.load(memory_order::acquire) != 0 &&
        own.instance.load(memory_order::relaxed) == thread.instance.load(memory_order::relaxed)) {
        needs.add(own);
    }
    for (std::uint64_t left = needs.windows; left != 0; left &= left - 1) {
        const auto slot = static_cast<std::uint32_t>(__builtin_ctzll(left));
        needs.note_opening(*process.windows.by_slot(slot));
    }
    if (now.many_windows != 0) {
        const std::uint64_t newest = process.windows.newest_unmasked();
        if (newest > needs.newest) needs.newest = newest;
    }
    return needs;
}

inline void seed_dice(thread_state& thread) noexcept {
    const std::uint64_t fixed = process.sampling_seed.load(memory_order::relaxed);
    const std::uint64_t instance = thread.instance.load(memory_order::relaxed);
    thread.dice.seed(hash_finish(hash_step(fixed != 0 ? fixed : random_seed(), instance)));
    thread.has_dice = true;
}

// What thread_entry::bytes_left begins with. The gap is memoryless, so it may be drawn anew
// whenever the mean changes.
ALLOCSCOPE_SLOW_PATH std::uint64_t bytes_before_sample(thread_state& thread) noexcept {
    if (thread.sample_bytes == 0) return never_sampled;
    if (!thread.has_dice) seed_dice(thread);
    return draw_gap(thread.dice, thread.sample_bytes) - 1;
}

// Returns false when no window is open any more.
ALLOCSCOPE_SLOW_PATH bool refresh_view(thread_state& thread, std::uintptr_t frame) noexcept {
    make_asked_age_mark();  // not after the view is read
    view now;
    if (!process.entry.load(now)) {
        thread.forget_view();
        return false;
    }
    if (thread.tables == now.tables) {
        flush_pending(thread);
    } else {  // the caches were emptied when the tables were given back
        thread.tables = now.tables;
        thread.is_epoch_current = false;
        thread.epoch_serial = no_epoch;
        for (plain_place& each : thread.plain) each.cohort_id = 0;
        forget_pending(thread);
    }
    // A reader that asks for numbers gets those from before this event.
    if (thread.question.step.load(memory_order::relaxed) != question_step::nobody_asks) {
        answer_reading(thread);
    }
    const std::uint64_t own = thread.primary().own_clock.load(memory_order::acquire);
    const std::uint64_t clock = now.clock > own ? now.clock : own;
    const thread_needs needs = needs_of(thread, now);
    if (clock != thread.clock.load(memory_order::relaxed) || needs.windows != thread.windows) {
        thread.is_epoch_current = false;
        thread.epoch_serial = no_epoch;
        for (plain_place& each : thread.plain) each.cohort_id = 0;
    }
    thread.clock.store(clock, memory_order::release);
    thread.session = now.session;
    thread.session_head = live_object_map::record_head(now.session, 0);
    thread.windows = needs.windows;
    thread.many_windows = now.many_windows;
    thread.newest_window = needs.newest;
    thread.mode = thread.primary().pause_depth != 0 ? charge::nothing
                                                    : joined(needs.mode, needs.sample_bytes);
    const std::uint64_t sample_bytes = thread.mode == charge::samples ? needs.sample_bytes : 0;
    if (sample_bytes == 0 || sample_bytes != thread.sample_bytes || !thread.has_dice) {
        thread.sample_bytes = sample_bytes;
        thread.bytes_left.store(bytes_before_sample(thread), memory_order::relaxed);
    }
    const unwinding method = common_method(needs.methods);
    if (needs.frames != 0 && (needs.frames != thread.frames || method != thread.method)) {
        // The remembered chains have another depth, or were found by another method.
        thread.memo.release();
        thread.frames = needs.frames;
        thread.method = method;
    }
    if (thread.memo.most_frames() != thread.memo_frames()) thread.memo.release();
    // Without its caches the thread records no stacks; find_cohort() counts that as a loss.
    if (thread.mode >= charge::stacks && !thread.memo.is_ready()) {
        const bool is_ready = thread.prepare_memo();
        if (!is_ready && thread.mode == charge::stacks) thread.mode = charge::stacks_without_memo;
    }
    if (thread.bounds.high == 0) thread.bounds = current_stack_bounds(frame);
    // The view of a watched thread is never up to date, so that all its events take the slow path.
    const bool is_watched = is_watched_thread(thread.instance.load(memory_order::relaxed));
    thread.view_number = is_watched ? no_view : now.number;
    thread.straight_view = thread.mode == charge::stacks ? thread.view_number : no_view;
    // In mode `numbers` the next allocation finds the counters and makes the view straight.
    for (plain_place& each : thread.plain) each.counters = nullptr;
    return true;
}

}  // namespace detail

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_RECORD_VIEW_REFRESH_HPP
