#include <allocscope/snapshot/snapshot_block.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/made_snapshot.hpp"

using allocscope::snapshot;
using allocscope_tests::info_text;
using allocscope_tests::made_row;
using allocscope_tests::made_row_at;
using allocscope_tests::made_snapshot;
using allocscope_tests::row_text;

namespace {

std::string order_of(const snapshot& rows) {
    std::string order;
    for (const snapshot::row& row : rows) order += row.function;
    return order;
}

row_text full_row() {
    row_text row = made_row(5, 50, "parser.cpp", 12, "node", "parse(char const*)");
    row.offset = 7;
    row.sites = 2;
    row.samples = 3;
    row.frames = {{"inlined()", "/home/p/parser.cpp", 12, 4, true, 0x1234, "/bin/p", 0x234},
                  {"outer()", "", 0, 0, false, 0x1300, "/bin/p", 0x300}};
    row.user_frame = 0;
    return row;
}

}  // namespace

TEST_CASE("snapshot_block: every field of a row and its frames arrives") {
    const snapshot rows = made_snapshot({full_row()});
    REQUIRE(rows.size() == 1);
    const snapshot::row& row = rows[0];
    CHECK(row.objects == 5);
    CHECK(row.bytes == 50);
    CHECK(row.file == std::string{"parser.cpp"});
    CHECK(row.line == 12);
    CHECK(row.type == std::string{"node"});
    CHECK(row.function == std::string{"parse(char const*)"});
    CHECK(row.offset == 7);
    CHECK(row.sites == 2);
    CHECK(row.samples == 3);
    CHECK(row.user_frame == 0);
    REQUIRE(row.frame_count == 2);
    CHECK(row.frames[0].function == std::string{"inlined()"});
    CHECK(row.frames[0].file == std::string{"/home/p/parser.cpp"});
    CHECK(row.frames[0].line == 12);
    CHECK(row.frames[0].column == 4);
    CHECK(row.frames[0].is_inlined);
    CHECK(row.frames[0].address == 0x1234);
    CHECK(row.frames[0].module == std::string{"/bin/p"});
    CHECK(row.frames[0].offset == 0x234);
    CHECK(row.frames[1].function == std::string{"outer()"});
    CHECK(row.frames[1].file == std::string{});
    CHECK_FALSE(row.frames[1].is_inlined);
}

TEST_CASE("snapshot_block: every field about the window arrives") {
    info_text about;
    about.name = "load";
    about.record = allocscope::recording::sampled;
    about.from = allocscope::threads::current;
    about.stack_frames = 12;
    about.duration_ns = 99;
    about.totals = {5, 4, 3, 2, 1};
    about.own_memory_bytes = 4096;
    about.losses = {{"never happened", 0}, {"happened", 2}};
    about.not_recording = "why not";
    about.sample_bytes = 1000;
    about.samples = 77;
    about.estimates.frees = {4, 3, 9};
    const snapshot rows = made_snapshot({}, about);
    const snapshot::window_info& info = rows.info();
    CHECK(info.name == std::string{"load"});
    CHECK(info.record == allocscope::recording::sampled);
    CHECK(info.from == allocscope::threads::current);
    CHECK(info.stack_frames == 12);
    CHECK(info.duration_ns == 99);
    CHECK(info.totals.allocations == 5);
    CHECK(info.totals.peak_bytes == 1);
    CHECK(info.own_memory_bytes == 4096);
    REQUIRE(info.loss_count == 1);
    CHECK(info.losses[0].reason == std::string{"happened"});
    CHECK(info.losses[0].count == 2);
    CHECK_FALSE(info.is_difference);
    CHECK(info.not_recording == std::string{"why not"});
    CHECK(info.sample_bytes == 1000);
    CHECK(info.samples == 77);
    CHECK(info.estimates.frees.low == 3);
    CHECK(info.estimates.frees.high == 9);
}

TEST_CASE("snapshot_block: intervals are kept when sampled, and are the numbers when exact") {
    row_text row = made_row(5, 50, "a.cpp", 1, "t");
    row.objects_low = 1;
    row.objects_high = 19;
    row.bytes_low = 10;
    row.bytes_high = 190;
    info_text about;
    about.totals = {15, 10, 150, 100, 90};
    const snapshot exact = made_snapshot({row}, about);
    CHECK(exact[0].objects_low == 5);
    CHECK(exact[0].objects_high == 5);
    CHECK(exact[0].bytes_low == 50);
    CHECK(exact[0].bytes_high == 50);
    CHECK(exact.info().estimates.allocations.low == 15);
    CHECK(exact.info().estimates.frees.high == 10);
    CHECK(exact.info().estimates.live_objects.value == 5);
    CHECK(exact.info().estimates.bytes_freed.low == 100);
    CHECK(exact.info().estimates.live_bytes.high == 50);
    about.record = allocscope::recording::sampled;
    const snapshot sampled = made_snapshot({row}, about);
    CHECK(sampled[0].objects_low == 1);
    CHECK(sampled[0].objects_high == 19);
    CHECK(sampled[0].bytes_low == 10);
    CHECK(sampled[0].bytes_high == 190);
}

TEST_CASE("snapshot_block: most objects first, then most bytes, then file, line and type") {
    std::vector<row_text> rows = {
        made_row(9, 1, "z.cpp", 9, "z", "1"), made_row(5, 9, "z.cpp", 9, "z", "2"),
        made_row(5, 5, "a.cpp", 1, "a", "3"), made_row(5, 5, "a.cpp", 1, "b", "4"),
        made_row(5, 5, "a.cpp", 2, "a", "5"), made_row(5, 5, "b.cpp", 1, "a", "6"),
        made_row(1, 99, "a.cpp", 1, "a", "7")};
    std::mt19937 random{3};
    for (int i = 0; i < 50; ++i) {
        std::shuffle(rows.begin(), rows.end(), random);
        CHECK(order_of(made_snapshot(rows)) == "1234567");
    }
}

TEST_CASE("snapshot_block: in a difference the largest change comes first, up or down") {
    info_text about;
    about.is_difference = true;
    const auto minus = [](std::uint64_t number) { return std::uint64_t{0} - number; };
    std::vector<row_text> rows = {
        made_row(minus(9), minus(9), "a.cpp", 1, "a", "1"), made_row(8, 8, "a.cpp", 1, "a", "2"),
        made_row(1, 3, "a.cpp", 1, "a", "3"), made_row(0, minus(5), "a.cpp", 1, "a", "4")};
    std::mt19937 random{4};
    for (int i = 0; i < 20; ++i) {
        std::shuffle(rows.begin(), rows.end(), random);
        CHECK(order_of(made_snapshot(rows, about)) == "1234");
    }
    CHECK(static_cast<std::int64_t>(made_snapshot(rows, about).live_objects()) == 0);
}

TEST_CASE("snapshot_block: a difference keeps what its rows point to") {
    snapshot change;
    {
        const snapshot earlier =
            made_snapshot({made_row_at(4, 40, "/a/x.cpp", "x.cpp", 1, "gone")});
        const snapshot later = made_snapshot({made_row_at(9, 90, "/a/y.cpp", "y.cpp", 2, "came")});
        change = later.difference_from(earlier).difference_from(snapshot{});
    }
    REQUIRE(change.size() == 2);
    CHECK(change[0].type == std::string{"came"});
    CHECK(change[0].frames[0].file == std::string{"/a/y.cpp"});
    CHECK(change[1].type == std::string{"gone"});
    CHECK(change[1].frames[0].file == std::string{"/a/x.cpp"});
    CHECK(static_cast<std::int64_t>(change[1].objects) == -4);
}

TEST_CASE("snapshot_block: refused memory gives no block, and nothing is kept of it") {
    const snapshot parent = made_snapshot({full_row()});
    for (std::int64_t mappings = 0; mappings < 2; ++mappings) {
        allocscope::detail::mappings_until_refusal = mappings;
        const snapshot change = parent.difference_from(snapshot{});
        allocscope::detail::mappings_until_refusal = -1;
        CHECK(change.empty());
        CHECK(change.info().not_recording != std::string{});
    }
    CHECK(parent.difference_from(snapshot{}).size() == 1);
}

TEST_CASE("snapshot_block: a user frame that is not there becomes the number of frames") {
    row_text row = full_row();
    row.user_frame = allocscope_tests::no_frame;
    CHECK(made_snapshot({row})[0].user_frame == 2);
    row.frames.clear();
    CHECK(made_snapshot({row})[0].user_frame == 0);
    CHECK(made_snapshot({row})[0].frame_count == 0);
}

TEST_CASE("snapshot_block: thousands of rows keep their own texts") {
    std::vector<row_text> rows;
    for (int i = 0; i < 5000; ++i) {
        rows.push_back(
            made_row(static_cast<std::uint64_t>(i), 1, "file" + std::to_string(i), i, "t"));
    }
    const snapshot made = made_snapshot(rows);
    REQUIRE(made.size() == 5000);
    for (std::size_t i = 0; i < made.size(); ++i) {
        CHECK(made[i].file == "file" + std::to_string(4999 - i));
    }
}
