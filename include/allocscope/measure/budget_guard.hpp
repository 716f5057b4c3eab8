// budget_guard.hpp - a block that must keep to an allocation_budget.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by the user
// Threads:  the same as for scope
// Memory:   about 200 bytes; the name is copied (the first 63 bytes)
//
//     void on_request() {
//         allocscope::budget_guard guard{"request", limits};      // reports to stderr when broken
//         ...
//     }
//
// The budget is checked when the block ends, or in finish(). check() checks it in between.

#ifndef ALLOCSCOPE_MEASURE_BUDGET_GUARD_HPP
#define ALLOCSCOPE_MEASURE_BUDGET_GUARD_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/on_violation.hpp>
#include <allocscope/measure/scope.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

class budget_guard {
public:
    // `wanted` says whose allocations count: those of every thread unless from = threads::current.
    // Throws std::invalid_argument as check() and scope do.
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG budget_guard(
        const char* name, const allocation_budget& budget,
        on_violation wanted_action = on_violation::report(), const options& wanted = {})
        : limits_(detail::checked_limits(budget)), action_(wanted_action), window_(name, wanted) {}
    [[nodiscard]] ALLOCSCOPE_EXCEPTIONS_TAG explicit budget_guard(
        const allocation_budget& budget, on_violation wanted_action = on_violation::report(),
        const options& wanted = {})
        : budget_guard("budget", budget, wanted_action, wanted) {}

    // Does what finish() does, unless finish() was called. Throws nothing: with throw_error() it
    // reports instead.
    ~budget_guard() {
        if (!is_finished_) action_.act_in_destructor(judge(detail::after_stats::end));
    }
    budget_guard(const budget_guard&) = delete;
    budget_guard& operator=(const budget_guard&) = delete;

    // Returns the result up to now. The action is not taken, and the block goes on.
    check_result(check)() const {
        return is_finished_ ? detail::result_after_end() : judge(detail::after_stats::go_on);
    }

    // Ends the block, and takes the action if the budget was broken; with throw_error() that throws
    // violation_error. Later calls take no action, and return a result that says so and has not
    // passed.
    ALLOCSCOPE_EXCEPTIONS_TAG check_result finish() {
        if (is_finished_) return detail::result_after_end();
        is_finished_ = true;
        check_result found = judge(detail::after_stats::end);
        detail::scope_reader::end(window_, found.counts());
        action_.act(found);
        return found;
    }

    allocation_counts counts() const noexcept { return window_.counts(); }

private:
    check_result judge(detail::after_stats then) const {
        return detail::check_budget(window_, limits_, then);
    }

    detail::check_limits limits_;
    on_violation action_;
    scope window_;
    bool is_finished_ = false;
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_BUDGET_GUARD_HPP
