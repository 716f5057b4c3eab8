// watches.hpp - which threads are watched by guards, and which allocations must fail.
//
// Room:     state (floor 4), malloc-safe
// Called:   armed through the engine table; asked by hooks on their slow path
// Threads:  guards belong to one thread each; plans are read by any thread
// Memory:   8 KiB of zeroed static storage; 16 bytes of each thread's own
//
// The fast path of a hook knows nothing of watches. A watched thread never has an up-to-date view
// (record/view_refresh.hpp asks is_watched_thread()). So each of its events takes the slow path,
// which calls record/consult_watches.hpp.
//
// Plans are in a fixed table and are never given back. A hook that still reads a disarmed plan
// reads old values, but never memory that now holds something else.

#ifndef ALLOCSCOPE_STATE_WATCHES_HPP
#define ALLOCSCOPE_STATE_WATCHES_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/link/watch_requests.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// --- guards ---

struct thread_watches {
    guard_watch* innermost = nullptr;
    std::uint32_t allow_depth = 0;  // of allow_allocations and pause_recording
    bool is_telling = false;        // a guard is being told: its own allocations are no violation
};

ALLOCSCOPE_HIDDEN inline thread_local thread_watches own_watches
    __attribute__((__tls_model__("initial-exec"))) = {};

// --- plans ---

struct armed_plan {
    atomic<std::uint64_t> instance{0};  // of the thread; 0: every thread
    atomic<bool> is_taken{false};
    atomic<bool> is_armed{false};
    std::uint64_t window = 0;  // keeps the gate open
    // Copied from the fault_plan before is_armed is set. A hook that is late may still read them.
    atomic<fault_kind> kind{fault_kind::nth};
    atomic<std::uint64_t> number{0};
    atomic<std::uint64_t> times{0};
    atomic<std::uint64_t> seed{0};

    atomic<std::uint64_t> seen{0};  // allocations that the plan decided about
    atomic<std::uint64_t> failed{0};
    atomic<std::uint64_t> bytes{0};  // granted
    // The stack of the first allocation that failed. The count is stored last.
    atomic<std::uint32_t> frame_count{0};
    atomic<std::uintptr_t> frames[most_fault_frames] = {};
};

constexpr std::uint32_t most_plans = 16;

struct plan_table {
    armed_plan plans[most_plans];
    atomic<std::uint32_t> armed{0};
};

ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline plan_table fault_plans{};

ALLOCSCOPE_FAST_PATH bool concerns(const armed_plan& plan, std::uint64_t instance) noexcept {
    if (!plan.is_armed.load(memory_order::acquire)) return false;
    const std::uint64_t whose = plan.instance.load(memory_order::relaxed);
    return whose == 0 || whose == instance;
}

// The only check that a hook makes on its slow path while nothing is watched.
ALLOCSCOPE_FAST_PATH bool has_watches() noexcept {
    return own_watches.innermost != nullptr || fault_plans.armed.load(memory_order::acquire) != 0;
}

// Whether a hook of the calling thread, which has this instance, must take the slow path.
ALLOCSCOPE_FAST_PATH bool is_watched_thread(std::uint64_t instance) noexcept {
    if (own_watches.innermost != nullptr) return true;
    if (fault_plans.armed.load(memory_order::acquire) == 0) return false;
    for (const armed_plan& each : fault_plans.plans) {
        if (concerns(each, instance)) return true;
    }
    return false;
}

// Counts a request of `bytes` bytes, and returns whether it fails.
ALLOCSCOPE_SLOW_PATH bool decides_to_fail(armed_plan& plan, std::uint64_t bytes) noexcept {
    const std::uint64_t nth = plan.seen.fetch_add(1, memory_order::relaxed) + 1;
    const std::uint64_t number = plan.number.load(memory_order::relaxed);
    bool fails = false;
    switch (plan.kind.load(memory_order::relaxed)) {
        case fault_kind::nth:
            fails = nth >= number && nth - number < plan.times.load(memory_order::relaxed);
            break;
        case fault_kind::after_bytes: {
            std::uint64_t granted = plan.bytes.load(memory_order::relaxed);
            do {
                fails = bytes > number - granted;
            } while (!fails && !plan.bytes.compare_exchange_weak(granted, granted + bytes,
                                                                 memory_order::relaxed));
            break;
        }
        case fault_kind::random:
            // Depends only on the allocation's number and the seed, so that a run can be repeated.
            fails =
                mix_64(plan.seed.load(memory_order::relaxed) + nth * golden_multiplier) < number;
            break;
    }
    if (fails) plan.failed.fetch_add(1, memory_order::relaxed);
    return fails;
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_STATE_WATCHES_HPP
