// Danger: a table is full, and objects vanish from the numbers or stand at a wrong place.
//
// With room for 8 stacks only, objects from 64 places are all counted; the first places keep their
// rows, the others share the row of the unknown place, and the loss says how many allocations that
// concerns. With room for few cohorts or records, what is in no number is told.
// not with: tsan (it sees nothing where there is one thread)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"

#include <allocscope/state/process_state.hpp>

#include <cstring>
#include <utility>
#include <vector>

using namespace allocscope_test;

namespace {

constexpr std::size_t places = 64;

template <std::size_t Number>
__attribute__((noinline)) void* at_place() {
    void* made = ::operator new(Number + 1);
    __asm__ volatile("" : : "r"(Number) : "memory");
    return opaque(made);
}

template <std::size_t... Numbers>
void allocate_at_all(std::vector<void*>& kept, std::index_sequence<Numbers...>) {
    (kept.push_back(at_place<Numbers>()), ...);
}

// Without room for more cohorts, objects are counted without their place while the thread has a
// cohort for such, and else not at all.
void few_cohorts() {
    std::vector<void*> kept;
    kept.reserve(20 * places);
    allocscope::detail::process.cohorts.limit.store(2);
    allocscope::options shallow;
    shallow.stack_frames = 1;
    allocscope::scope window{"few cohorts", shallow};
    std::uint64_t made = 0;
    for (int round = 0; round < 10; ++round) {
        allocate_at_all(kept, std::make_index_sequence<places>{});
        made += places;
        const allocscope::scope boundary{"a new epoch wants new cohorts", shallow};
        allocate_at_all(kept, std::make_index_sequence<places>{});
        made += places;
    }
    ALLOCSCOPE_EXPECT(declared_losses(window.stats()) > 0);
    expect_accounted(window.stats(), {made, 0});
    for (void* block : kept) release(block);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), std::uint64_t{0});
    expect_accounted(window.stats(), {made, made});
    allocscope::detail::process.cohorts.limit.store(~std::uint32_t{0});
}

// Without room for the records of more of the heap.
void few_records() {
    constexpr std::uint64_t blocks = 80;
    void* kept[blocks] = {};
    allocscope::scope window{"few records"};
    release(allocate(8));  // with all that the thread needs for its own
    allocscope::detail::mappings_until_refusal = 0;
    for (void*& block : kept) block = allocate(std::size_t{1} << 20U);  // more than a region
    allocscope::detail::mappings_until_refusal = -1;
    const std::uint64_t lost = declared_losses(window.stats());
    ALLOCSCOPE_EXPECT(lost > 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations + lost, blocks + 1);
    expect_accounted(window.stats(), {blocks + 1, 1});
    for (void* block : kept) release(block);
    expect_accounted(window.stats(), {blocks + 1, blocks + 1});
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), std::uint64_t{0});
}

void few_sites() {
    allocscope::detail::process.sites.limit.store(8);
    std::vector<void*> kept;
    kept.reserve(10 * places);
    allocscope::options shallow;
    shallow.stack_frames = 1;
    allocscope::scope window{"full", shallow};
    for (int round = 0; round < 10; ++round) {
        allocate_at_all(kept, std::make_index_sequence<places>{});
    }
    const allocscope::snapshot report = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, std::uint64_t{10 * places});
    ALLOCSCOPE_EXPECT_EQUAL(report.live_objects(), std::uint64_t{10 * places});
    ALLOCSCOPE_EXPECT_EQUAL(report.live_bytes(), std::uint64_t{10 * places * (places + 1) / 2});
    std::uint64_t unknown = 0;
    for (const allocscope::snapshot::row& row : report) {
        if (std::strcmp(row.file, "(place not recorded)") == 0) unknown += row.objects;
    }
    ALLOCSCOPE_EXPECT_EQUAL(unknown, std::uint64_t{10 * (places - 8)});
    ALLOCSCOPE_EXPECT_EQUAL(report.info().loss_count, std::size_t{1});
    ALLOCSCOPE_EXPECT_EQUAL(report.info().losses[0].count, unknown);
    for (void* block : kept) release(block);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), std::uint64_t{0});
    ALLOCSCOPE_EXPECT(window.stats().empty());
    expect_accounted(window.stats(), {10 * places, 10 * places});
    allocscope::detail::process.sites.limit.store(~std::uint32_t{0});
}

}  // namespace

int main() {
    watchdog();
    few_sites();
    few_cohorts();
    few_records();
    return verdict();
}
