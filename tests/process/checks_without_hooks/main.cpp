// Danger: a test suite that forgot to define the operators passes every check. Each must fail, or
// refuse, and say why.

#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstring>
#include <stdexcept>

using namespace allocscope;
using namespace allocscope_test;

namespace {

bool says_so(const char* message) {
    return std::strstr(message, "nothing is being recorded") != nullptr &&
           std::strstr(message, "operator_new_delete.hpp") != nullptr;
}

bool refuses(const check_result& result) {
    return !result.passed() && says_so(result.message()) && result.rows().empty();
}

template <class Work>
bool throws_it(Work work) {
    try {
        work();
    } catch (const std::invalid_argument& refused) {
        return says_so(refused.what());
    }
    return false;
}

}  // namespace

int main() {
    watchdog();
    const scope window{"nobody records"};
    ALLOCSCOPE_EXPECT(refuses(check(window, {})));
    leak_check leaks{"leaks"};
    ALLOCSCOPE_EXPECT(refuses(leaks.check()));
    ALLOCSCOPE_EXPECT(refuses(leaks.finish()));
    ALLOCSCOPE_EXPECT(refuses(leak_check::repeat(2, [] {})));
    ALLOCSCOPE_EXPECT(throws_it([] { allocations_of([] {}); }));
    ALLOCSCOPE_EXPECT(throws_it([] { static_cast<void>(fail_allocation{1}); }));
    ALLOCSCOPE_EXPECT(throws_it([] { static_cast<void>(fail_after_bytes{1}); }));
    ALLOCSCOPE_EXPECT(throws_it([] { static_cast<void>(fail_randomly(0.5, 1)); }));
    const fault_sweep swept = for_each_allocation_failing([] {});
    ALLOCSCOPE_EXPECT(refuses(swept.result()));
    ALLOCSCOPE_EXPECT_EQUAL(swept.size(), 0);

    int calls = 0;
    const auto count = on_violation::call(
        [](const check_result& result, void* context) {
            if (refuses(result)) ++*static_cast<int*>(context);
        },
        &calls);
    { const budget_guard guard{{}, count}; }
    { const leak_guard guard{"guard", count}; }
    {
        const no_allocation_guard guard{count};
        const allow_allocations here;
    }
    ALLOCSCOPE_EXPECT_EQUAL(calls, 3);
    bool was_thrown = false;
    try {
        no_allocation_guard guard{on_violation::throw_error()};
        guard.finish();
    } catch (const violation_error& error) {
        was_thrown = says_so(error.what());
    }
    ALLOCSCOPE_EXPECT(was_thrown);
    const child_end reported = in_child([] {
        const no_allocation_guard guard;
        return 0;
    });
    ALLOCSCOPE_EXPECT(says_so(reported.text.c_str()));
    return verdict();
}
