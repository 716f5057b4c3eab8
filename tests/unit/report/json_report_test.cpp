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
