// watch_requests.hpp - what guards and injected faults pass to the engine.
//
// Room:     link (floor 1), malloc-safe
// Called:   filled by measure/, kept by state/watches.hpp while it is armed, read by record/ and
//           verdict/
// Threads:  plain values
// Memory:   a guard_watch is a member of its guard and must not move

#ifndef ALLOCSCOPE_LINK_WATCH_REQUESTS_HPP
#define ALLOCSCOPE_LINK_WATCH_REQUESTS_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/engine.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// --- a guard: this thread must not allocate ---

// What a guard is told about an event.
struct watched_event {
    bool is_free;
    std::uint64_t bytes;
    const std::uintptr_t* frames;  // return addresses, innermost first
    std::uint32_t frame_count;
};

struct guard_watch {
    // Filled by measure/.
    const char* name = "";  // used only while the guard is armed
    bool watches_frees = false;
    void* context = nullptr;  // passed to `tell` and `raise`, in the guard_watch
    // Called at the first violation, outside of any lock, with a result that the guard keeps. It
    // may allocate, which is no violation. True: `raise` must be called as well.
    bool (*tell)(guard_watch& broken, check_data& found) = nullptr;
    // Throws. Not called for a free or in malloc's family. A nothrow operator turns the exception
    // into null.
    void (*raise)(guard_watch& broken) = nullptr;

    // The members of the engine.
    bool (*violated)(guard_watch& broken, const watched_event& event) = nullptr;
    guard_watch* outer = nullptr;
    check_data* found = nullptr;  // one reference
    window_id window = 0;         // keeps the gate open; its numbers are the guard's
    std::uint64_t instance = 0;   // of the thread
    std::uint32_t allow_depth = 0;
    bool is_broken = false;
};

// --- a plan: which allocations fail ---

enum class fault_kind : std::uint32_t {
    nth,          // `times` of them from the `number`th on
    after_bytes,  // whatever would go beyond `number` bytes
    random        // with the probability number / 2^64
};

struct fault_plan {
    fault_kind kind = fault_kind::nth;
    threads from = threads::current;
    std::uint64_t number = 0;
    std::uint64_t times = 1;
    std::uint64_t seed = 0;
};

// Identifies an armed plan. 0 is none.
using plan_id = std::uint32_t;

struct plan_state {
    std::uint64_t seen = 0;
    std::uint64_t failed = 0;
};

// Of the stack of a request that failed or was forbidden. As many as a window records at most in
// code without optimisation, where such requests mostly are: in unit tests.
constexpr std::uint32_t most_fault_frames = 64;

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_LINK_WATCH_REQUESTS_HPP
