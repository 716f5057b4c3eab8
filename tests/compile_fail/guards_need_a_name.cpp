// Danger: a guard without a name ends in the line where it begins and guards nothing; the test that
// it stands in is green.
// flags: -Werror
// expect: nodiscard.*\n.*scope\{"window"\}
// expect: nodiscard.*\n.*pause_recording\{\}
// expect: nodiscard.*\n.*no_allocation_guard\{"mixer"\}
// expect: nodiscard.*\n.*no_allocation_guard\{action\}
// expect: nodiscard.*\n.*no_allocation_guard\{"mixer", what\}
// expect: nodiscard.*\n.*allow_allocations\{\}
// expect: nodiscard.*\n.*budget_guard\{"parse", limits\}
// expect: nodiscard.*\n.*budget_guard\{limits\}
// expect: nodiscard.*\n.*leak_check\{"session"\}
// expect: nodiscard.*\n.*leak_guard\{"session"\}
// expect: nodiscard.*\n.*leak_repetition\{"session"\}
// expect: nodiscard.*\n.*fail_allocation\{1\}
// expect: nodiscard.*\n.*fail_after_bytes\{100\}
// expect: nodiscard.*\n.*fail_randomly\{0\.5, 1\}
#include <allocscope/allocscope.hpp>

void sample(const allocscope::allocation_budget& limits, allocscope::on_violation action,
            allocscope::forbidden what) {
#ifdef ALLOCSCOPE_BAD
    allocscope::scope{"window"};
    allocscope::pause_recording{};
    allocscope::no_allocation_guard{"mixer"};
    allocscope::no_allocation_guard{action};
    allocscope::no_allocation_guard{"mixer", what};
    allocscope::allow_allocations{};
    allocscope::budget_guard{"parse", limits};
    allocscope::budget_guard{limits};
    allocscope::leak_check{"session"};
    allocscope::leak_guard{"session"};
    allocscope::leak_repetition{"session"};
    allocscope::fail_allocation{1};
    allocscope::fail_after_bytes{100};
    allocscope::fail_randomly{0.5, 1};
#else
    const allocscope::scope window{"window"};
    const allocscope::no_allocation_guard guard{"mixer", action, what};
    const allocscope::budget_guard budget{limits};
#endif
}
