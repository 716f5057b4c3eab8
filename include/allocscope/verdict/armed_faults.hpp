// armed_faults.hpp - plans of failing allocations are armed, read and disarmed.
//
// Room:     verdict (floor 10), not malloc-safe
// Called:   through the engine table by measure/fail_allocation.hpp
// Threads:  any
// Memory:   a place in the table of state/watches.hpp, and a window of counters

#ifndef ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP
#define ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/link/watch_requests.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/state/watches.hpp>
#include <allocscope/verdict/guard_violation.hpp>
#include <allocscope/windows/uncharged_work.hpp>
#include <allocscope/windows/window_control.hpp>

#include <atomic>   // atomic
#include <cstdint>  // uint32_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

inline armed_plan* take_plan() noexcept {
    for (armed_plan& each : fault_plans.plans) {
        if (!each.is_taken.exchange(true, std::memory_order_acq_rel)) return &each;
    }
    return nullptr;
}

inline armed_plan& plan_of(plan_id id) noexcept {
    return fault_plans.plans[id - 1];
}

// 0: most_plans are armed, or there is no memory.
inline plan_id engine_arm_plan(const fault_plan& wanted) {
    const uncharged_work meanwhile;
    const thread_state* self = own_state();
    armed_plan* plan = take_plan();
    if (plan == nullptr) return 0;
    if (self == nullptr) {
        plan->is_taken.store(false, std::memory_order_release);
        return 0;
    }
    plan->kind.store(wanted.kind, std::memory_order_relaxed);
    plan->number.store(wanted.number, std::memory_order_relaxed);
    plan->times.store(wanted.times, std::memory_order_relaxed);
    plan->seed.store(wanted.seed, std::memory_order_relaxed);
    plan->seen.store(0, std::memory_order_relaxed);
    plan->failed.store(0, std::memory_order_relaxed);
    plan->bytes.store(0, std::memory_order_relaxed);
    plan->frame_count.store(0, std::memory_order_relaxed);
    plan->instance.store(
        wanted.from == threads::all ? 0 : self->instance.load(std::memory_order_relaxed),
        std::memory_order_relaxed);
    plan->is_armed.store(true, std::memory_order_release);
    fault_plans.armed.fetch_add(1, std::memory_order_release);
    // Last: whoever it concerns reads the view anew, and is told there that it is watched.
    plan->window = open_window_now("fault", counting(wanted.from));
    if (plan->window != 0) return static_cast<plan_id>(plan - fault_plans.plans) + 1;
    plan->is_armed.store(false, std::memory_order_release);
    fault_plans.armed.fetch_sub(1, std::memory_order_release);
    plan->is_taken.store(false, std::memory_order_release);
    return 0;
}

inline plan_state engine_plan_state(plan_id id) {
    const armed_plan& plan = plan_of(id);
    return {plan.seen.load(std::memory_order_relaxed), plan.failed.load(std::memory_order_relaxed)};
}

inline void engine_disarm_plan(plan_id id) {
    const uncharged_work meanwhile;
    armed_plan& plan = plan_of(id);
    plan.is_armed.store(false, std::memory_order_release);
    fault_plans.armed.fetch_sub(1, std::memory_order_release);
    close_window_now(plan.window);
    put_names_away();
    plan.is_taken.store(false, std::memory_order_release);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP
