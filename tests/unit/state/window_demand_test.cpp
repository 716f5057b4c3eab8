#include <allocscope/state/window_demand.hpp>
#include <allocscope/state/window_table.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <set>

#include "support/dice.hpp"
#include "support/scale.hpp"

using namespace allocscope::detail;

namespace {

window_wish stacks(std::uint32_t frames) {
    return {charge::stacks, frames, only(allocscope::unwinding::cfi), 512};
}
window_wish samples(std::uint64_t bytes) {
    return {charge::samples, 8, only(allocscope::unwinding::automatic), bytes};
}
constexpr window_wish numbers{charge::numbers, 99, 1, 7};

}  // namespace

TEST_CASE("what windows want together is the greatest of each wish, as long as they are open") {
    window_demand demand;
    CHECK(demand.together().mode == charge::nothing);
    demand.change(stacks(24), +1);
    demand.change(stacks(3), +1);
    demand.change(numbers, +1);
    CHECK(demand.together().mode == charge::stacks);
    CHECK(demand.together().frames == 24);
    CHECK(demand.together().methods == only(allocscope::unwinding::cfi));
    demand.change(stacks(24), -1);
    CHECK(demand.together().frames == 3);
    demand.change(stacks(3), -1);
    CHECK(demand.together().mode == charge::numbers);
    CHECK(demand.together().frames == 0);  // numbers need no stack
    CHECK(demand.together().methods == 0);
    CHECK(demand.windows() == 1);
}

TEST_CASE("the least interval of sampled windows is known, or it is said that it is not") {
    window_demand demand;
    demand.change(samples(4096), +1);
    demand.change(samples(1000), +1);
    demand.change(samples(1000), +1);
    demand.change(numbers, +1);  // its interval means nothing
    CHECK(demand.together().sample_bytes == 1000);
    demand.change(samples(1000), -1);
    CHECK(demand.together().sample_bytes == 1000);
    CHECK_FALSE(demand.lacks_interval());
    demand.change(samples(1000), -1);
    REQUIRE(demand.lacks_interval());
    demand.add_interval(4096);
    CHECK(demand.together().sample_bytes == 4096);
    demand.change(samples(4096), -1);
    CHECK_FALSE(demand.lacks_interval());
    CHECK(demand.together().sample_bytes == 0);
}

TEST_CASE("a window gets the lowest free slot, and slot_end() follows the highest open one") {
    const auto table = std::make_unique<window_table>();
    std::set<std::uint32_t> open;
    allocscope_test::dice roll{3};
    const long steps = allocscope_test::scaled(120000);
    for (long step = 0; step < steps; ++step) {
        if (open.empty() || roll.below(100) < (step < steps / 2 ? 60U : 40U)) {
            std::uint32_t lowest = 0;
            while (open.count(lowest) != 0) ++lowest;
            const std::int64_t slot = table->take_slot();
            if (slot != lowest) FAIL("took " << slot << ", not " << lowest);
            table->begin(*table->by_slot(lowest), static_cast<std::uint64_t>(step) + 1);
            open.insert(lowest);
        } else {
            auto chosen = open.begin();
            std::advance(chosen, static_cast<std::ptrdiff_t>(roll.below(open.size())));
            table->free_slot(*chosen);
            open.erase(chosen);
        }
        const std::uint32_t end = open.empty() ? 0 : *open.rbegin() + 1;
        if (table->slot_end() != end) FAIL("ends at " << table->slot_end() << ", not " << end);
    }
    CHECK(table->open_count() == open.size());
    std::uint32_t visited = 0;
    for (std::uint32_t slot = 0; table->next_open(slot) != nullptr;) ++visited;
    CHECK(visited == open.size());
    table->count_anew();
    CHECK(table->open_count() == open.size());
    std::uint32_t masked = 0;
    for (const std::uint32_t slot : open) masked += slot < window_table::masked_windows ? 1U : 0U;
    CHECK(table->unmasked_count() == open.size() - masked);
}

TEST_CASE("when the windows with the least interval are gone, the table looks for the next") {
    const auto table = std::make_unique<window_table>();
    for (const std::uint64_t bytes : {300U, 100U, 200U}) {
        open_window& window = *table->by_slot(static_cast<std::uint32_t>(table->take_slot()));
        window.mode = charge::samples;
        window.sample_bytes = bytes;
        table->begin(window, 1);
        table->change_demand(window, +1);
    }
    CHECK(table->demand().together().sample_bytes == 100);
    CHECK(table->wide_mask() == 7);
    table->free_slot(1);
    table->change_demand(*table->by_slot(1), -1);
    CHECK(table->demand().together().sample_bytes == 200);
    CHECK(table->wide_mask() == 5);
}
