// window_control.hpp - opens and closes windows.
//
// Room:     windows (floor 6), malloc-safe
// Called:   by the engine table, from any thread
// Threads:  one at a time under the control lock; hooks go on meanwhile
// Memory:   a window slot for each
//
// A process-wide window concerns every thread: the gate gets a new number, and each thread notices
// it at its next event. A threads::current window concerns only its own thread: that thread's view
// becomes stale, and no other thread is disturbed.

#ifndef ALLOCSCOPE_WINDOWS_WINDOW_CONTROL_HPP
#define ALLOCSCOPE_WINDOWS_WINDOW_CONTROL_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/cut_text.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/platform/clocks.hpp>
#include <allocscope/platform/kept_pages.hpp>
#include <allocscope/platform/lasting_pages.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/thread_fence.hpp>
#include <allocscope/record/recorder.hpp>
#include <allocscope/record/staying_module.hpp>
#include <allocscope/record/thread_lifecycle.hpp>
#include <allocscope/state/gate.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/windows/after_fork.hpp>
#include <allocscope/windows/published_view.hpp>
#include <allocscope/windows/table_release.hpp>
#include <allocscope/windows/window_sums.hpp>

#include <cstdint>  // int64_t, uint32_t, uint64_t

ALLOCSCOPE_RARE_BEGIN

namespace detail {

// --- identity ---

inline window_id id_of(std::uint32_t slot) noexcept {
    const open_window& window = *process.windows.by_slot(slot);
    return (static_cast<window_id>(window.generation) << 32U) | (slot + 1U);
}

constexpr std::uint32_t slot_of(window_id id) noexcept {
    return static_cast<std::uint32_t>(id & 0xffffffffU) - 1U;
}

// Control lock. The open window with this id, or null.
inline open_window* find_window(window_id id) noexcept {
    if (id == 0) return nullptr;
    open_window* window = process.windows.by_slot(slot_of(id));
    if (window == nullptr || window->open_at.load(memory_order::relaxed) == 0) return nullptr;
    return id_of(slot_of(id)) == id ? window : nullptr;
}

// --- the calling thread ---

ALLOCSCOPE_NOINLINE thread_state* own_state() noexcept {
    if (current_entry == &departed) return process.latecomer.load(memory_order::acquire);
    thread_state* state = current_state();
    return state != nullptr ? state : attach_thread();
}

// Makes the next event of this thread read its view anew.
ALLOCSCOPE_INLINE void make_view_stale(thread_state& thread) noexcept {
    for (thread_state* t = &thread; t != nullptr; t = t->nested.load(memory_order::relaxed)) {
        t->forget_view();
    }
}

// --- boundaries ---

inline thread_state* state_of_instance(std::uint64_t instance) noexcept {
    for (thread_state& each : all_threads()) {
        if (each.primary_state.load(memory_order::relaxed) == &each &&
            each.is_taken.load(memory_order::acquire) &&
            each.instance.load(memory_order::relaxed) == instance) {
            return &each;
        }
    }
    return nullptr;
}

// Control lock. A window has opened (+1), closed (-1) or begun anew (0). Tells the threads that it
// concerns.
inline void announce(const open_window& window, int change) noexcept {
    const std::uint64_t instance = window.instance.load(memory_order::relaxed);
    const bool is_first = process.entry.word() == 0;
    const bool is_of_every_event = window.mode.load(memory_order::relaxed) >= charge::numbers;
    if (is_of_every_event) process.windows_of_every_event += static_cast<std::uint32_t>(change);
    // Any thread that frees an object of this window must look it up.
    const bool is_first_of_all_events = is_of_every_event && !process.sees_every_event;
    if (is_first_of_all_events) process.sees_every_event = true;
    if (instance == every_thread && change != 0) process.windows.change_demand(window, change);
    if (instance == every_thread || process.windows.unmasked_count() != 0) publish_view();
    if (instance == every_thread) return;
    thread_state* watched = state_of_instance(instance);
    if (watched == nullptr) return;  // the thread has ended
    if (change != 0) change_own_demand(*watched, window, change);
    watched->own_clock.store(process.clock.load(memory_order::relaxed), memory_order::release);
    if (watched == own_state()) make_view_stale(*watched);
    if (is_first || is_first_of_all_events || watched != own_state()) publish_view();
}

// Control lock. Follows the peak of a window that begins at `opened_at`, unless the peak of another
// window is followed already. If this window begins anew, `before` is when it began the last time.
inline void follow_peak(const open_window& window, std::uint64_t before,
                        std::uint64_t opened_at) noexcept {
    followed_peaks& followed = process.followed;
    if (followed.first_ns == 0) {
        followed.first_ticks = __builtin_ia32_rdtsc();
        followed.first_ns = monotonic_ns();
    }
    const bool is_free = followed.number.load(memory_order::relaxed) == 0;
    if (!is_free && followed.number_of(before) == 0) return;
    const std::uint64_t number = ++followed.last_number;
    followed_peak& peak = followed.peaks[number % followed_peaks::kept];
    peak.number.store(0, memory_order::release);
    peak.live_bytes.store(0, memory_order::relaxed);
    peak.peak_bytes.store(0, memory_order::relaxed);
    peak.number.store(number, memory_order::release);
    followed.opened_at.store(opened_at, memory_order::relaxed);
    followed.instance.store(window.instance.load(memory_order::relaxed), memory_order::relaxed);
    followed.number.store(number, memory_order::release);
}

inline void stop_following(const open_window& window) noexcept {
    if (process.followed.number_of(window.open_at.load(memory_order::relaxed)) == 0) return;
    process.followed.number.store(0, memory_order::release);
}

// Control lock. From now on the window owns what is born. Its time begins at `since_ns`.
inline void begin_window(open_window& window, std::uint64_t since_ns) noexcept {
    const std::uint64_t now = process.clock.fetch_add(1, memory_order::acq_rel) + 1;
    const moving_sums meanwhile;
    window.retired = {};
    window.highest_read = 0;
    if (is_anything_lost.load(memory_order::relaxed)) read_losses(window.losses_before);
    window.started_ns = since_ns;
    if (window.ages != nullptr) window.ages->clear();
    const std::uint64_t before = window.open_at.load(memory_order::relaxed);
    process.windows.begin(window, now);
    if (window.wanted.details) follow_peak(window, before, now);
}

// Called before the first window, and before the first pause if that comes earlier.
inline void prepare_process() noexcept {
    if (process.is_prepared.exchange(true, memory_order::acq_rel)) return;
    stay_loaded(reinterpret_cast<std::uintptr_t>(&thread_end));
    pages_of_requests.begin();
    prepare_for_forks();
    prepare_thread_fence();
}

// --- what the engine table offers ---

// If there is a sample at every byte, each object is a sample, so such a window is exact.
constexpr charge charge_for(const options& wanted) noexcept {
    if (wanted.record == recording::counters) return charge::numbers;
    const bool has_dice = wanted.record == recording::sampled && wanted.sample_bytes > 1;
    return has_dice ? charge::samples : wanted.details ? charge::details : charge::stacks;
}

// Returns 0 when there is no memory for a window or for the tables behind it.
inline window_id open_window_now(const char* name, const options& wanted) noexcept {
    prepare_process();
    control_lock lock;
    if (!prepare_threads()) return 0;
    process.reclaim = &reclaim_when_due;
    const thread_state* self = own_state();
    if (wanted.from == threads::current && self == nullptr) return 0;
    if (!process.objects.prepare() || !process.cohorts.prepare()) return 0;
    const charge mode = charge_for(wanted);
    if (mode == charge::samples && !process.samples.prepare()) return 0;
    const std::int64_t taken = process.windows.take_slot();
    if (taken < 0) return 0;
    const auto slot = static_cast<std::uint32_t>(taken);
    open_window& window = *process.windows.by_slot(slot);
    window.wanted = wanted;
    copy_cut(window.name, sizeof(window.name), name);
    window.mode.store(mode, memory_order::relaxed);
    window.frames.store(wanted.stack_frames, memory_order::relaxed);
    window.methods.store(only(wanted.unwind), memory_order::relaxed);
    window.sample_bytes.store(wanted.sample_bytes, memory_order::relaxed);
    window.instance.store(
        wanted.from == threads::all ? every_thread : self->instance.load(memory_order::relaxed),
        memory_order::relaxed);
    begin_window(window, monotonic_ns());
    if (process.windows.open_count() == 1) {
        process.session_began_at = window.open_at.load(memory_order::relaxed);
        process.sees_every_event = false;
        process.windows_of_every_event = 0;
    }
    announce(window, +1);
    return id_of(slot);
}

// Whether an object is alive that was recorded while every event was recorded.
inline bool is_any_event_alive() noexcept {
    for (const thread_state& each : all_threads()) {
        for (const epoch* e = each.newest_epoch.load(memory_order::acquire); e != nullptr;
             e = e->older.load(memory_order::relaxed)) {
            if (e->began_at.load(memory_order::relaxed) < process.session_began_at) break;
            if (e->sample_bytes.load(memory_order::relaxed) != 0) continue;
            bool is_any = false;
            for_each_cohort(*e, [&is_any](const cohort& c, std::uint32_t id) {
                is_any = is_any || deaths_of(c, id).events != c.births.events();
            });
            if (is_any) return true;
        }
    }
    return false;
}

// Control lock. Called whenever a window closes. If only sampled windows are open, and all live
// objects with a record are samples, a free needs only one test of its address again.
inline void look_up_frees_no_more() noexcept {
    if (!process.sees_every_event || process.windows_of_every_event != 0) return;
    // No thread may be about to record an event under the old view.
    if (!all_threads_are_outside() || is_any_event_alive()) return;
    process.sees_every_event = false;
    publish_view();
}

// Control lock.
inline void close_found_window(open_window& window, std::uint32_t slot) noexcept {
    stop_following(window);
    if (window.ages != nullptr) lasting_pages::give_back(window.ages, page_bytes);
    window.ages = nullptr;
    process.windows.free_slot(slot);
    process.clock.fetch_add(1, memory_order::acq_rel);
    if (process.windows.open_count() != 0) {
        announce(window, -1);
        reclaim_when_due();
        look_up_frees_no_more();
        return;
    }
    process.entry.shut();
    const std::uint64_t instance = window.instance.load(memory_order::relaxed);
    if (instance == every_thread) {
        process.windows.change_demand(window, -1);
    } else if (thread_state* watched = state_of_instance(instance)) {
        change_own_demand(*watched, window, -1);
    }
    end_session();
}

// A window that another thread is reading stays open until the reading is done.
inline void close_window_now(window_id id) noexcept {
    for (;;) {
        {
            const control_lock lock;
            open_window* window = find_window(id);
            if (window == nullptr) return;
            if (process.window_being_read != id) {
                close_found_window(*window, slot_of(id));
                return;
            }
        }
        const walking_lock until_read;
    }
}

// The state of the calling thread. This may be the first function of the engine that is called, and
// it may ask the C library for memory, so no lock may be held. Null when there is no memory.
inline thread_state* prepared_state() noexcept {
    if (process.latecomer.load(memory_order::acquire) == nullptr) {
        prepare_process();
        const control_lock lock;
        prepare_threads();
    }
    return own_state();
}

inline void pause_now(int change) noexcept {
    thread_state* self = prepared_state();
    if (self == nullptr || self == process.latecomer.load(memory_order::acquire)) return;
    // The pause began when there was no memory for the thread's state.
    if (change < 0 && self->pause_depth == 0) return;
    self->pause_depth += static_cast<std::uint32_t>(change);
    make_view_stale(*self);
}

}  // namespace detail

ALLOCSCOPE_RARE_END

#endif  // ALLOCSCOPE_WINDOWS_WINDOW_CONTROL_HPP
