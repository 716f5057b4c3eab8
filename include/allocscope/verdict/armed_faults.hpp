// armed_faults.hpp - arms, reads and disarms plans that make allocations fail.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   through the engine table by measure/fail_allocation.hpp
// Threads:  any
// Memory:   an entry in the table of state/watches.hpp, and a window that only counts

#ifndef ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP
#define ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/link/watch_requests.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/state/watches.hpp>
#include <allocscope/verdict/guard_violation.hpp>
#include <allocscope/windows/uncharged_work.hpp>
#include <allocscope/windows/window_control.hpp>

#include <cstdint>  // uint32_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

inline armed_plan* take_plan() noexcept {
    for (armed_plan& each : fault_plans.plans) {
        if (!each.is_taken.exchange(true, memory_order::acq_rel)) return &each;
    }
    return nullptr;
}

ALLOCSCOPE_INLINE armed_plan& plan_of(plan_id id) noexcept {
    return fault_plans.plans[id - 1];
}

// Returns 0 if most_plans are armed already, or if there is no memory.
inline plan_id engine_arm_plan(const fault_plan& wanted) {
    const uncharged_work meanwhile;
    const thread_state* self = own_state();
    armed_plan* plan = take_plan();
    if (plan == nullptr) return 0;
    if (self == nullptr) {
        plan->is_taken.store(false, memory_order::release);
        return 0;
    }
    plan->kind.store(wanted.kind, memory_order::relaxed);
    plan->number.store(wanted.number, memory_order::relaxed);
    plan->times.store(wanted.times, memory_order::relaxed);
    plan->seed.store(wanted.seed, memory_order::relaxed);
    plan->seen.store(0, memory_order::relaxed);
    plan->failed.store(0, memory_order::relaxed);
    plan->bytes.store(0, memory_order::relaxed);
    plan->frame_count.store(0, memory_order::relaxed);
    plan->instance.store(
        wanted.from == threads::all ? 0 : self->instance.load(memory_order::relaxed),
        memory_order::relaxed);
    plan->is_armed.store(true, memory_order::release);
    fault_plans.armed.fetch_add(1, memory_order::release);
    // This comes last: each thread that the plan concerns then refreshes its view and learns that
    // it is watched.
    plan->window = open_window_now("fault", counting(wanted.from));
    if (plan->window != 0) return static_cast<plan_id>(plan - fault_plans.plans) + 1;
    plan->is_armed.store(false, memory_order::release);
    fault_plans.armed.fetch_sub(1, memory_order::release);
    plan->is_taken.store(false, memory_order::release);
    return 0;
}

inline plan_state engine_plan_state(plan_id id) {
    const armed_plan& plan = plan_of(id);
    return {plan.seen.load(memory_order::relaxed), plan.failed.load(memory_order::relaxed)};
}

inline void engine_disarm_plan(plan_id id) {
    const uncharged_work meanwhile;
    armed_plan& plan = plan_of(id);
    plan.is_armed.store(false, memory_order::release);
    fault_plans.armed.fetch_sub(1, memory_order::release);
    close_window_now(plan.window);
    put_names_away();
    plan.is_taken.store(false, memory_order::release);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_ARMED_FAULTS_HPP
