// What write_html puts into the file, without a browser: browser_test.py looks at the page.
#include "../support/made_snapshot.hpp"

#include <allocscope/formats/html_format.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <unistd.h>

using namespace allocscope_tests;
using nlohmann::json;

namespace {

std::string between(const std::string& page, const std::string& begin, const std::string& end) {
    const std::size_t from = page.find(begin);
    REQUIRE(from != std::string::npos);
    const std::size_t at = from + begin.size();
    const std::size_t to = page.find(end, at);
    REQUIRE(to != std::string::npos);
    return page.substr(at, to - at);
}

std::string data_of(const std::string& page) {
    return between(page, "id=\"data\">", "</script>");
}

// Lists of numbers, as page/packed_numbers.hpp says how they are written.
json unpacked(const std::string& list) {
    const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    json numbers = json::array();
    std::uint64_t number = 0;
    unsigned shift = 0;
    bool is_negative = false;
    for (const char c : list) {
        if (c == '-') {
            is_negative = true;
            continue;
        }
        const std::uint64_t digit = alphabet.find(c);
        REQUIRE(digit < 64);
        number |= digit % 32 << shift;
        shift += 5;
        if (digit >= 32) continue;
        if (is_negative) {
            numbers.push_back(-static_cast<std::int64_t>(number));
        } else {
            numbers.push_back(number);
        }
        number = shift = 0;
        is_negative = false;
    }
    CHECK(shift == 0);
    return numbers;
}

json parsed_data(const std::string& page) {
    json data = json::parse(data_of(page));
    for (const char* name : {"stacks", "nodes", "frames", "places"}) {
        data[name] = unpacked(data[name]);
    }
    return data;
}

json read_data(const allocscope::snapshot& shown) {
    return parsed_data(allocscope::to_html(shown));
}

frame_text made_frame(std::string function, std::string file, int line, std::string module = "/a") {
    frame_text made;
    made.function = std::move(function);
    made.file = std::move(file);
    made.line = line;
    made.module = std::move(module);
    return made;
}

stack_text made_stack(std::uint64_t objects, std::uint64_t bytes, std::uint64_t allocations,
                      std::vector<frame_text> frames) {
    stack_text made;
    made.objects = objects;
    made.bytes = bytes;
    made.allocations = allocations;
    made.bytes_allocated = bytes * 2;
    made.type = "char";
    made.file = frames[0].file;
    made.line = frames[0].line;
    made.function = frames[0].function;
    made.frames = std::move(frames);
    made.user_frame = 0;
    return made;
}

// The functions of a stack, outermost first, through all tables of the data.
std::vector<std::string> functions_of(const json& data, std::size_t stack) {
    std::vector<std::string> functions;
    std::size_t path = data["stacks"][stack * 7];
    while (path != 0) {
        const std::size_t frame = data["nodes"][path * 2 - 1];
        const std::size_t name = data["frames"][frame * 6];
        functions.insert(functions.begin(), data["strings"][name]);
        path -= data["nodes"][path * 2 - 2].get<std::size_t>();
    }
    return functions;
}

}  // namespace

TEST_CASE("html_report: stacks come back with their frames, places and numbers") {
    info_text info;
    const frame_text main = made_frame("main", "main.cpp", 1);
    const frame_text load = made_frame("load", "load.cpp", 2);
    info.stacks = {made_stack(3, 300, 7, {load, main}), made_stack(1, 10, 1, {main}),
                   made_stack(2, 20, 4, {made_frame("", "", 0, "/lib"), load, main})};
    info.stacks[2].frames[0].offset = 0x77;
    info.stacks[1].type_source = "vtable";
    const json data = read_data(made_snapshot({}, info));
    REQUIRE(data["stacks"].size() == 3 * 7);
    CHECK(functions_of(data, 0) == std::vector<std::string>{"main", "load"});
    CHECK(functions_of(data, 1) == std::vector<std::string>{"main"});
    CHECK(functions_of(data, 2) == std::vector<std::string>{"main", "load", ""});
    const std::vector<std::uint64_t> numbers(data["stacks"].begin() + 3,
                                             data["stacks"].begin() + 7);
    CHECK(numbers == std::vector<std::uint64_t>{300, 3, 600, 7});
    // What the stacks share is there once: main, load, and the frame without a name.
    CHECK(data["frames"].size() == 3 * 6);
    CHECK(data["nodes"].size() == 3 * 2);
    CHECK(data["frames"][2 * 6 + 5] == 0x77);
    CHECK(data["has_stacks"] == true);
    const std::size_t place = data["stacks"][7 + 1];
    CHECK(data["strings"][data["places"][place * 6 + 5].get<std::size_t>()] == "vtable");
}

TEST_CASE("html_report: a stack without the user's frame begins at its innermost one") {
    info_text info;
    info.stacks = {made_stack(1, 8, 1, {made_frame("f", "f.cpp", 1), made_frame("g", "g.cpp", 2)})};
    info.stacks[0].user_frame = 1;
    CHECK(read_data(made_snapshot({}, info))["stacks"][2] == 1);
    info.stacks[0].user_frame = no_frame;
    CHECK(read_data(made_snapshot({}, info))["stacks"][2] == 0);
}

TEST_CASE("html_report: a line is one place, a function without lines one for each offset") {
    info_text info;
    info.stacks = {made_stack(1, 1, 1, {made_frame("f", "f.cpp", 1)}),
                   made_stack(1, 1, 1, {made_frame("f", "f.cpp", 1)}),
                   made_stack(1, 1, 1, {made_frame("f", "f", 0)}),
                   made_stack(1, 1, 1, {made_frame("f", "f", 0)})};
    for (std::size_t i = 0; i < 4; ++i) info.stacks[i].offset = 16 * i;
    const json data = read_data(made_snapshot({}, info));
    CHECK(data["places"].size() == 3 * 6);
    CHECK(data["stacks"][1 * 7 + 1] == 0);
    CHECK(data["stacks"][3 * 7 + 1] == 2);
}

TEST_CASE("html_report: names stay text, in the data and in the table without scripts") {
    const std::string hostile = "</script></noscript><b onclick=\"'&\\\xff\x1b\xe2\x80\xa8";
    info_text info;
    info.name = "</title><b>";
    info.command = hostile;
    info.losses = {{hostile, 2}};
    info.moments = {{1, 2, 3, 4, 5, hostile}};
    info.modules = {{hostile, hostile, 0, 0}};
    info.stacks = {made_stack(1, 8, 1, {made_frame(hostile, hostile, 3, hostile)})};
    info.stacks[0].type = hostile;
    const std::string page =
        allocscope::to_html(made_snapshot({static_cast<row_text>(info.stacks[0])}, info));
    const std::string seen = "</script></noscript><b onclick=\"'&\\\\xff\\x1b\\xe2\\x80\\xa8";
    const std::string data = data_of(page);
    CHECK(data.find_first_of("<>&") == std::string::npos);
    const json read = parsed_data(page);
    CHECK(read["window"] == "</title><b>");
    CHECK(read["command"] == seen);
    CHECK(read["lost"][0][0] == seen);
    CHECK(read["moments"][0][5] == seen);
    CHECK(functions_of(read, 0) == std::vector<std::string>{seen});
    CHECK(read["strings"][read["places"][2].get<std::size_t>()] == seen);
    CHECK(between(page, "<title>", "</title>") == "&lt;/title&gt;&lt;b&gt; - allocscope");
    const std::string table = between(page, "<noscript>", "</noscript>\n<div");
    CHECK(table.find("<b") == std::string::npos);
    CHECK(table.find("&lt;/script&gt;&lt;/noscript&gt;&lt;b onclick=&quot;&#39;&amp;\\\\xff") !=
          std::string::npos);
    CHECK(
        table.find("&lt;/script&gt;&lt;/noscript&gt;&lt;b onclick=&quot;&#39;&amp;\\\\xff\\x1b") !=
        std::string::npos);
    for (const char c : page) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
}

TEST_CASE("html_report: a difference has negative numbers, not two's complement") {
    info_text info;
    info.is_difference = true;
    info.stacks = {made_stack(static_cast<std::uint64_t>(-3), static_cast<std::uint64_t>(-48),
                              static_cast<std::uint64_t>(-1), {made_frame("f", "f.cpp", 1)})};
    const auto shown = made_snapshot({static_cast<row_text>(info.stacks[0])}, info);
    const json data = read_data(shown);
    CHECK(data["is_difference"] == true);
    const std::vector<std::int64_t> numbers(data["stacks"].begin() + 3, data["stacks"].end());
    CHECK(numbers == std::vector<std::int64_t>{-48, -3, -96, -1});
    CHECK(data["rows_alive"] == json{-3, -48});
    CHECK(allocscope::to_html(shown).find("<td class=\"number\">-48</td>") != std::string::npos);
}

TEST_CASE("html_report: a sampled window has an interval for each place") {
    info_text info;
    info.record = allocscope::recording::sampled;
    info.sample_bytes = 512;
    info.samples = 9;
    info.estimates.live_bytes = {100, 50, 200};
    info.stacks = {made_stack(5, 50, 9, {made_frame("gone", "gone.cpp", 1)}),
                   made_stack(4, 40, 8, {made_frame("f", "f.cpp", 1)})};
    row_text row = info.stacks[1];
    row.samples = 2;
    row.objects_low = 1;
    row.objects_high = 6;
    row.bytes_low = 11;
    row.bytes_high = 66;
    const json data = read_data(made_snapshot({row}, info));
    CHECK(data["totals"]["live_bytes"] == json{100, 50, 200});
    REQUIRE(data["places"].size() == 2 * 11);
    const std::vector<int> first(data["places"].begin() + 6, data["places"].begin() + 11);
    CHECK(first == std::vector<int>{0, 0, 0, 0, 0});
    const std::vector<int> second(data["places"].begin() + 17, data["places"].end());
    CHECK(second == std::vector<int>{2, 1, 6, 11, 66});
}

TEST_CASE("html_report: rows stand for stacks that are not known") {
    const json data = read_data(made_snapshot({made_row(2, 64, "a.cpp", 5, "int")}));
    CHECK(data["has_stacks"] == false);
    const std::vector<int> numbers(data["stacks"].begin(), data["stacks"].end());
    CHECK(numbers == std::vector<int>{0, 0, 0, 64, 2, 0, 0});
}

TEST_CASE("html_report: without rows, with counters only, and of no window there is a page") {
    CHECK(read_data(made_snapshot({}))["stacks"].empty());
    info_text info;
    info.record = allocscope::recording::counters;
    info.totals.allocations = 9;
    const json counted = read_data(made_snapshot({}, info));
    CHECK(counted["record"] == "counters");
    CHECK(counted["totals"]["allocations"] == json{9, 9, 9});
    const json nothing = read_data(allocscope::snapshot{});
    CHECK(nothing["not_recording"] == "this snapshot comes from no window");
    CHECK(nothing["has_totals"] == false);
}

TEST_CASE("html_report: without scripts the places with most bytes are listed, fifty of them") {
    std::vector<row_text> rows;
    for (int i = 1; i <= 60; ++i) {
        rows.push_back(made_row(100, static_cast<std::uint64_t>(i) * 1000, "a.cpp", i, "int"));
    }
    const std::string table =
        between(allocscope::to_html(made_snapshot(rows)), "<noscript>", "</noscript>\n<div");
    CHECK(table.find("a.cpp:60<") < table.find("a.cpp:59<"));
    CHECK(table.find("a.cpp:11<") != std::string::npos);
    CHECK(table.find("a.cpp:10<") == std::string::npos);
    CHECK(table.find("and 10 more places") != std::string::npos);
    CHECK(table.find("allocscope report of an unnamed window") != std::string::npos);
}

TEST_CASE("html_report: nothing is asked of anybody, and only the page's own script runs") {
    const std::string page = allocscope::to_html(made_snapshot({}));
    CHECK(page.find("http:") == std::string::npos);
    CHECK(page.find("https:") == std::string::npos);
    CHECK(page.find("unsafe") == std::string::npos);
    CHECK(page.find("default-src 'none'") != std::string::npos);
}

TEST_CASE("html_report: a path, a descriptor and a stdio file get the same page") {
    const auto shown = made_snapshot({made_row(2, 64, "a.cpp", 5, "int")});
    const std::string page = allocscope::to_html(shown);
    const std::string path = "html_report_test." + std::to_string(::getpid()) + ".html";
    const auto read_back = [&path] {
        std::string text;
        std::FILE* file = std::fopen(path.c_str(), "r");
        for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
            text += static_cast<char>(c);
        }
        std::fclose(file);
        return text;
    };
    allocscope::write_html(shown, path.c_str());
    CHECK(read_back() == page);
    std::FILE* file = std::fopen(path.c_str(), "w");
    allocscope::write_html(shown, file);
    CHECK(read_back() == page);
    std::rewind(file);
    std::string error;
    CHECK(allocscope::write_html(shown, ::fileno(file), error));
    std::fclose(file);
    CHECK(read_back() == page);
    ::unlink(path.c_str());
    CHECK_FALSE(allocscope::write_html(shown, "/nonexistent/x.html", error));
    CHECK(error == "cannot write report to '/nonexistent/x.html': No such file or directory");
    CHECK_FALSE(allocscope::write_html(shown, -1, error));
    CHECK_THROWS_AS(allocscope::write_html(shown, "/nonexistent/x.html"), allocscope::report_error);
}
