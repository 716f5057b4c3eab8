// enter_hook.hpp - a hook takes its thread's state, and gives it back.
//
// Room:     record (floor 5), malloc-safe
// Called:   by every hook that has something to record
// Threads:  any, also in signal handlers; no lock and no locked instruction after a thread's first
//           event
// Memory:   a thread's state with its first event

#ifndef ALLOCSCOPE_RECORD_ENTER_HOOK_HPP
#define ALLOCSCOPE_RECORD_ENTER_HOOK_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/record/thread_lifecycle.hpp>
#include <allocscope/record/view_refresh.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>

#include <cstdint>  // uintptr_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

ALLOCSCOPE_FAST_PATH void leave(thread_state& thread) noexcept {
    compiler_barrier();
    // Release: a thread that sees this thread idle also sees all that it wrote while it was busy.
    thread.busy.store(0, memory_order::release);
}

// Counts an event as lost because no state can record it.
ALLOCSCOPE_SLOW_PATH void lose_event() noexcept {
    thread_state* own = current_state();
    if (own != nullptr) {
        own->lose(loss_reason::too_deeply_nested);
    } else {
        is_anything_lost.store(true, memory_order::relaxed);
        process.events_without_state.fetch_add(1, memory_order::relaxed);
    }
}

// Returns the thread's state, marked busy and with its view up to date. Returns null when no window
// is open, or when there is no state. The event is then counted as lost, unless `is_event` is false
// because the hook will call enter() once more for the same event.
//
// The gate is read after `busy` is set. A thread that gives tables back does the reverse: it shuts
// the gate, fences all threads, and then reads `busy`. So either that thread sees this one busy, or
// this thread sees the gate shut.
inline thread_state* enter(std::uintptr_t frame, bool is_event = true) noexcept {
    thread_state* thread = current_state();
    if (thread == nullptr || thread->busy.load(memory_order::relaxed) != 0) {
        thread = enter_slow(frame);
        if (thread == nullptr) {
            if (is_event && process.entry.word() != 0) lose_event();
            return nullptr;
        }
    }
    thread->busy.store(frame, memory_order::relaxed);
    compiler_barrier();
    if (process.entry.word() != thread->view_number && !refresh_view(*thread, frame)) {
        leave(*thread);
        return nullptr;
    }
    return thread;
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_RECORD_ENTER_HOOK_HPP
