// consult_watches.hpp - a hook asks whether its event is forbidden or must fail.
//
// Room:     record (floor 5), malloc-safe, except that the code of a guard may allocate
// Called:   by hooks on their slow path: before the real allocation, after the record of a free
// Threads:  any
// Memory:   512 bytes of stack

#ifndef ALLOCSCOPE_RECORD_CONSULT_WATCHES_HPP
#define ALLOCSCOPE_RECORD_CONSULT_WATCHES_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/link/watch_requests.hpp>
#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/record/enter_hook.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/state/watches.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <cerrno>   // errno
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The caller has called enter(). Returns how many return addresses were found.
inline std::uint32_t capture_stack(thread_state& thread, std::uintptr_t frame,
                                   std::uintptr_t (&out)[most_fault_frames]) noexcept {
    const bool is_usual = thread.bounds.contains(frame);
    const stack_bounds bounds = is_usual ? thread.bounds : page_bounds(frame);
    walked_stack& stack = thread.scratch;
    stack_walk{bounds, thread.rules, stack}.run(frame, most_fault_frames);
    for (std::uint32_t i = 0; i < stack.frame_count; ++i) out[i] = stack.return_addresses[i];
    return stack.frame_count;
}

ALLOCSCOPE_INLINE bool is_broken_by(const guard_watch& guard, bool is_free) noexcept {
    return !guard.is_broken && guard.allow_depth == own_watches.allow_depth &&
           (!is_free || guard.watches_frees);
}

ALLOCSCOPE_INLINE bool has_guard_against(bool is_free) noexcept {
    for (const guard_watch* g = own_watches.innermost; g != nullptr; g = g->outer) {
        if (is_broken_by(*g, is_free)) return true;
    }
    return false;
}

// Tells the guards, from the innermost to the outermost. Returns the first guard that wants an
// exception, or null.
inline guard_watch* tell_guards(const watched_event& event) noexcept {
    const int saved_errno = errno;
    guard_watch* raiser = nullptr;
    own_watches.is_telling = true;
    for (guard_watch* g = own_watches.innermost; g != nullptr; g = g->outer) {
        if (!is_broken_by(*g, event.is_free)) continue;
        if (g->violated(*g, event) && raiser == nullptr) raiser = g;
    }
    own_watches.is_telling = false;
    errno = saved_errno;
    return raiser;
}

// The caller has called enter(). Returns whether a fault plan makes the request fail. Every plan
// that concerns the thread counts the request.
inline bool is_to_fail(thread_state& thread, std::uint64_t bytes, std::uintptr_t frame) noexcept {
    const std::uint64_t instance = thread.instance.load(memory_order::relaxed);
    bool fails = false;
    for (armed_plan& each : fault_plans.plans) {
        if (!concerns(each, instance) || !decides_to_fail(each, bytes)) continue;
        fails = true;
        std::uint32_t none = 0;
        constexpr std::uint32_t being_written = ~std::uint32_t{0};
        if (each.frame_count.compare_exchange_strong(none, being_written)) {
            std::uintptr_t frames[most_fault_frames];
            const std::uint32_t found = capture_stack(thread, frame, frames);
            for (std::uint32_t i = 0; i < found; ++i) {
                each.frames[i].store(frames[i], memory_order::relaxed);
            }
            each.frame_count.store(found, memory_order::release);
        }
    }
    return fails;
}

// Called before the real allocation. True: the hook must behave as if there were no memory. Throws
// what a guard throws, if the hook may throw; otherwise the guard's finish() throws it. Plans do
// not count what is allocated under a pause_recording. Neither plans nor guards count what a signal
// handler allocates that interrupted a hook.
ALLOCSCOPE_SLOW_PATH bool is_refused_by_watch(std::uint64_t bytes, std::uintptr_t frame,
                                              bool may_throw = true) {
    bool may_fail = fault_plans.armed.load(memory_order::acquire) != 0;
    const bool is_forbidden = has_guard_against(false);
    if ((!may_fail && !is_forbidden) || own_watches.is_telling) return false;
    thread_state* thread = enter(frame, false);
    if (thread == nullptr) return false;
    const thread_state& primary = thread->primary();
    if (thread != &primary) {
        leave(*thread);
        return false;
    }
    may_fail = may_fail && primary.pause_depth == 0;
    std::uintptr_t frames[most_fault_frames];
    const std::uint32_t count = is_forbidden ? capture_stack(*thread, frame, frames) : 0;
    const bool fails = may_fail && is_to_fail(*thread, bytes, frame);
    leave(*thread);
    guard_watch* raiser = is_forbidden ? tell_guards({false, bytes, frames, count}) : nullptr;
#if !ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    if (raiser != nullptr && may_throw) raiser->raise(*raiser);
#else
    static_cast<void>(raiser);
    static_cast<void>(may_throw);
#endif
    return fails;
}

// Called at a free. It reports the free to the guards, which cannot refuse it.
ALLOCSCOPE_SLOW_PATH void tell_watch_of_free(std::uintptr_t frame) noexcept {
    if (own_watches.is_telling || !has_guard_against(true)) return;
    thread_state* thread = enter(frame, false);
    if (thread == nullptr) return;
    const thread_state& primary = thread->primary();
    const bool is_meant = thread == &primary;
    std::uintptr_t frames[most_fault_frames];
    const std::uint32_t count = is_meant ? capture_stack(*thread, frame, frames) : 0;
    leave(*thread);
    if (is_meant) tell_guards({true, 0, frames, count});
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_RECORD_CONSULT_WATCHES_HPP
