// published_view.hpp - what all process-wide windows together want of every thread.
//
// Room:     windows (floor 6), malloc-safe
// Called:   at window boundaries, under the control lock
// Threads:  hooks go on meanwhile and find the new view with their next event
// Memory:   none

#ifndef ALLOCSCOPE_WINDOWS_PUBLISHED_VIEW_HPP
#define ALLOCSCOPE_WINDOWS_PUBLISHED_VIEW_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/state/gate.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/state/window_demand.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_MILD_BEGIN

namespace detail {

// Control lock. Publishes a new view: what all process-wide windows together want now.
inline void publish_view() noexcept {
    const window_wish wish = process.windows.demand().together();
    view next;
    next.clock = process.clock.load(memory_order::relaxed);
    next.session = process.session;
    next.tables = process.tables;
    next.many_windows = process.windows.unmasked_count();
    next.windows = process.windows.wide_mask();
    next.mode = wish.mode;
    next.frames = wish.frames;
    next.methods = wish.methods;
    next.sample_bytes = wish.sample_bytes;
    process.entry.publish(next, process.sees_every_event);
}

// Control lock. Does the same for the windows that watch one thread, when one of them has opened
// (+1) or closed (-1).
inline void change_own_demand(thread_state& watched, const open_window& window,
                              int change) noexcept {
    own_demand& own = watched.own;
    const std::uint64_t instance = window.instance.load(memory_order::relaxed);
    if (own.instance.load(memory_order::relaxed) != instance) {
        own.demand = {};
        own.windows.store(0, memory_order::relaxed);
        own.instance.store(instance, memory_order::relaxed);
    }
    process.windows.change_demand(own.demand, window, change);
    const std::uint64_t bit = process.windows.mask_of(window);
    const std::uint64_t others = own.windows.load(memory_order::relaxed) & ~bit;
    own.windows.store(change > 0 ? others | bit : others, memory_order::relaxed);
    const window_wish wish = own.demand.together();
    own.mode.store(wish.mode, memory_order::relaxed);
    own.frames.store(wish.frames, memory_order::relaxed);
    own.methods.store(wish.methods, memory_order::relaxed);
    own.sample_bytes.store(wish.sample_bytes, memory_order::relaxed);
    own.count.store(own.demand.windows(), memory_order::release);
}

}  // namespace detail

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_WINDOWS_PUBLISHED_VIEW_HPP
