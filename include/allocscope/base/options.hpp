// options.hpp - what a window records, and whose allocations it is charged with.
//
// Room:     base (floor 0), malloc-safe
// Called:   by the user when a window is opened, by record/ to decide what the hooks do
// Threads:  a plain value
// Memory:   40 bytes
//
//     allocscope::options shallow;
//     shallow.stack_frames = 4;
//     allocscope::scope window{"parser", shallow};

#ifndef ALLOCSCOPE_BASE_OPTIONS_HPP
#define ALLOCSCOPE_BASE_OPTIONS_HPP

#include <allocscope/config.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

enum class recording {
    exact,    // every event, each with the stack that made it
    sampled,  // a Poisson sample of the bytes: estimates, with their 95% intervals
    counters  // totals only, no stacks: the cheapest
};

enum class threads {
    all,     // the window is charged with what every thread allocates
    current  // only with what the thread that opened it allocates; frees count on any thread
};

// How the callers of an allocation are found. Code that was compiled without frame pointers needs
// its unwind table (.eh_frame), which compilers write for every function unless told not to.
enum class unwinding {
    automatic,      // by unwind tables, and by frame pointers through code that has none
    cfi,            // by unwind tables alone: a stack ends at the first code that has none
    frame_pointers  // by frame pointers alone: callers without them are missing from a stack
};

struct options {
    recording record = recording::exact;
    threads from = threads::all;
    // Return addresses kept of each stack: 1..128. With 24 or more, a stack that would be cut in
    // code without optimisation goes on for up to 40 frames, and is shown as far as the user's
    // line.
    std::uint32_t stack_frames = 24;
    // Mean bytes between two samples: at least 1, which records every event. Each object counts 16
    // bytes more than were requested. Windows that are open at the same time all use the smallest
    // of their values.
    std::uint64_t sample_bytes = 512 * 1024;
    unwinding unwind = unwinding::automatic;
    // Also keeps for each stack what was alive at the peak, how long objects lived, how many were
    // freed before their thread's next allocation, and how large they were:
    // snapshot::stack_details. Only if every event is recorded (recording::exact). Cost:
    // docs/performance.md.
    bool details = false;
    // Not 0: the snapshots of the window also say how old the live objects are, in steps of so many
    // nanoseconds, which double whenever 64 have passed. scope::counts() and scope::stats() begin
    // the next step when it is due, and so do the points of a timed_scope; scope::mark_age() does
    // it whatever stands here. Only if stacks are recorded (not recording::counters). Cost:
    // docs/performance.md.
    std::uint64_t age_step = 0;
};

// The allowed range of options::stack_frames.
constexpr std::uint32_t min_stack_frames = 1;
constexpr std::uint32_t max_stack_frames = 128;

namespace detail {

// How many frames are recorded of a stack that would be cut in code without optimisation. Nothing
// is inlined there: the copy of a map of variants allocates 40 calls below the user's line. A
// snapshot shows as many as were asked for, and goes on only to the user's frame. A window that
// asks for fewer frames than the default gets no more.
constexpr std::uint32_t unoptimised_frames(std::uint32_t asked) noexcept {
    constexpr std::uint32_t more = 40;
    if (asked < options{}.stack_frames) return asked;
    return asked < max_stack_frames - more ? asked + more : max_stack_frames;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_OPTIONS_HPP
