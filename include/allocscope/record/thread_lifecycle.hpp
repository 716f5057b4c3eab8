// thread_lifecycle.hpp - a thread gets its state with its first event and gives it back at its end.
//
// Room:     record (floor 5), malloc-safe
// Called:   once per thread, from its first hook; by the C library when the thread ends; in a
//           forked child
// Threads:  any; the list of states is lock-free
// Memory:   maps a thread_state when no free one is left
//
// A thread ends in rounds: first its thread_local objects are destroyed, then up to four rounds of
// pthread_key destructors run, and all of them may still allocate and free. Our destructor asks to
// be called again until the last round. Later events (of other keys in the last round, or of the C
// library's own clean-up) are recorded in `process.latecomer`, or in another such state while a
// hook works in that one.
//
// In a program that uses every pthread key there is no call when a thread ends. The state of such a
// thread stores its thread id. When a new state is needed, the kernel is asked which of these
// threads are gone.

#ifndef ALLOCSCOPE_RECORD_THREAD_LIFECYCLE_HPP
#define ALLOCSCOPE_RECORD_THREAD_LIFECYCLE_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/lasting_pages.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/platform/thread_identity.hpp>
#include <allocscope/record/peak_tracking.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/unwind/known_rules.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uintptr_t
#include <new>      // placement new

#include <limits.h>   // PTHREAD_DESTRUCTOR_ITERATIONS
#include <pthread.h>  // pthread_key_create, pthread_setspecific

ALLOCSCOPE_RARE_BEGIN

namespace detail {

inline std::uint64_t new_instance() noexcept {
    return process.last_instance.fetch_add(1, memory_order::relaxed) + 1;
}

// Adds a state to the list of states, over which readers sum.
inline void enlist(thread_state& fresh) noexcept {
    fresh.number = process.last_state_number.fetch_add(1, memory_order::relaxed) + 1;
    thread_state* first = process.threads.load(memory_order::relaxed);
    do {
        fresh.next_state = first;
        // Release: a thread that finds the state sees its number.
    } while (!process.threads.compare_exchange_weak(first, &fresh, memory_order::acq_rel));
}

// Takes a state that was given back; null when there is none.
inline thread_state* take_used_state() noexcept {
    for (thread_state& each : all_threads()) {
        if (each.is_taken.load(memory_order::relaxed)) continue;
        bool expected = false;
        // Acquire: pairs with the release in give_back_state, so this thread sees all that the last
        // owner wrote.
        if (each.is_taken.compare_exchange_strong(expected, true, memory_order::acquire)) {
            return &each;
        }
    }
    return nullptr;
}

ALLOCSCOPE_INLINE void give_back_state(thread_state& state) noexcept {
    // Acquire: pairs with the release in leave(), in case the thread of this state is gone.
    static_cast<void>(state.busy.load(memory_order::acquire));
    flush_pending(state);
    settle(state);
    state.forget_view();
    state.is_epoch_current = false;
    state.nested.store(nullptr, memory_order::relaxed);
    state.busy.store(0, memory_order::relaxed);
    state.is_taken.store(false, memory_order::release);
}

// Also gives back the states of the signal handlers that interrupted its hooks.
ALLOCSCOPE_INLINE void give_back_with_nested(thread_state& state) noexcept {
    for (thread_state* inner = &state; inner != nullptr;) {
        thread_state* next = inner->nested.load(memory_order::relaxed);
        give_back_state(*inner);
        inner = next;
    }
}

// Under one long window there are no boundaries, so only threads that end start a reclaim.
ALLOCSCOPE_INLINE void reclaim_if_possible() noexcept {
    // In a child of _Fork(), a lock that a thread of the parent held stays closed.
    if (process.mark.is_unsettled()) return;
    ++own_locks.count;
    compiler_barrier();
    if (::pthread_mutex_trylock(&process.control) == 0) {
        if (process.reclaim != nullptr) process.reclaim();
        ::pthread_mutex_unlock(&process.control);
    }
    compiler_barrier();
    --own_locks.count;
}

// Gives back the states of threads that ended without telling us. This takes one system call for
// each thread that may have ended. So it is done only when enough threads have begun since the last
// time: as many as were left then, and 16 more.
ALLOCSCOPE_SLOW_PATH void collect_ended_threads() noexcept {
    constexpr std::uint64_t least = 16;
    if (process.mark.is_unsettled()) return;  // a thread has another id in a forked child
    const std::uint64_t begun = process.last_instance.load(memory_order::relaxed);
    if (begun < process.collect_at_instance.load(memory_order::relaxed)) return;
    std::uint64_t left = 0;
    for (thread_state& each : all_threads()) {
        std::int32_t id = each.thread_id.load(memory_order::acquire);
        if (id == 0) continue;
        if (!is_thread_gone(id)) {
            ++left;
            continue;
        }
        // When two threads do this at the same time, only one of them gives the state back.
        if (each.thread_id.compare_exchange_strong(id, 0)) give_back_with_nested(each);
    }
    process.collect_at_instance.store(begun + left + least, memory_order::relaxed);
    reclaim_if_possible();
}

// Takes an unused state, or makes one; null when there is no memory.
inline thread_state* take_state() noexcept {
    if (thread_state* used = take_used_state()) return used;
    if (process.has_untold_ends.load(memory_order::relaxed)) {
        collect_ended_threads();
        if (thread_state* used = take_used_state()) return used;
    }
    constexpr std::size_t bytes = (sizeof(thread_state) + page_bytes - 1) & ~(page_bytes - 1);
    void* pages = map_lasting_pages(bytes);
    if (pages == nullptr) return nullptr;
    auto* fresh = ::new (pages) thread_state;
    fresh->is_taken.store(true, memory_order::relaxed);
    enlist(*fresh);
    return fresh;
}

// ThreadSanitizer forgets a thread in the last round; none of our code may run after that.
constexpr std::uint32_t last_destructor_round =
    PTHREAD_DESTRUCTOR_ITERATIONS - (ALLOCSCOPE_ON(THREAD_SANITIZER) ? 1 : 0);

// Called by the C library in each round of key destructors of an ending thread. In a forked child
// whose gate is wiped, the state belongs to the parent.
inline void thread_end(void* value) noexcept {
    if (process.entry.is_wiped()) return;
    auto* state = static_cast<thread_state*>(value);
    if (++state->end_rounds < last_destructor_round) {
        ::pthread_setspecific(process.thread_key, state);
        return;
    }
    current_entry = &departed;
    compiler_barrier();
    give_back_with_nested(*state);
    reclaim_if_possible();
}

// Called under the control lock before the first window opens, and again after a failure. Returns
// false when there is no memory.
inline bool prepare_threads() noexcept {
    if (process.latecomer.load(memory_order::acquire) != nullptr) return true;
    rules_of_all.prepare();
    thread_state* common = take_state();
    if (common == nullptr) return false;
    common->primary_state.store(common, memory_order::relaxed);
    common->instance.store(new_instance(), memory_order::relaxed);
    // Release: a thread that finds the state sees it complete.
    process.latecomer.store(common, memory_order::release);
    if (::pthread_key_create(&process.thread_key, &thread_end) == 0) {
        process.has_thread_key.store(true, memory_order::release);
    }
    return true;
}

inline void begin_state(thread_state& state, thread_state& primary,
                        std::uint64_t instance) noexcept {
    state.primary_state.store(&primary, memory_order::relaxed);
    state.instance.store(instance, memory_order::relaxed);
    state.task.store(own_thread_id_unasked(), memory_order::relaxed);
    state.forget_view();
    state.is_epoch_current = false;
    state.epoch_serial = no_epoch;
    state.forget_plain_places();
    state.last_born = nullptr;
    state.pause_depth = 0;
    state.sample_bytes = 0;
    state.bytes_left.store(never_sampled, memory_order::relaxed);
    state.has_dice = false;  // each thread seeds its own
    state.end_rounds = 0;
    // Set to now, so that the epochs of one state stay in order of time over all its threads.
    state.own_clock.store(process.clock.load(memory_order::acquire), memory_order::relaxed);
    state.clock.store(0, memory_order::relaxed);
    state.windows = 0;
    state.bounds = {};
    // The memo's chains lie on a stack that no longer exists. They are dropped when the view is
    // refreshed, because the depth differs then. They are not dropped here, because another thread
    // may be giving the tables back at this moment.
    state.frames = 0;
    state.has_unoptimised_stacks = false;
}

// The state of the calling thread, made on its first call; null when there is no memory.
ALLOCSCOPE_SLOW_PATH thread_state* attach_thread() noexcept {
    thread_state* state = take_state();
    if (state == nullptr) return nullptr;
    begin_state(*state, *state, new_instance());
    current_entry = state;
    // For the values of the first 32 keys the C library has room. For that of a later key it
    // allocates some, which is charged to no window.
    constexpr pthread_key_t keys_with_room = 32;
    const std::uint32_t pauses = process.thread_key >= keys_with_room ? 1 : 0;
    state->pause_depth += pauses;
    const bool is_end_told = process.has_thread_key.load(memory_order::acquire) &&
                             ::pthread_setspecific(process.thread_key, state) == 0;
    state->pause_depth -= pauses;
    state->forget_view();
    if (!is_end_told) {
        state->thread_id.store(own_thread_id(), memory_order::release);
        process.has_untold_ends.store(true, memory_order::relaxed);
    }
    return state;
}

inline thread_state* nested_state(thread_state& outer) noexcept {
    thread_state* inner = outer.nested.load(memory_order::relaxed);
    if (inner != nullptr) return inner;
    inner = take_state();
    if (inner == nullptr) return nullptr;
    begin_state(*inner, outer.primary(), outer.instance.load(memory_order::relaxed));
    thread_state* expected = nullptr;
    if (!outer.nested.compare_exchange_strong(expected, inner)) {
        give_back_state(*inner);  // another handler was faster
        return expected;
    }
    return inner;
}

// Whether the hook that marked the state busy is gone for good, because a signal handler jumped
// over it. A hook that still runs lies higher in the same stack than the code that interrupts it,
// or on another stack than the handler. An alternate signal stack may lie anywhere, even within the
// thread's own stack, so the kernel is asked whether this code runs on it. That is rare, because it
// happens only when `busy` is set.
inline bool is_abandoned(const thread_state& state, std::uintptr_t busy,
                         std::uintptr_t frame) noexcept {
    constexpr std::uintptr_t same_stack_bytes = 64 * 1024;
    const stack_bounds alternate = alternate_stack_in_use();
    if (alternate.high != 0) return alternate.contains(busy) && frame >= busy;
    if (state.bounds.contains(frame)) {
        return !state.bounds.contains(busy) || frame >= busy;
    }
    return !state.bounds.contains(busy) && frame >= busy && frame - busy < same_stack_bytes;
}

// After its last destructor a thread has no state of its own. It takes the first common state in
// which no hook works. When there is none, one more is made. Null when there is no memory for it.
inline thread_state* enter_as_latecomer(std::uintptr_t frame) noexcept {
    for (thread_state* common = process.latecomer.load(memory_order::acquire); common != nullptr;
         common = nested_state(*common)) {
        std::uintptr_t expected = 0;
        if (common->busy.compare_exchange_strong(expected, frame, memory_order::acquire)) {
            return common;
        }
    }
    return nullptr;
}

// A state that no other hook works in, for a thread that has no state or whose state is busy. Null
// when signal handlers are nested too deeply or there is no memory.
ALLOCSCOPE_SLOW_PATH thread_state* enter_slow(std::uintptr_t frame) noexcept {
    constexpr int deepest = 4;
    if (current_entry == &departed) return enter_as_latecomer(frame);
    thread_state* state = current_state();
    if (state == nullptr) return process.entry.word() != 0 ? attach_thread() : nullptr;
    for (int depth = 0; depth < deepest; ++depth) {
        const std::uintptr_t busy = state->busy.load(memory_order::relaxed);
        if (busy == 0) return state;
        if (is_abandoned(*state, busy, frame)) {
            state->lose(loss_reason::hook_abandoned);
            mend_pending(*state);
            return state;
        }
        thread_state* inner = nested_state(*state);
        if (inner == nullptr) break;
        state = inner;
    }
    return nullptr;
}

// Called in a forked child. The states of threads that do not exist here become free again.
inline void forget_other_threads() noexcept {
    const thread_state* own = current_state();
    for (thread_state& each : all_threads()) {
        if (&each == process.latecomer.load(memory_order::acquire) ||
            (own != nullptr && each.primary_state.load(memory_order::relaxed) == own))
            continue;
        if (!each.is_taken.load(memory_order::relaxed)) continue;
        each.thread_id.store(0, memory_order::relaxed);
        if (is_inside_an_event(each)) each.lose(loss_reason::torn_event);
        mend_pending(each);
        give_back_state(each);
    }
    if (own != nullptr) {
        current_state()->task.store(own_thread_id_unasked(), memory_order::relaxed);
    }
    thread_state* const common = process.latecomer.load(memory_order::acquire);
    if (common == nullptr) return;
    common->nested.store(nullptr, memory_order::relaxed);
    mend_pending(*common);
    common->busy.store(0, memory_order::relaxed);
}

}  // namespace detail

ALLOCSCOPE_RARE_END

#endif  // ALLOCSCOPE_RECORD_THREAD_LIFECYCLE_HPP
