// peak_tracking.hpp - the high-water mark of each window, without a shared counter.
//
// Room:     record (floor 5), malloc-safe
// Called:   on every recorded allocation and free (two additions and a comparison); the rest when a
//           thread's pending bytes leave +-64 KiB, and at window boundaries
// Threads:  each thread writes its own shares; sums are read across threads
// Memory:   in thread_state; with more than 64 open windows 24 KiB for each thread, and 32 bytes
//           for each thread and window
//
// All objects that a thread allocates now belong to the same windows. So one pending sum serves all
// windows, and its maximum since the last flush gives the exact peak:
//
//     peak = max(peak, live of others + own live before the flush + highest pending)
//
// With one thread "others" is 0 and the peak is exact. With n threads the live bytes of each thread
// differ by less than `flush_bytes` from what it last published, so the peak is within n * 64 KiB.
//
// A freed object may belong to other windows than a new object would: it may be older than an inner
// window, or come from another thread. Then the pending sum is flushed first, and the object is
// subtracted only from the shares of its own windows.
//
// The windows from the 65th on are updated in batches of up to 1024 boundaries or 64 KiB. With n
// threads their peaks are within n * 128 KiB.

#ifndef ALLOCSCOPE_RECORD_PEAK_TRACKING_HPP
#define ALLOCSCOPE_RECORD_PEAK_TRACKING_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/thread_wait.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/cohort_table.hpp>

#include <cstdint>  // int64_t, uint32_t, uint64_t

ALLOCSCOPE_RARE_BEGIN

namespace detail {

ALLOCSCOPE_INLINE std::int64_t pending_bytes(const thread_state& thread) noexcept {
    return thread.bytes_above_floor - (flush_bytes - 1);
}

// How much the sum of the two distances is too small. The shortest path of a hook counts an event
// in two steps. It changes one distance before them and the other after them, so that the sum is
// too small in between. Other paths count in one step, and the sum may be too large behind it.
ALLOCSCOPE_INLINE std::int64_t missing_distance(const thread_state& thread) noexcept {
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
    return static_cast<void>(thread), 0;  // it counts in one step
#else
    const std::int64_t wanted = thread.pending_peak.load(memory_order::acquire) + (flush_bytes - 1);
    return wanted - __atomic_load_n(&thread.bytes_below_peak, __ATOMIC_ACQUIRE) -
           __atomic_load_n(&thread.bytes_above_floor, __ATOMIC_ACQUIRE);
#endif
}

// The bytes of an event that the thread may have counted in part; 0: of none. Any thread may ask,
// between two readings of the counters: if these are equal, the thread has not moved meanwhile.
ALLOCSCOPE_INLINE std::uint64_t bytes_between_steps(const thread_state& thread) noexcept {
    const std::int64_t missing = missing_distance(thread);
    // A thread that runs may change one of the three after another one was read.
    constexpr std::int64_t most = 2 * flush_bytes;
    return static_cast<std::uint64_t>(missing < 0 || missing > most ? most : missing);
}

// For a thread that does not run.
ALLOCSCOPE_INLINE bool is_inside_an_event(const thread_state& thread) noexcept {
    return missing_distance(thread) > 0 ||
           thread.unfinished.objects.load(memory_order::relaxed) != 0;
}

// For a state whose hook was abandoned, perhaps when only one of the distances had been changed.
inline void mend_pending(thread_state& thread) noexcept {
    const std::int64_t net = pending_bytes(thread);
    const std::int64_t highest = thread.pending_peak.load(memory_order::relaxed);
    if (net > highest) thread.pending_peak.store(net, memory_order::relaxed);
    thread.bytes_below_peak = net > highest ? 0 : highest - net;
    thread.unfinished.objects.store(0, memory_order::relaxed);
}

inline void forget_pending(thread_state& thread) noexcept {
    thread.bytes_below_peak = 0;
    thread.bytes_above_floor = flush_bytes - 1;
    thread.pending_peak.store(0, memory_order::relaxed);
}

inline unmasked_shares* existing_more_shares(const thread_state& thread) noexcept {
    return thread.more_shares.load(memory_order::acquire);
}
inline unmasked_shares* make_more_shares(thread_state& thread) noexcept {
    unmasked_shares* more = existing_more_shares(thread);
    if (more != nullptr) return more;
    more = static_cast<unmasked_shares*>(reserve_pages(sizeof(unmasked_shares)));
    thread.more_shares.store(more, memory_order::release);
    return more;
}

// The thread's share in the window of a slot; null when there is no memory for it.
inline window_share* share_of(thread_state& thread, std::uint32_t slot, bool make) noexcept {
    if (slot < window_table::masked_windows) return thread.shares + slot;
    unmasked_shares* more = make ? make_more_shares(thread) : existing_more_shares(thread);
    return more == nullptr ? nullptr : more->shares + slot;
}

// The bytes that all threads but `except` have published for a window.
inline std::int64_t published_bytes(std::uint32_t slot, std::uint64_t opened_at,
                                    const thread_state* except) noexcept {
    std::int64_t sum = 0;
    for (thread_state& each : all_threads()) {
        if (&each == except) continue;
        const window_share* share = share_of(each, slot, false);
        if (share == nullptr || share->opened_at.load(memory_order::acquire) != opened_at) {
            continue;
        }
        sum += share->live_bytes.load(memory_order::relaxed);
    }
    return sum;
}

// The thread's share. It is reset when it still belongs to an earlier window of the slot.
inline window_share* current_share(thread_state& thread, std::uint32_t slot,
                                   std::uint64_t opened_at) noexcept {
    window_share* share = share_of(thread, slot, true);
    if (share != nullptr && share->opened_at.load(memory_order::relaxed) != opened_at) {
        share->opened_at.store(0, memory_order::relaxed);
        share->live_bytes.store(0, memory_order::release);
        share->peak_bytes.store(0, memory_order::relaxed);
        share->opened_at.store(opened_at, memory_order::release);
    }
    return share;
}

// `clock` is the clock of the view under which the bytes were summed.
inline void flush_to_window(thread_state& thread, std::uint32_t slot, std::uint64_t clock,
                            std::int64_t net, std::int64_t highest) noexcept {
    const open_window* window = process.windows.by_slot(slot);
    if (window == nullptr) return;
    const std::uint64_t opened_at = window->open_at.load(memory_order::acquire);
    // The window of that view may have closed meanwhile, and another one may have opened in its
    // slot.
    if (opened_at == 0 || opened_at > clock) return;
    window_share* share = current_share(thread, slot, opened_at);
    if (share == nullptr) return;
    const std::int64_t live = share->live_bytes.load(memory_order::relaxed);
    std::int64_t others = published_bytes(slot, opened_at, &thread);
    const std::int64_t highest_others =
        share->peak_bytes.load(memory_order::relaxed) - live - highest;
    if (others > highest_others) {
        // A thread that was interrupted while it added up may have seen the same bytes in two other
        // threads. So a new peak is checked a second time.
        const std::int64_t again = published_bytes(slot, opened_at, &thread);
        if (again < others) others = again;
    }
    if (others > highest_others) {
        share->peak_bytes.store(others + live + highest, memory_order::relaxed);
    }
    share->live_bytes.store(live + net, memory_order::release);
}

// --- windows without a mask bit ---

// Adds the later entries to each entry, so that it holds the unsettled bytes from itself to the
// last.
ALLOCSCOPE_INLINE void sum_from_the_last(unmasked_shares& more, std::uint32_t count) noexcept {
    for (std::uint32_t i = count - 1; i-- > 0;) {
        unsettled_bytes& here = more.unsettled[i];
        const unsettled_bytes& later = more.unsettled[i + 1];
        const std::int64_t net = here.net.load(memory_order::relaxed);
        const std::int64_t reached = net + later.highest.load(memory_order::relaxed);
        if (reached > here.highest.load(memory_order::relaxed)) {
            here.highest.store(reached, memory_order::relaxed);
        }
        here.net.store(net + later.net.load(memory_order::relaxed), memory_order::relaxed);
    }
}

// Tells each window the unsettled bytes since it opened.
ALLOCSCOPE_SLOW_PATH void settle(thread_state& thread) noexcept {
    unmasked_shares* more = existing_more_shares(thread);
    const std::uint32_t count = more == nullptr ? 0 : more->count.load(memory_order::relaxed);
    if (count == 0) return;
    const std::uint32_t settlings = more->settlings.load(memory_order::relaxed);
    more->settlings.store(settlings + 1, memory_order::relaxed);
    atomic_thread_fence(memory_order::release);
    sum_from_the_last(*more, count);
    const std::uint64_t instance = thread.instance.load(memory_order::relaxed);
    const std::uint32_t end = process.windows.slot_end();
    for (std::uint32_t slot = window_table::masked_windows; slot < end; ++slot) {
        const open_window* window = process.windows.by_slot(slot);
        std::uint32_t first = 0;
        const auto clock_of = [more](std::uint32_t entry) {
            return more->unsettled[entry].clock.load(memory_order::relaxed);
        };
        if (!window->owns(clock_of(count - 1), instance)) continue;  // not even the latest
        while (!window->owns(clock_of(first), instance) && first + 1 < count) ++first;
        flush_to_window(thread, slot, clock_of(first),
                        more->unsettled[first].net.load(memory_order::relaxed),
                        more->unsettled[first].highest.load(memory_order::relaxed));
    }
    more->count.store(0, memory_order::relaxed);
    more->net = 0;
    more->settlings.store(settlings + 2, memory_order::release);
}

ALLOCSCOPE_SLOW_PATH void note_unsettled(thread_state& thread, std::int64_t net,
                                         std::int64_t highest) noexcept {
    unmasked_shares* more = make_more_shares(thread);
    if (more == nullptr) {
        thread.lose(loss_reason::no_room_for_peak);
        return;
    }
    const std::uint32_t count = more->count.load(memory_order::relaxed);
    unsettled_bytes& entry = more->unsettled[count];
    entry.clock.store(thread.clock.load(memory_order::relaxed), memory_order::relaxed);
    entry.net.store(net, memory_order::relaxed);
    entry.highest.store(highest, memory_order::relaxed);
    more->count.store(count + 1, memory_order::release);
    const std::int64_t reached = more->net + highest;
    more->net += net;
    if (count + 1 == unmasked_shares::most_unsettled || reached >= flush_bytes ||
        more->net <= -flush_bytes) {
        settle(thread);
    }
}

struct unsettled_sum {
    std::int64_t net = 0;
    std::int64_t highest = 0;
};

// Any thread may call this. Returns the unsettled bytes of a window in a thread, which may go on
// recording meanwhile.
inline unsettled_sum unsettled_of(const thread_state& thread, const open_window& window) noexcept {
    constexpr int most_tries = 1000;
    const unmasked_shares* more = existing_more_shares(thread);
    unsettled_sum sum;
    thread_wait waiting;
    for (int i = 0; more != nullptr && i < most_tries; ++i) {
        const std::uint32_t before = more->settlings.load(memory_order::acquire);
        if ((before & 1U) != 0) {
            waiting.once();
            continue;
        }
        sum = {};
        const std::uint32_t count = more->count.load(memory_order::acquire);
        const std::uint64_t instance = thread.instance.load(memory_order::relaxed);
        for (std::uint32_t k = 0; k < count; ++k) {
            const unsettled_bytes& each = more->unsettled[k];
            if (!window.owns(each.clock.load(memory_order::relaxed), instance)) continue;
            const std::int64_t reached = sum.net + each.highest.load(memory_order::relaxed);
            if (reached > sum.highest) sum.highest = reached;
            sum.net += each.net.load(memory_order::relaxed);
        }
        atomic_thread_fence(memory_order::acquire);
        if (more->settlings.load(memory_order::relaxed) == before) break;
    }
    return sum;
}

// --- all windows ---

// Calls action(slot) for each window in the mask and, if `many`, for each one without a mask bit.
template <class Action>
inline void for_each_window(std::uint64_t mask, bool many, Action&& action) noexcept {
    for (std::uint64_t left = mask; left != 0; left &= left - 1) {
        action(static_cast<std::uint32_t>(__builtin_ctzll(left)));
    }
    if (!many) return;
    const std::uint32_t end = process.windows.slot_end();
    for (std::uint32_t slot = window_table::masked_windows; slot < end; ++slot) action(slot);
}

// Adds the pending bytes to the windows that watched the thread while they were summed.
ALLOCSCOPE_NOINLINE void flush_pending(thread_state& thread) noexcept {
    const std::int64_t net = pending_bytes(thread);
    const std::int64_t highest = thread.pending_peak.load(memory_order::relaxed);
    if (net == 0 && highest == 0) return;
    const std::uint64_t clock = thread.clock.load(memory_order::relaxed);
    for_each_window(thread.windows, false, [&](std::uint32_t slot) {
        flush_to_window(thread, slot, clock, net, highest);
    });
    if (thread.many_windows != 0) note_unsettled(thread, net, highest);
    forget_pending(thread);
}

ALLOCSCOPE_INLINE void add_live_bytes(thread_state& thread, std::uint64_t bytes) noexcept {
    thread.bytes_above_floor += static_cast<std::int64_t>(bytes);
    compiler_barrier();  // so that each line is one instruction
    thread.bytes_below_peak -= static_cast<std::int64_t>(bytes);
    if (ALLOCSCOPE_UNLIKELY(thread.bytes_below_peak < 0)) {
        const std::int64_t net = pending_bytes(thread);
        thread.bytes_below_peak = 0;
        thread.pending_peak.store(net, memory_order::relaxed);
        if (net >= flush_bytes) flush_pending(thread);
    }
}

// For an object that belongs to exactly the windows that watch this thread now.
ALLOCSCOPE_INLINE void remove_live_bytes(thread_state& thread, std::uint64_t bytes) noexcept {
    thread.bytes_below_peak += static_cast<std::int64_t>(bytes);
    compiler_barrier();  // as above
    thread.bytes_above_floor -= static_cast<std::int64_t>(bytes);
    if (ALLOCSCOPE_UNLIKELY(thread.bytes_above_floor < 0)) flush_pending(thread);
}

// For an object that belongs to the windows of its birth, whichever they are.
ALLOCSCOPE_NOINLINE void remove_older_bytes(thread_state& thread, std::uint64_t bytes,
                                            std::uint64_t born_at, std::uint64_t born_windows,
                                            std::uint64_t born_instance) noexcept {
    flush_pending(thread);
    settle(thread);
    const bool many = process.windows.slot_end() > window_table::masked_windows;
    for_each_window(born_windows, many, [&](std::uint32_t slot) {
        const open_window* window = process.windows.by_slot(slot);
        if (window == nullptr || !window->owns(born_at, born_instance)) return;
        window_share* share =
            current_share(thread, slot, window->open_at.load(memory_order::acquire));
        if (share == nullptr) {
            thread.lose(loss_reason::no_room_for_peak);
            return;
        }
        share->live_bytes.store(
            share->live_bytes.load(memory_order::relaxed) - static_cast<std::int64_t>(bytes),
            memory_order::release);
    });
}

// Subtracts a dying object, which any thread may have allocated.
ALLOCSCOPE_INLINE void take_from_live(thread_state& thread, const cohort_facts& born,
                                      std::uint64_t bytes) noexcept {
    const std::uint64_t born_at = born.born_at.load(memory_order::relaxed);
    const std::uint64_t windows = born.windows.load(memory_order::relaxed);
    if (ALLOCSCOPE_LIKELY(windows == thread.windows && born_at >= thread.newest_window &&
                          thread.many_windows == 0)) {
        remove_live_bytes(thread, bytes);
    } else {
        remove_older_bytes(thread, bytes, born_at, windows,
                           born.instance.load(memory_order::relaxed));
    }
}

// Called under the control lock. Returns the peak of a window as far as all threads have seen it.
// `seen` is the peak in a thread's share; `reached` is the peak with that thread's unsettled or
// pending bytes.
inline std::uint64_t peak_of_window(std::uint32_t slot, std::uint64_t opened_at) noexcept {
    const open_window& window = *process.windows.by_slot(slot);
    const bool is_masked = slot < window_table::masked_windows;
    std::int64_t published = published_bytes(slot, opened_at, nullptr);
    if (!is_masked) {
        for (const thread_state& each : all_threads()) published += unsettled_of(each, window).net;
    }
    std::int64_t peak = 0;
    for (thread_state& each : all_threads()) {
        const window_share* share = share_of(each, slot, false);
        if (share != nullptr && share->opened_at.load(memory_order::acquire) == opened_at) {
            const std::int64_t seen = share->peak_bytes.load(memory_order::relaxed);
            if (seen > peak) peak = seen;
        }
        if (!is_masked) {
            const unsettled_sum own = unsettled_of(each, window);
            const std::int64_t reached = published - own.net + own.highest;
            if (reached > peak) peak = reached;
        }
        if (!window.owns(each.clock.load(memory_order::acquire),
                         each.instance.load(memory_order::acquire))) {
            continue;
        }
        const std::int64_t reached = published + each.pending_peak.load(memory_order::relaxed);
        if (reached > peak) peak = reached;
    }
    return static_cast<std::uint64_t>(peak);
}

}  // namespace detail

ALLOCSCOPE_RARE_END

#endif  // ALLOCSCOPE_RECORD_PEAK_TRACKING_HPP
