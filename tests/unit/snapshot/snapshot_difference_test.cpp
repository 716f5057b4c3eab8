#include <allocscope/snapshot/snapshot_difference.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "support/made_snapshot.hpp"

using allocscope::snapshot;
using allocscope_tests::info_text;
using allocscope_tests::made_row;
using allocscope_tests::made_row_at;
using allocscope_tests::made_snapshot;
using allocscope_tests::row_text;

namespace {

std::string summary(const snapshot& rows) {
    std::string text;
    for (const snapshot::row& row : rows) {
        text += std::to_string(static_cast<std::int64_t>(row.objects)) + '/' +
                std::to_string(static_cast<std::int64_t>(row.bytes)) + ' ' + row.file + ':' +
                std::to_string(row.line) + ':' + row.type + '\n';
    }
    return text;
}

}  // namespace

TEST_CASE("difference: per place, what was added and what went; nothing for what stayed") {
    const snapshot earlier =
        made_snapshot({made_row(10, 100, "a.cpp", 3, "node"), made_row(5, 50, "a.cpp", 9, "edge"),
                       made_row(7, 70, "a.cpp", 12, "leaf")});
    const snapshot later =
        made_snapshot({made_row(14, 140, "a.cpp", 3, "node"), made_row(7, 70, "a.cpp", 12, "leaf"),
                       made_row(1, 8, "b.cpp", 1, "new")});
    const snapshot change = later.difference_from(earlier);
    CHECK(summary(change) == "-5/-50 a.cpp:9:edge\n4/40 a.cpp:3:node\n1/8 b.cpp:1:new\n");
    CHECK(change.info().is_difference);
    CHECK(static_cast<std::int64_t>(change.live_objects()) == 0);
    CHECK(static_cast<std::int64_t>(change.live_bytes()) == -2);
    CHECK(summary(earlier.difference_from(later)) ==
          "5/50 a.cpp:9:edge\n-4/-40 a.cpp:3:node\n-1/-8 b.cpp:1:new\n");
}

TEST_CASE("difference: a snapshot has nothing more than itself or its copy") {
    const snapshot rows = made_snapshot({made_row(10, 100, "a.cpp", 3, "node")});
    CHECK(rows.difference_from(rows).empty());
    const snapshot copy = rows;
    CHECK(rows.difference_from(copy).empty());
    CHECK(rows.difference_from(rows).info().not_recording == std::string{});
}

TEST_CASE("difference: the same number of other sizes is a change") {
    CHECK(summary(made_snapshot({made_row(2, 80, "a.cpp", 1, "t")})
                      .difference_from(made_snapshot({made_row(2, 20, "a.cpp", 1, "t")}))) ==
          "0/60 a.cpp:1:t\n");
}

TEST_CASE(
    "difference: from a snapshot of no window everything was added, and the other way round") {
    const snapshot rows = made_snapshot({made_row(2, 20, "a.cpp", 1, "t")});
    CHECK(summary(rows.difference_from({})) == "2/20 a.cpp:1:t\n");
    CHECK(summary(snapshot{}.difference_from(rows)) == "-2/-20 a.cpp:1:t\n");
    CHECK(rows.difference_from({}).info().not_recording == std::string{});
    CHECK(snapshot{}.difference_from(rows).info().not_recording == std::string{});
}

TEST_CASE("difference: one that recorded nothing, or found no memory, spoils the result") {
    const snapshot rows = made_snapshot({made_row(2, 20, "a.cpp", 1, "t")});
    info_text about;
    about.not_recording = "nothing is being recorded";
    CHECK(rows.difference_from(made_snapshot({}, about)).info().not_recording ==
          std::string{"nothing is being recorded"});
    const snapshot refused = allocscope::detail::refused_snapshot();
    CHECK(rows.difference_from(refused).info().not_recording ==
          std::string{refused.info().not_recording});
}

TEST_CASE("difference: type, line and offset tell places apart") {
    row_text at_one = made_row(1, 1, "main", 0, "?");
    at_one.offset = 0x10;
    row_text at_two = made_row(1, 1, "main", 0, "?");
    at_two.offset = 0x20;
    CHECK(summary(made_snapshot({at_one}).difference_from(made_snapshot({at_two}))) ==
          "1/1 main:0:?\n-1/-1 main:0:?\n");
    CHECK(made_snapshot({at_one}).difference_from(made_snapshot({at_one})).empty());
    // The offset of a row that has a line says nothing about the place.
    row_text with_line = made_row(1, 1, "a.cpp", 4, "t");
    row_text elsewhere = with_line;
    elsewhere.offset = 0x99;
    CHECK(made_snapshot({with_line}).difference_from(made_snapshot({elsewhere})).empty());
}

TEST_CASE("difference: places are compared by whole path, however the names were shortened") {
    // Earlier, only src/ was seen; later also lib/, so that the common directory is higher up.
    const snapshot earlier = made_snapshot({made_row_at(5, 5, "/p/src/a.cpp", "a.cpp", 1, "t"),
                                            made_row_at(9, 9, "/p/src/b.cpp", "b.cpp", 2, "t")});
    const snapshot later = made_snapshot({made_row_at(6, 6, "/p/src/a.cpp", "src/a.cpp", 1, "t"),
                                          made_row_at(3, 3, "/p/lib/a.cpp", "lib/a.cpp", 1, "t")});
    CHECK(summary(later.difference_from(earlier)) ==
          "-9/-9 src/b.cpp:2:t\n3/3 lib/a.cpp:1:t\n1/1 src/a.cpp:1:t\n");
    CHECK(summary(earlier.difference_from(later)) ==
          "9/9 src/b.cpp:2:t\n-3/-3 lib/a.cpp:1:t\n-1/-1 src/a.cpp:1:t\n");
}

TEST_CASE("difference: equal short names of different files are not mixed up") {
    const snapshot earlier = made_snapshot({made_row_at(5, 5, "/p/x/a.cpp", "a.cpp", 1, "t")});
    const snapshot later = made_snapshot({made_row_at(5, 5, "/p/y/a.cpp", "a.cpp", 1, "t")});
    CHECK(summary(later.difference_from(earlier)) == "-5/-5 x/a.cpp:1:t\n5/5 y/a.cpp:1:t\n");
    const snapshot elsewhere = made_snapshot({made_row_at(5, 5, "/q/a.cpp", "a.cpp", 1, "t")});
    CHECK(summary(elsewhere.difference_from(earlier)) ==
          "-5/-5 /p/x/a.cpp:1:t\n5/5 /q/a.cpp:1:t\n");
}

TEST_CASE("difference: snapshots that were shortened alike keep their names") {
    const snapshot earlier = made_snapshot({made_row_at(5, 5, "/p/t/../x/a.cpp", "x/a.cpp", 1, "t"),
                                            made_row_at(1, 1, "/p/b.cpp", "b.cpp", 1, "t")});
    const snapshot later = made_snapshot({made_row_at(7, 7, "/p/t/../x/a.cpp", "x/a.cpp", 1, "t"),
                                          made_row_at(2, 2, "/p/b.cpp", "b.cpp", 1, "t")});
    CHECK(summary(later.difference_from(earlier)) == "2/2 x/a.cpp:1:t\n1/1 b.cpp:1:t\n");
    CHECK(summary(later.difference_from({})) == summary(later));
}

TEST_CASE("difference: relative paths are shortened among themselves") {
    const snapshot earlier = made_snapshot({made_row_at(5, 5, "src/x/a.cpp", "a.cpp", 1, "t"),
                                            made_row_at(1, 1, "/p/b.cpp", "b.cpp", 1, "t")});
    const snapshot later = made_snapshot({made_row_at(7, 7, "src/y/c.cpp", "c.cpp", 1, "t"),
                                          made_row_at(2, 2, "/p/b.cpp", "b.cpp", 1, "t")});
    CHECK(summary(later.difference_from(earlier)) ==
          "7/7 y/c.cpp:1:t\n-5/-5 x/a.cpp:1:t\n1/1 b.cpp:1:t\n");
}

TEST_CASE("difference: where two files would get one name, the second keeps its whole path") {
    const snapshot earlier = made_snapshot({made_row_at(5, 5, "/p/a.cpp", "a.cpp", 1, "t")});
    const snapshot later = made_snapshot({made_row_at(7, 7, "src/a.cpp", "a.cpp", 1, "t")});
    CHECK(summary(later.difference_from(earlier)) == "7/7 a.cpp:1:t\n-5/-5 /p/a.cpp:1:t\n");
}

TEST_CASE("difference: frames and function come from the later row when there is one") {
    row_text before = made_row_at(5, 5, "/p/a.cpp", "a.cpp", 1, "t");
    before.function = "old";
    row_text after = made_row_at(6, 6, "/p/a.cpp", "a.cpp", 1, "t");
    after.function = "new";
    after.samples = 4;
    const snapshot change = made_snapshot({after}).difference_from(made_snapshot({before}));
    REQUIRE(change.size() == 1);
    CHECK(change[0].function == std::string{"new"});
    CHECK(change[0].samples == 4);
    REQUIRE(change[0].frame_count == 1);
    CHECK(change[0].frames[0].file == std::string{"/p/a.cpp"});
    CHECK(change[0].user_frame == 0);
}

TEST_CASE("difference: the totals are subtracted, the losses are the larger of the two") {
    info_text before;
    before.totals = {10, 5, 100, 50, 60};
    before.duration_ns = 1000;
    before.losses = {{"only before", 1}, {"both", 5}};
    info_text after;
    after.name = "after";
    after.totals = {15, 5, 170, 50, 130};
    after.duration_ns = 3500;
    after.losses = {{"both", 7}, {"only after", 2}};
    const snapshot change = made_snapshot({}, after).difference_from(made_snapshot({}, before));
    const snapshot::window_info& info = change.info();
    CHECK(info.name == std::string{"after"});
    CHECK(info.totals.allocations == 5);
    CHECK(info.totals.frees == 0);
    CHECK(info.totals.bytes_allocated == 70);
    CHECK(info.totals.live_bytes() == 70);
    CHECK(info.totals.peak_bytes == 70);
    CHECK(info.duration_ns == 2500);
    REQUIRE(info.loss_count == 3);
    CHECK(info.losses[0].count == 7);
    CHECK(info.losses[1].count == 2);
    CHECK(info.losses[2].count == 1);
}

TEST_CASE("difference: it knows which of two snapshots of one window was first") {
    info_text before;
    before.window = 3;
    before.process_id = 7;
    before.duration_ns = 1000;
    info_text after = before;
    after.duration_ns = 3500;
    const auto difference = [](const info_text& a, const info_text& b) {
        return made_snapshot({}, a).difference_from(made_snapshot({}, b));
    };
    CHECK_FALSE(difference(after, before).info().is_backwards);
    CHECK(difference(before, after).info().is_backwards);
    CHECK(difference(before, after).info().duration_ns == 2500);
    CHECK_FALSE(difference(before, before).info().is_backwards);
    CHECK_FALSE(snapshot{}.difference_from(made_snapshot({}, after)).info().is_backwards);
    // Two runs of one program have windows with one number, and no common time.
    info_text other = after;
    other.process_id = 8;
    CHECK_FALSE(difference(before, other).info().is_backwards);
    CHECK(difference(before, other).info().is_of_two_windows);
    CHECK_FALSE(difference(after, before).info().is_of_two_windows);
}

TEST_CASE("difference: a time series is of the later snapshot, so the difference has none") {
    info_text after;
    after.moments = {{1000, 1, 10, 2, 20, ""}, {2000, 3, 30, 4, 40, "loaded"}};
    CHECK(made_snapshot({}, after).difference_from(made_snapshot({})).info().moment_count == 0);
}

TEST_CASE("difference: with a sampled side it is an estimate") {
    info_text sampled;
    sampled.record = allocscope::recording::sampled;
    CHECK(made_snapshot({}).difference_from(made_snapshot({}, sampled)).info().record ==
          allocscope::recording::sampled);
}

TEST_CASE("difference: samples add up, and intervals reach as far as both together") {
    info_text sampled;
    sampled.record = allocscope::recording::sampled;
    sampled.samples = 9;
    sampled.estimates.live_bytes = {1000, 700, 1500};
    row_text before = made_row(100, 1000, "a.cpp", 1, "t");
    before.samples = 4;
    before.objects_low = 60;
    before.objects_high = 200;
    before.bytes_low = 1000;
    before.bytes_high = 1000;
    row_text after = made_row(500, 3000, "a.cpp", 1, "t");
    after.samples = 20;
    after.objects_low = 470;
    after.objects_high = 530;
    after.bytes_low = 2000;
    after.bytes_high = 4500;
    const snapshot change =
        made_snapshot({after}, sampled).difference_from(made_snapshot({before}, sampled));
    REQUIRE(change.size() == 1);
    CHECK(change[0].objects == 400);
    CHECK(change[0].samples == 24);
    CHECK(change[0].objects_low == 400 - 105);  // sqrt(30^2 + 100^2), rounded outwards
    CHECK(change[0].objects_high == 400 + 50);  // sqrt(30^2 + 40^2)
    CHECK(change[0].bytes_low == 1000);
    CHECK(change[0].bytes_high == 3500);
    CHECK(change.info().samples == 18);
    CHECK(change.info().estimates.live_bytes.value == 0);
    CHECK(static_cast<std::int64_t>(change.info().estimates.live_bytes.low) == -584);
    CHECK(change.info().estimates.live_bytes.high == 584);
}

TEST_CASE("difference: of exact windows nothing is uncertain") {
    const snapshot change = made_snapshot({made_row(3, 9, "a.cpp", 1, "t")})
                                .difference_from(made_snapshot({made_row(5, 11, "a.cpp", 1, "t")}));
    REQUIRE(change.size() == 1);
    CHECK(static_cast<std::int64_t>(change[0].objects_low) == -2);
    CHECK(static_cast<std::int64_t>(change[0].objects_high) == -2);
    CHECK(static_cast<std::int64_t>(change[0].bytes_low) == -2);
    CHECK(static_cast<std::int64_t>(change[0].bytes_high) == -2);
}

TEST_CASE("difference: a difference has a difference") {
    const snapshot first = made_snapshot({made_row(1, 1, "a.cpp", 1, "t")});
    const snapshot second = made_snapshot({made_row(4, 4, "a.cpp", 1, "t")});
    const snapshot third = made_snapshot({made_row(5, 5, "a.cpp", 1, "t")});
    CHECK(summary(third.difference_from(second).difference_from(second.difference_from(first))) ==
          "-2/-2 a.cpp:1:t\n");
}
