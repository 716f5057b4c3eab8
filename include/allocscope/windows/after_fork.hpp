// after_fork.hpp - what a forked child finds of the locks and tables of its parent.
//
// Room:     windows (floor 6), malloc-safe
// Called:   by the C library around fork(); by the first lock that a child takes
// Threads:  the forking thread; in the child, the first thread that takes a lock
// Memory:   none
//
//     fork()     takes every lock first, so that no other thread is in the middle of a change
//     _Fork()    runs no handlers: locks may be held by threads that the child does not have
//
// Between our two handlers the forking thread holds every lock. Handlers of the program may run on
// that thread in between, so the locks let it pass (is_forking). In the child, the first lock that
// is taken mends all locks, whoever takes it: a handler of the program, our own handler, or code
// that runs long after a _Fork().
//
// A signal handler may call fork() while the thread that it interrupted holds one of the locks, or
// waits for one. Such a fork() does not wait for any lock. In its child, the locks that it could
// not take are mended as after _Fork(). If the signal interrupts fork() itself, the inner fork()
// leaves the locks to the outer one, and its child finds them free.

#ifndef ALLOCSCOPE_WINDOWS_AFTER_FORK_HPP
#define ALLOCSCOPE_WINDOWS_AFTER_FORK_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/open_mutex.hpp>
#include <allocscope/platform/thread_identity.hpp>
#include <allocscope/record/thread_lifecycle.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/windows/published_view.hpp>
#include <allocscope/windows/table_release.hpp>

#include <cstdint>  // uint32_t

#include <pthread.h>  // pthread_mutex_lock, pthread_mutex_unlock

ALLOCSCOPE_COOL_BEGIN

namespace detail {

inline bool take_for_fork(pthread_mutex_t& mutex) noexcept {
    const bool may_wait = own_locks.count == 0;
    return (may_wait ? ::pthread_mutex_lock(&mutex) : ::pthread_mutex_trylock(&mutex)) == 0;
}

inline void before_fork() noexcept {
    if (++own_locks.forks > 1) return;
    own_locks.has_naming = take_for_fork(process.naming);
    own_locks.has_walking = take_for_fork(process.walking);
    own_locks.has_control = take_for_fork(process.control);
    if (own_locks.has_control) process.forking.store(&current_entry, memory_order::relaxed);
}

inline void forget_locks_of_fork() noexcept {
    own_locks.has_naming = own_locks.has_walking = own_locks.has_control = false;
}

inline void after_fork_in_parent() noexcept {
    // Until the locks are free again, a fork() in a signal handler is an inner one.
    if (own_locks.forks <= 1) {
        if (own_locks.has_control) {
            process.forking.store(nullptr, memory_order::relaxed);
            ::pthread_mutex_unlock(&process.control);
        }
        if (own_locks.has_walking) ::pthread_mutex_unlock(&process.walking);
        if (own_locks.has_naming) ::pthread_mutex_unlock(&process.naming);
        forget_locks_of_fork();
    }
    if (own_locks.forks != 0) --own_locks.forks;
}

// Parent and child must not draw the same samples.
inline void draw_anew_in_child() noexcept {
    thread_state* own = current_state();
    for (thread_state* t = own; t != nullptr; t = t->nested.load(memory_order::relaxed)) {
        t->has_dice = false;
        t->forget_view();
    }
    if (own != nullptr && own->thread_id.load(memory_order::relaxed) != 0) {
        own->thread_id.store(own_thread_id(), memory_order::relaxed);
    }
}

// Control lock. Computes again, from the open windows, what the windows of the calling thread alone
// want.
inline void count_own_demand_anew() noexcept {
    thread_state* own = current_state();
    if (own == nullptr) return;
    own->own.instance.store(0, memory_order::relaxed);
    own->own.count.store(0, memory_order::relaxed);
    const std::uint64_t instance = own->instance.load(memory_order::relaxed);
    for (std::uint32_t slot = 0; const open_window* each = process.windows.next_open(slot);) {
        if (each->instance.load(memory_order::relaxed) == instance) {
            change_own_demand(*own, *each, +1);
        }
    }
}

// Control lock. Counts again how many windows want every event, of all threads and of single ones.
inline void count_windows_of_every_event() noexcept {
    process.windows_of_every_event = 0;
    for (std::uint32_t slot = 0; const open_window* each = process.windows.next_open(slot);) {
        const bool is_one = each->mode.load(memory_order::relaxed) >= charge::numbers;
        process.windows_of_every_event += is_one ? 1 : 0;
    }
}

// Called if another thread of the parent was opening or closing a window, or giving memory back. A
// window is open if it has begun; everything else is computed from the open windows.
inline void mend_windows() noexcept {
    if (process.are_sums_moving.load(memory_order::relaxed)) {
        process.latecomer.load(memory_order::acquire)->lose(loss_reason::torn_sums);
        process.are_sums_moving.store(false, memory_order::relaxed);
    }
    process.windows.count_anew();
    count_own_demand_anew();
    count_windows_of_every_event();
    process.sees_every_event = true;
    if (process.windows.open_count() != 0) {
        process.clock.fetch_add(1, memory_order::acq_rel);
        publish_view();
        return;
    }
    process.entry.shut();
    // Half of the tables may be gone already.
    if (!process.is_releasing || !release_tables()) end_session();
}

// The thread that was reading does not exist here.
inline void forget_readings() noexcept {
    process.window_being_read = 0;
    for (thread_state& each : all_threads()) {
        each.question.step.store(question_step::nobody_asks, memory_order::relaxed);
    }
}

inline bool is_locked_by_nobody(pthread_mutex_t& mutex) noexcept {
    return ::pthread_mutex_trylock(&mutex) == 0;
}

// Called in a child, by one thread. The locks belong to threads that do not exist here.
inline void mend_child() noexcept {
    const bool has_handlers = is_forking();
    const bool are_windows_whole = has_handlers || is_locked_by_nobody(process.control);
    const bool are_names_whole =
        has_handlers ? own_locks.has_naming : is_locked_by_nobody(process.naming);
    process.control = open_mutex;
    process.walking = open_mutex;
    process.naming = open_mutex;
    forget_locks_of_fork();
    forget_readings();
    process.forking.store(nullptr, memory_order::relaxed);
    forget_other_threads();
    draw_anew_in_child();
    if (!are_names_whole) process.are_names_torn = true;
    if (!are_windows_whole) mend_windows();
}

inline void after_fork_in_child() noexcept {
    if (own_locks.forks != 0) --own_locks.forks;
    if (!process.mark.claim() && !is_forking()) return;  // mended already
    mend_child();
    process.mark.settle();
}

// Called before the first window opens. Registering may allocate, so the control lock is not held.
inline void prepare_for_forks() noexcept {
    process.mend_child = &mend_child;
    process.mark.prepare();
    ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_WINDOWS_AFTER_FORK_HPP
