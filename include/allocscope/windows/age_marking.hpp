// age_marking.hpp - makes the marks that divide the objects of a window by their age.
//
// Room:     windows (floor 6), malloc-safe
// Called:   by the engine table, by readings of windows with options::age_step, and in the preload
//           library by the hook that finds that the command asks for a mark
// Threads:  one at a time under the control lock; hooks go on meanwhile
// Memory:   a page for each window that has marks
//
// A mark costs as much as a window that opens and closes: each thread reads its view anew, and the
// next allocation from a stack makes a new cohort.

#ifndef ALLOCSCOPE_WINDOWS_AGE_MARKING_HPP
#define ALLOCSCOPE_WINDOWS_AGE_MARKING_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/platform/clocks.hpp>
#include <allocscope/platform/lasting_pages.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/state/age_marks.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/windows/window_control.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Control lock. Makes a mark if the last one is long enough ago. Objects without a stack have no
// age, so a window that only counts gets no marks. Without memory there are none either: then the
// ages are less certain.
inline void mark_when_due(open_window& window) noexcept {
    if (window.wanted.record == recording::counters) return;
    if (window.ages == nullptr) {
        window.ages = static_cast<age_marks*>(lasting_pages::reserve(page_bytes));
        if (window.ages == nullptr) return;
    }
    age_mark mark{};
    mark.before_ns = monotonic_ns();
    if (!window.ages->is_due(mark.before_ns, window.started_ns, window.wanted.age_step)) return;
    mark.clock = process.clock.fetch_add(1, memory_order::acq_rel) + 1;
    announce(window, 0);
    mark.after_ns = monotonic_ns();
    window.ages->add(mark);
}

// Control lock. The same for a window that is read, if it wants marks then.
ALLOCSCOPE_INLINE void mark_at_reading(open_window& window) noexcept {
    if (window.wanted.age_step != 0) mark_when_due(window);
}

inline void mark_age_now(window_id id) noexcept {
    const control_lock lock;
    open_window* const window = find_window(id);
    if (window != nullptr) mark_when_due(*window);
}

ALLOCSCOPE_INLINE void mark_age_at_reading(window_id id) noexcept {
    const control_lock lock;
    open_window* const window = find_window(id);
    if (window != nullptr) mark_at_reading(*window);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_WINDOWS_AGE_MARKING_HPP
