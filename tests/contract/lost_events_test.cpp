// Danger: events were lost, the numbers are too low, and a check of these numbers passes.

#include <allocscope/allocscope.hpp>
#include <allocscope/integrations/baselines.hpp>
#include <allocscope/pools.hpp>
#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace allocscope;

namespace {

// No record can be kept of a block at this address.
void lose_one_event() {
    report_allocation(reinterpret_cast<const void*>(std::uintptr_t{1} << 47U), 1, "pool");
}

options recorded(recording how) {
    options wanted;
    wanted.record = how;
    return wanted;
}

bool says_uncertain(const std::string& message) {
    return message.find("1 event was not recorded, so nothing is certain") != std::string::npos;
}

bool is_uncertain(const check_result& found) {
    return !found.passed() && says_uncertain(found.message());
}

}  // namespace

TEST_CASE("counts say how many events they miss") {
    const scope before{"before", recorded(recording::counters)};
    CHECK(before.counts().lost_events == 0);
    lose_one_event();
    scope after{"after"};
    lose_one_event();
    lose_one_event();
    const scope estimated{"estimated", recorded(recording::sampled)};
    CHECK(before.counts().lost_events == 3);
    CHECK(after.counts().lost_events == 2);
    CHECK(estimated.counts().lost_events == 0);

    const snapshot reported = after.stats_and_forget();
    CHECK(reported.info().totals.lost_events == 2);
    CHECK(after.counts().lost_events == 0);
    lose_one_event();
    CHECK(after.stats().info().totals.lost_events == 1);
    after.stop();
    lose_one_event();
    CHECK(after.counts().lost_events == 1);  // as at its end
}

TEST_CASE("counts that were computed from counts miss the same events") {
    scope window{"window"};
    const snapshot earlier = window.stats();
    lose_one_event();
    const snapshot later = window.stop();
    CHECK(later.difference_from(earlier).info().totals.lost_events == 1);
    CHECK(earlier.difference_from(earlier).info().totals.lost_events == 0);
    scope next{"next"};
    lose_one_event();
    CHECK(merge({later, next.stop()}).info().totals.lost_events == 2);
    const std::string saved = to_saved_snapshot(later);
    snapshot loaded;
    std::string error;
    CHECK(load_snapshot_from(saved.data(), saved.size(), loaded, error));
    CHECK(loaded.info().totals.lost_events == 1);

    const run_counts runs = allocations_of(&lose_one_event, 3);
    CHECK(runs.lost_events == 3);  // the sum, and no average
}

TEST_CASE("no check of numbers that are too low passes") {
    allocation_budget budget;
    budget.allocations = at_most(5);
    budget_guard guard{"guard", budget, on_violation::call([](const check_result&, void*) {})};
    leak_check leaks{"leaks"};
    scope open{"open"};
    scope stopped{"stopped"};
    lose_one_event();
    stopped.stop();
    CHECK(says_uncertain(baselines{"no/such/file"}.check("name", open.counts())));
    CHECK(is_uncertain(guard.finish()));
    CHECK(is_uncertain(leaks.finish()));
    CHECK(is_uncertain((check)(open, budget)));
    CHECK(is_uncertain((check)(stopped, budget)));
    const scope whole{"whole"};
    CHECK((check)(whole, budget).passed());
}
