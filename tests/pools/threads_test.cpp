#include "families.hpp"

#include "../support/dice.hpp"
#include "../support/own_threads.hpp"
#include "../support/scale.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/hooks.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>

using namespace allocscope_test;

namespace {

constexpr int thread_count = 4;
constexpr std::size_t places = 4096;

char memory[places];
std::atomic<bool> is_alive[places];
std::atomic<bool> is_held[places];
std::atomic<std::uint64_t> births{0};
std::atomic<std::uint64_t> deaths{0};
std::atomic<std::uint64_t> next_seed{1};

// Whoever finds an object frees it; whoever finds a free place puts one there.
void take_turns(void*) {
    dice roll{next_seed.fetch_add(1)};
    const long operations = scaled(1'000'000);
    for (long i = 0; i < operations; ++i) {
        const std::size_t at = roll.below(places);
        if (is_held[at].exchange(true)) continue;
        if (is_alive[at]) {
            allocscope::report_free(memory + at, "turns");
            deaths.fetch_add(1);
        } else {
            allocscope::report_allocation(memory + at, at, "turns");
            births.fetch_add(1);
        }
        is_alive[at] = !is_alive[at];
        is_held[at] = false;
    }
}

void run_threads(const allocscope::options& wanted) {
    births = 0;
    deaths = 0;
    for (auto& alive : is_alive) alive = false;
    const allocscope::scope window{"turns", wanted};
    own_thread threads[thread_count];
    for (own_thread& thread : threads) thread.start(take_turns, nullptr);
    for (int i = 0; i < 20; ++i) {
        // Meanwhile windows come and go, and numbers are read.
        const allocscope::scope other{"other"};
        const allocscope::snapshot seen = window.stats();
        CHECK(family_of(seen, "turns").frees <= family_of(seen, "turns").allocations);
    }
    for (own_thread& thread : threads) thread.join();
    const allocscope::snapshot seen = window.stats();
    const allocscope::snapshot::family pool = family_of(seen, "turns");
    if (wanted.record != allocscope::recording::sampled) {
        CHECK(pool.allocations == births);
        CHECK(pool.frees == deaths);
        std::uint64_t bytes = 0;
        for (std::size_t at = 0; at < places; ++at) bytes += is_alive[at] ? at : 0;
        CHECK(pool.live_bytes() == bytes);
    } else {
        CHECK(static_cast<double>(pool.allocations) ==
              doctest::Approx(static_cast<double>(births)).epsilon(0.02));
    }
    for (std::size_t at = 0; at < places; ++at) {
        if (is_alive[at]) allocscope::report_free(memory + at);
    }
    CHECK(family_of(window.stats(), "turns").live_objects() == 0);
    CHECK(seen.info().loss_count == 0);
}

}  // namespace

TEST_CASE("pools: threads free each other's objects, one byte apart, and nothing is lost") {
    run_threads({});
}

TEST_CASE("pools: the same where numbers are enough") {
    allocscope::options numbers;
    numbers.record = allocscope::recording::counters;
    run_threads(numbers);
}

TEST_CASE("pools: the same where nearly every object is a sample") {
    allocscope::options samples;
    samples.record = allocscope::recording::sampled;
    samples.sample_bytes = 2;  // each object counts 16 bytes and more
    run_threads(samples);
}
