#include "families.hpp"

#include "../support/scale.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/hooks.hpp>
#include <allocscope/state/process_state.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

using namespace allocscope_test;
using allocscope::report_allocation;
using allocscope::report_free;

namespace {

constexpr std::size_t slots = 20000;
alignas(64) char memory[slots * 24];

allocscope::options sampled(std::uint64_t bytes) {
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = bytes;
    return wanted;
}

}  // namespace

TEST_CASE(
    "pools in sampled windows: estimates are right on average, and intervals hold the truth") {
    const long windows = scaled(300) + 20;
    double sum_allocations = 0.0;
    double sum_alive = 0.0;
    long held = 0;
    constexpr std::uint64_t seed = 77;
    allocscope::detail::process.sampling_seed.store(seed);
    for (long i = 0; i < windows; ++i) {
        allocscope::detail::process.sampling_seed.store(seed + static_cast<std::uint64_t>(i));
        const allocscope::scope window{"pool", sampled(4096)};
        for (std::size_t at = 0; at < slots; ++at) report_allocation(memory + at * 24, 24, "pool");
        for (std::size_t at = 0; at < slots; at += 2) report_free(memory + at * 24);
        const allocscope::snapshot seen = window.stats();
        const allocscope::snapshot::family pool = family_of(seen, "pool");
        sum_allocations += static_cast<double>(pool.allocations);
        sum_alive += static_cast<double>(pool.live_objects());
        const allocscope::estimate alive = seen.info().estimates.live_objects;
        if (alive.low <= slots / 2 && slots / 2 <= alive.high) ++held;
        for (std::size_t at = 1; at < slots; at += 2) report_free(memory + at * 24);
        REQUIRE(window.counts().live_objects() == 0);
    }
    allocscope::detail::process.sampling_seed.store(0);
    // 20000 objects of 40 counted bytes are 195 samples: 7.1% around the truth each time.
    const double allocations = sum_allocations / static_cast<double>(windows) / slots;
    const double alive = sum_alive / static_cast<double>(windows) / (slots / 2);
    const double deviation = 0.101 / std::sqrt(static_cast<double>(windows));
    CHECK(std::fabs(allocations - 1.0) < 5 * deviation);
    CHECK(std::fabs(alive - 1.0) < 5 * deviation);
    CHECK(held >= windows * 85 / 100);
}

TEST_CASE(
    "pools in sampled windows: an object that was not drawn is no object when it is resized") {
    const allocscope::scope window{"pool", sampled(std::uint64_t{1} << 40U)};
    report_allocation(memory, 24, "pool");
    allocscope::report_resize(memory, 48, "pool");
    report_free(memory);
    CHECK(window.counts().allocations == 0);
    CHECK(window.counts().frees == 0);
}

TEST_CASE("pools in sampled windows: what an exact window beside it records is recorded whole") {
    const allocscope::scope coarse{"pool", sampled(std::uint64_t{1} << 40U)};
    {
        const allocscope::scope exact{"exact"};
        for (int i = 0; i < 100; ++i) report_allocation(memory + i, 1, "pool");
        CHECK(family_of(exact.stats(), "pool").live_objects() == 100);
    }
    for (int i = 0; i < 100; ++i) report_free(memory + i);
    CHECK(coarse.counts().live_objects() == 0);
}
