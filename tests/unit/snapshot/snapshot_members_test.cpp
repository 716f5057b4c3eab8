#include <allocscope/snapshot/snapshot.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/made_snapshot.hpp"

using allocscope::snapshot;
using allocscope::detail::snapshot_data;
using allocscope_tests::made_row;
using allocscope_tests::made_snapshot;

namespace {

// A block that counts its releases.
int releases = 0;

struct counted_block {
    snapshot_data data{1,
                       [](snapshot_data*) { ++releases; },
                       nullptr,
                       0,
                       0,
                       0,
                       allocscope::detail::snapshot_of_no_window.info,
                       nullptr,
                       nullptr};
    counted_block() { releases = 0; }
};

static_assert(std::is_nothrow_copy_constructible<snapshot>::value, "copying shares the block");
static_assert(std::is_nothrow_move_constructible<snapshot>::value, "");
static_assert(std::is_nothrow_move_assignable<snapshot>::value, "");
static_assert(sizeof(snapshot) == sizeof(void*), "a snapshot is one pointer");
static_assert(!std::is_convertible<snapshot_data*, snapshot>::value, "only the engine makes one");

}  // namespace

TEST_CASE("snapshot: without a window it is empty and says why") {
    const snapshot none;
    CHECK(none.empty());
    CHECK(none.size() == 0);
    CHECK(none.begin() == none.end());
    CHECK(none.live_objects() == 0);
    CHECK(none.live_bytes() == 0);
    CHECK(none.info().not_recording == std::string{"this snapshot comes from no window"});
    CHECK(none.info().name == std::string{});
    CHECK(none.info().totals.allocations == 0);
}

TEST_CASE("snapshot: a window that only counts has no rows, and what is alive all the same") {
    allocscope_tests::info_text about;
    about.record = allocscope::recording::counters;
    about.totals = {10, 8, 100, 60, 100};
    const snapshot earlier = made_snapshot({}, about);
    CHECK(earlier.empty());
    CHECK(earlier.live_objects() == 2);
    CHECK(earlier.live_bytes() == 40);
    about.totals = {12, 11, 130, 125, 100};
    const snapshot change = made_snapshot({}, about).difference_from(earlier);
    CHECK(static_cast<std::int64_t>(change.live_objects()) == -1);
    CHECK(static_cast<std::int64_t>(change.live_bytes()) == -35);
}

TEST_CASE("snapshot: one whose memory was refused is not mistaken for one without leaks") {
    const snapshot refused = allocscope::detail::refused_snapshot();
    const snapshot copy = refused;
    CHECK(copy.empty());
    CHECK(copy.info().not_recording != std::string{});
    CHECK(copy.info().not_recording != std::string{snapshot{}.info().not_recording});
}

TEST_CASE("snapshot: the block is released once, with the last of its owners") {
    counted_block block;
    {
        snapshot first{&block.data};
        {
            snapshot copy = first;
            CHECK(block.data.references == 2);
            snapshot moved = std::move(copy);
            CHECK(block.data.references == 2);
            CHECK(copy.empty());  // NOLINT: a moved-from snapshot is one of no window
        }
        CHECK(block.data.references == 1);
        CHECK(releases == 0);
    }
    CHECK(releases == 1);
}

TEST_CASE("snapshot: assignment gives up the old block and survives itself") {
    counted_block block;
    snapshot kept{&block.data};
    snapshot& same = kept;
    kept = same;
    CHECK(releases == 0);
    kept = std::move(same);
    CHECK(releases == 0);
    CHECK(block.data.references == 1);
    snapshot other;
    other = kept;
    CHECK(block.data.references == 2);
    kept = snapshot{};
    CHECK(releases == 0);
    other = allocscope::detail::refused_snapshot();
    CHECK(releases == 1);
}

TEST_CASE("snapshot: threads may copy and drop one snapshot at the same time") {
    const snapshot shared = made_snapshot({made_row(3, 9, "a.cpp", 1, "int")});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&shared] {
            for (int round = 0; round < 2000; ++round) {
                snapshot copy = shared;
                snapshot again;
                again = copy;
                if (again.live_objects() != 3) std::abort();
            }
        });
    }
    for (std::thread& each : threads) each.join();
    CHECK(shared.size() == 1);
}

TEST_CASE("snapshot: rows can be walked and indexed") {
    const snapshot rows =
        made_snapshot({made_row(1, 8, "b.cpp", 2, "long"), made_row(3, 12, "a.cpp", 1, "int")});
    CHECK(rows.size() == 2);
    CHECK(rows.live_objects() == 4);
    CHECK(rows.live_bytes() == 20);
    CHECK(rows[0].type == std::string{"int"});
    CHECK(rows[1].type == std::string{"long"});
    std::uint64_t bytes = 0;
    for (const snapshot::row& row : rows) bytes += row.bytes;
    CHECK(bytes == 20);
}

TEST_CASE("snapshot: a difference of two that come from no window stays one of no window") {
    const snapshot nothing = snapshot{}.difference_from(snapshot{});
    CHECK(nothing.empty());
    CHECK(nothing.info().not_recording == std::string{"this snapshot comes from no window"});
}

TEST_CASE("snapshot: a difference that finds no memory says so") {
    counted_block block;
    block.data.difference = [](const snapshot_data&, const snapshot_data&) -> snapshot_data* {
        return nullptr;
    };
    const snapshot later{&block.data};
    CHECK(later.difference_from(later).info().not_recording ==
          std::string{allocscope::detail::refused_snapshot().info().not_recording});
}
