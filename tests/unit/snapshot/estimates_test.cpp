#include <allocscope/snapshot/estimates.hpp>

#include <doctest/doctest.h>

using allocscope::allocation_counts;
using allocscope::snapshot;
using namespace allocscope::detail;

TEST_CASE("estimates: exact numbers have no width") {
    const snapshot::window_estimates known = exact_estimates({10, 4, 100, 30, 90});
    CHECK(known.live_objects.value == 6);
    CHECK(known.live_objects.low == 6);
    CHECK(known.live_objects.high == 6);
    CHECK(known.live_bytes.high == 70);
}

TEST_CASE("estimates: the numbers of a window are its counts, the intervals those of the sums") {
    sample_sums births;
    sample_sums deaths;
    for (int i = 0; i < 100; ++i) births.add(weigh_sample(64, 4096));
    for (int i = 0; i < 60; ++i) deaths.add(weigh_sample(64, 4096));
    allocation_counts totals;
    totals.allocations = births.objects_95().value;
    totals.frees = deaths.objects_95().value + 1;  // rounded in another way
    totals.bytes_allocated = births.bytes_95().value;
    totals.bytes_freed = deaths.bytes_95().value;
    const snapshot::window_estimates made = sampled_estimates(totals, births, deaths, 4096);
    CHECK(made.allocations.value == totals.allocations);
    CHECK(made.frees.value == totals.frees);
    CHECK(made.live_objects.value == totals.live_objects());
    CHECK(made.live_bytes.value == totals.live_bytes());
    CHECK(made.live_objects.low < 40 * 64);
    CHECK(made.live_objects.high > 40 * 64);
    CHECK(made.allocations.high - made.allocations.low > made.frees.high - made.frees.low);
}

TEST_CASE("estimates: without a sample anything below some means may be there") {
    const snapshot::window_estimates made = sampled_estimates({}, {}, {}, 4096);
    CHECK(made.live_bytes.low == 0);
    CHECK(made.live_bytes.value == 0);
    CHECK(made.live_bytes.high == 15735);  // z^2 * 4096, rounded up
    CHECK(made.live_objects.high == 982);  // z^2 * 4096 / 16
    CHECK(sampled_estimates({}, {}, {}, 1).live_bytes.high == 0);
}

TEST_CASE("estimates: a row takes objects, bytes, samples and both intervals from its sums") {
    sample_sums alive;
    for (int i = 0; i < 4; ++i) alive.add(weigh_sample(1024, 512 * 1024));
    snapshot::row row{};
    set_estimates(row, alive);
    CHECK(row.samples == 4);
    CHECK(row.objects == 2018);
    CHECK(row.objects_low == 785);
    CHECK(row.objects_high == 5186);
    CHECK(row.bytes == 2066937);
    CHECK(row.bytes_low / 1024 == 785);
    CHECK(row.bytes_high / 1024 == 5185);
    row.objects = 7;
    set_exact(row);
    CHECK(row.objects_low == 7);
    CHECK(row.objects_high == 7);
}
