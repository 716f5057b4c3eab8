// speedscope and DHAT, read by another reader of JSON.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "made_stacks.hpp"

using namespace allocscope_tests;
using nlohmann::json;

TEST_CASE("speedscope: four profiles over one table of frames") {
    const json read = json::parse(written("speedscope", made_window(small_stacks())));
    CHECK(read["$schema"] == "https://www.speedscope.app/file-format-schema.json");
    CHECK(read["name"] == "window");
    const json& frames = read["shared"]["frames"];
    CHECK(frames.size() == 4);  // main has two lines that call
    CHECK(frames[0] == json{{"name", "main"}, {"file", "/src/main.cpp"}, {"line", 3}});
    REQUIRE(read["profiles"].size() == 4);
    const json& live = read["profiles"][0];
    CHECK(live["name"] == "live bytes");
    CHECK(live["unit"] == "bytes");
    CHECK(live["samples"] == json{{0, 1}, {2, 3}});
    CHECK(live["weights"] == json{400, 70});
    CHECK(live["endValue"] == 470);
    const json& allocations = read["profiles"][3];
    CHECK(allocations["unit"] == "none");
    CHECK(allocations["samples"] == json{{0, 1}, {2, 3}, {0, 1, 3}});
    CHECK(allocations["weights"] == json{10, 3, 5});
    CHECK(allocations["endValue"] == 18);
}

TEST_CASE("speedscope: numbers of a sampled window say that they are estimates") {
    info_text about;
    about.record = allocscope::recording::sampled;
    about.sample_bytes = 4096;
    const json read = json::parse(written("speedscope", made_window(small_stacks(), about)));
    CHECK(read["profiles"][0]["name"] == "live bytes, estimated from samples");
}

TEST_CASE("speedscope: without a file there is none, and without frames there is a stack") {
    const json read = json::parse(written(
        "speedscope",
        made_window({made_stack({}, 1, 5, 1, 5), made_stack({made_frame("f")}, 1, 4, 1, 4)})));
    CHECK(read["shared"]["frames"] == json{{{"name", "f"}}});
    CHECK(read["profiles"][0]["samples"] == json{json::array(), {0}});
}

TEST_CASE("dhat: innermost first, allocated in tb and alive in eb") {
    info_text about;
    about.process_id = 4711;
    about.command = "prog \"-x\"";
    about.duration_ns = 7000;
    const json read = json::parse(written("dhat", made_window(small_stacks(), about)));
    CHECK(read["dhatFileVersion"] == 2);
    CHECK(read["mode"] == "heap");
    CHECK(read["bklt"] == true);
    CHECK(read["pid"] == 4711);
    CHECK(read["te"] == 7);
    CHECK(read["tg"] == 7);
    CHECK(read["cmd"] == "prog \"-x\" (allocscope: t-gmax and Max are those of t-end)");
    CHECK_FALSE(read.contains("bsu"));
    const json& frames = read["ftbl"];
    CHECK(frames[0] == "[root]");
    REQUIRE(read["pps"].size() == 3);
    bool has_freed = false;
    for (const json& point : read["pps"]) {
        if (point["tb"] != 50) continue;
        has_freed = true;
        CHECK(point["tbk"] == 5);
        CHECK(point["eb"] == 0);
        CHECK(point["ebk"] == 0);
        REQUIRE(point["fs"].size() == 3);
        CHECK(frames[point["fs"][0].get<std::size_t>()] ==
              "0x1030: parse(int) (/src/parse.cpp:30)");
        CHECK(frames[point["fs"][2].get<std::size_t>()] == "0x1003: main (/src/main.cpp:3)");
    }
    CHECK(has_freed);
}

TEST_CASE("dhat: stacks with equal frames are one, as the viewer refuses equal ones") {
    auto stacks = small_stacks();
    stacks.push_back(stacks[0]);
    const json read = json::parse(written("dhat", made_window(stacks)));
    REQUIRE(read["pps"].size() == 3);
    std::uint64_t allocated = 0;
    for (const json& point : read["pps"]) allocated += point["tb"].get<std::uint64_t>();
    CHECK(allocated == 2120);
}

TEST_CASE("dhat: estimates are called so") {
    info_text about;
    about.record = allocscope::recording::sampled;
    about.sample_bytes = 4096;
    const json read = json::parse(written("dhat", made_window(small_stacks(), about)));
    CHECK(read["bsu"] == "est. bytes");
}
