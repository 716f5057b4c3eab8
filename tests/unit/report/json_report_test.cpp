#include "../../support/made_snapshot.hpp"

#include <allocscope/report/json_report.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

using namespace allocscope_tests;
using nlohmann::json;

TEST_CASE("json_report: another reader finds every name and number") {
    const std::string hostile = "a\"b\\c\n\x1b[31m</script>,\xff;\xe2\x80\xae";
    info_text info;
    info.name = hostile;
    info.duration_ns = 5;
    info.totals.allocations = 7;
    info.totals.frees = 2;
    info.totals.bytes_allocated = 700;
    info.totals.bytes_freed = 200;
    info.totals.peak_bytes = 650;
    info.losses.push_back({"were \"lost\"", 3});
    const auto rows = made_snapshot(
        {made_row_at(5, 500, "/" + hostile, hostile, 12, "std::map<int, char>")}, info);
    const std::string text = allocscope::to_json(rows);
    for (const char c : text) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
    const json read = json::parse(text);
    CHECK(read["window"] == "a\"b\\c\\x0a\\x1b[31m</script>,\\xff;\\xe2\\x80\\xae");
    CHECK(read["record"] == "exact");
    CHECK(read["totals"]["allocations"] == 7);
    CHECK(read["totals"]["live_objects"] == 5);
    CHECK(read["totals"]["live_bytes"] == 500);
    CHECK(read["totals"]["peak_bytes"] == 650);
    CHECK(read["lost"]["were \"lost\""] == 3);
    REQUIRE(read["rows"].size() == 1);
    const json& row = read["rows"][0];
    CHECK(row["objects"] == 5);
    CHECK(row["bytes"] == 500);
    CHECK(row["line"] == 12);
    CHECK(row["type"] == "std::map<int, char>");
    REQUIRE(row["frames"].size() == 1);
    CHECK(row["frames"][0]["function"] == "work()");
    CHECK(row["frames"][0]["inlined"] == false);
}

TEST_CASE("json_report: every loss has a name, whether it happened or not") {
    namespace detail = allocscope::detail;
    constexpr auto reasons = static_cast<std::uint32_t>(detail::loss_reason::count);
    const json nothing = json::parse(allocscope::to_json(made_snapshot({}, info_text{})))["lost"];
    CHECK(nothing.size() == reasons);
    for (const json& count : nothing) CHECK(count == 0);
    for (std::uint32_t number = 0; number < reasons; ++number) {
        const detail::loss_words& words = detail::words_of_losses[number];
        info_text info;
        info.losses.push_back({words.sentence, 5 + number});
        json wanted = nothing;
        wanted[words.name] = 5 + number;
        CHECK(json::parse(allocscope::to_json(made_snapshot({}, info)))["lost"] == wanted);
    }
    CHECK(nothing.contains("no_memory_for_record"));
}

TEST_CASE("json_report: what other threads may have freed meanwhile is in the totals") {
    info_text about;
    CHECK(!json::parse(allocscope::to_json(made_snapshot({}, about)))["totals"].contains(
        "uncertain_objects"));
    about.uncertain_objects = 70;
    about.uncertain_bytes = 2048;
    const json totals = json::parse(allocscope::to_json(made_snapshot({}, about)))["totals"];
    CHECK(totals["uncertain_objects"] == 70);
    CHECK(totals["uncertain_bytes"] == 2048);
}

TEST_CASE("json_report: what went is negative in a difference, and nothing is two's complement") {
    info_text info;
    info.is_difference = true;
    const auto rows = made_snapshot({made_row(static_cast<std::uint64_t>(-3),
                                              static_cast<std::uint64_t>(-48), "a.cpp", 1, "?")},
                                    info);
    const json read = json::parse(allocscope::to_json(rows));
    CHECK(read["rows"][0]["objects"] == -3);
    CHECK(read["rows"][0]["bytes"] == -48);
}

TEST_CASE("json_report: a row has what its place allocated, also from other stacks") {
    info_text info;
    stack_text first;
    static_cast<row_text&>(first) = made_row_at(2, 20, "/src/a.cpp", "a.cpp", 1, "node");
    first.allocations = 5;
    first.bytes_allocated = 50;
    stack_text second = first;
    second.allocations = 7;
    second.bytes_allocated = 70;
    second.objects = second.bytes = 0;
    stack_text other_type = second;
    other_type.type = "leaf";
    other_type.allocations = 1;
    other_type.bytes_allocated = 1000;
    stack_text other_type_again = other_type;
    other_type_again.allocations = 2;
    other_type_again.function = "most()";
    stack_text other_line = second;
    other_line.line = 2;
    info.stacks = {first, second, other_type, other_type_again, other_line};
    const auto rows = made_snapshot({made_row_at(2, 20, "/src/a.cpp", "a.cpp", 1, "node")}, info);
    const json read = json::parse(allocscope::to_json(rows));
    REQUIRE(read["rows"].size() == 1);
    CHECK(read["rows"][0]["objects"] == 2);
    CHECK(read["rows"][0]["allocations"] == 12);
    CHECK(read["rows"][0]["bytes_allocated"] == 120);
    CHECK(read["rows"][0]["sites"] == 1);
    const json& freed = read["freed_rows"];
    REQUIRE(freed.size() == 2);
    CHECK(freed[0]["type"] == "leaf");
    CHECK(freed[0]["objects"] == 0);
    CHECK(freed[0]["allocations"] == 3);
    CHECK(freed[0]["bytes_allocated"] == 2000);
    CHECK(freed[0]["sites"] == 2);
    CHECK(freed[0]["function"] == "most()");
    CHECK(freed[1]["line"] == 2);
    CHECK(freed[1]["allocations"] == 7);
}

TEST_CASE("json_report: intervals of stacks that cancel each other out add as squares") {
    info_text info;
    info.is_difference = true;
    info.record = allocscope::recording::sampled;
    stack_text more;
    static_cast<row_text&>(more) = made_row_at(20, 2000, "/src/a.cpp", "a.cpp", 1, "node");
    more.samples = 2;
    more.objects_low = 17;
    more.objects_high = 24;
    more.bytes_low = 1700;
    more.bytes_high = 2400;
    stack_text less = more;
    const auto negative = [](std::uint64_t number) { return std::uint64_t{0} - number; };
    less.objects = negative(20);
    less.objects_low = negative(24);
    less.objects_high = negative(17);
    less.bytes = negative(2000);
    less.bytes_low = negative(2400);
    less.bytes_high = negative(1700);
    info.stacks = {more, less};
    const json read = json::parse(allocscope::to_json(made_snapshot({}, info)));
    REQUIRE(read["freed_rows"].size() == 1);
    const json& row = read["freed_rows"][0];
    CHECK(row["objects"] == 0);
    CHECK(row["objects_low"] == -5);  // the root of 3 * 3 + 4 * 4
    CHECK(row["objects_high"] == 5);
    CHECK(row["bytes_low"] == -500);
    CHECK(row["bytes_high"] == 500);
    CHECK(row["samples"] == 4);
}

TEST_CASE("json_report: places without a line differ by their offset") {
    info_text info;
    stack_text first;
    static_cast<row_text&>(first) = made_row(0, 0, "main", 0, "?");
    first.offset = 16;
    first.allocations = 1;
    stack_text second = first;
    second.offset = 32;
    info.stacks = {first, second, first};
    const json read = json::parse(allocscope::to_json(made_snapshot({}, info)));
    REQUIRE(read["freed_rows"].size() == 2);
    CHECK(read["freed_rows"][0]["allocations"] == 2);
    CHECK(read["freed_rows"][1]["offset"] == 32);
}

TEST_CASE("json_report: a snapshot that knows no stacks does not say what a row allocated") {
    auto* block = made_block({made_row(1, 8, "a.cpp", 1, "?")}, {});
    block->stacks = nullptr;
    const json read = json::parse(allocscope::to_json(allocscope::snapshot{block}));
    CHECK_FALSE(read["rows"][0].contains("allocations"));
    CHECK_FALSE(read.contains("freed_rows"));
}

TEST_CASE("json_report: ages have what is alive of each, and what was allocated") {
    info_text info;
    info.threads = {{1, "app", 7}, {2, "", 7}};
    stack_text stack;
    stack.objects = 3;
    stack.by_thread = {{0, 1, 10, 6, 60, 0, 1, 1, 10, 10, nullptr, 0},
                       {1, 2, 20, 3, 30, 0, 2, 2, 20, 20, nullptr, 0},
                       {1, 0, 0, 9, 90, 0, 0, 0, 0, 0, nullptr, 1}};
    info.stacks = {stack};
    CHECK_FALSE(json::parse(allocscope::to_json(made_snapshot({}, info))).contains("ages"));
    info.ages = {{5, 9}, {0, 6}};
    const json read = json::parse(allocscope::to_json(made_snapshot({}, info)));
    REQUIRE(read["ages"].size() == 2);
    CHECK(read["ages"][0] == json{{"least_ns", 5},
                                  {"most_ns", 9},
                                  {"objects", 3},
                                  {"bytes", 30},
                                  {"allocations", 9},
                                  {"bytes_allocated", 90}});
    CHECK(read["ages"][1]["allocations"] == 9);
    CHECK(read["threads"][1]["allocations"] == 12);
}

TEST_CASE("json_report: process, command, time series") {
    info_text info;
    info.process_id = 4711;
    info.command = "prog \"-x\"";
    info.taken_unix_ns = 1700000000000000000;
    info.moments = {{1000, 1, 10, 2, 20, ""}, {2000, 3, 30, 4, 40, "loaded"}};
    const json read = json::parse(allocscope::to_json(made_snapshot({}, info)));
    CHECK(read["process_id"] == 4711);
    CHECK(read["command"] == "prog \"-x\"");
    CHECK(read["taken_unix_ns"] == 1700000000000000000);
    CHECK_FALSE(read.contains("is_difference"));
    CHECK(read["families"].empty());
    REQUIRE(read["moments"].size() == 2);
    CHECK(read["moments"][1] == json{{"at_ns", 2000},
                                     {"live_objects", 3},
                                     {"live_bytes", 30},
                                     {"allocations", 4},
                                     {"bytes_allocated", 40},
                                     {"mark", "loaded"}});
}
