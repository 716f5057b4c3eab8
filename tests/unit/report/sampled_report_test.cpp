#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "support/made_snapshot.hpp"

using allocscope::snapshot;
using allocscope::text_options;
using allocscope::to_text;
using allocscope_tests::info_text;
using allocscope_tests::made_row;
using allocscope_tests::made_snapshot;

namespace {

info_text sampled_window() {
    info_text about;
    about.name = "load";
    about.record = allocscope::recording::sampled;
    about.sample_bytes = 4096;
    about.samples = 25;
    about.duration_ns = 1234567890;
    about.totals = {1200, 100, 40000, 4800, 39000};
    about.own_memory_bytes = 1300000;
    return about;
}

// Two estimates, of which one rests on a single sample.
snapshot sampled_rows() {
    info_text about = sampled_window();
    about.estimates.allocations = {1200, 900, 1700};
    about.estimates.frees = {100, 9, 500};
    about.estimates.live_objects = {1100, 800, 1500};
    about.estimates.bytes_allocated = {40000, 30000, 60000};
    about.estimates.bytes_freed = {4800, 1000, 20000};
    about.estimates.live_bytes = {35200, 25000, 50000};
    auto many = made_row(1000, 32000, "a.cpp", 9, "node", "main");
    many.samples = 17;
    many.objects_low = 700;
    many.objects_high = 1400;
    many.bytes_low = 22000;
    many.bytes_high = 45000;
    auto one = made_row(100, 3200, "b.cpp", 8, "edge", "main");
    one.samples = 1;
    one.objects_low = 1;
    one.objects_high = 500;
    one.bytes_low = 32;
    one.bytes_high = 16000;
    return made_snapshot({many, one}, about);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::size_t columns_of(const std::string& line) {
    return allocscope::detail::columns_of({line.data(), line.size()});
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("sampled_report: estimates are marked and stand beside their number of samples") {
    CHECK(
        to_text(sampled_rows()) ==
        "allocscope report of window \"load\"\n"
        "  sampled every 4096 B on average: 25 samples, up to 24 frames of each stack, all threads,"
        " open for 1.2 s\n"
        "  allocated       ~1200 objects     ~39.1 KiB   95%: 900..1700 objects, 29.3..58.6 KiB\n"
        "  freed            ~100 objects       ~4800 B   95%: 9..500 objects, 1000 B..19.5 KiB\n"
        "  alive           ~1100 objects     ~34.4 KiB   95%: 800..1500 objects, 24.4..48.8 KiB\n"
        "  peak                              ~38.1 KiB\n"
        "  own memory                          1.2 MiB\n"
        "\n"
        "objects        95%      bytes             95%   share  samples  place         "
        "function\n"
        "  ~1000  700..1400  ~31.3 KiB  21.5..43.9 KiB   90.9%   17      a.cpp:9:node  main\n"
        "   ~100     1..500    ~3200 B  32 B..15.6 KiB    9.1%    1 few  b.cpp:8:edge  main\n");
}

TEST_CASE("sampled_report: what estimates of several places reach together") {
    text_options wanted;
    wanted.rows = 0;
    const std::string last = lines_of(to_text(sampled_rows(), wanted)).back();
    // 1000 - 700 and 100 - 1 at right angles are 315.9 below 1100; 400 and 400 above are 565.7
    CHECK(has(last, "  ~1100  784..1666  "));
    CHECK(has(last, " 18  and 2 more places"));
}

TEST_CASE("sampled_report: intervals give way on a narrow terminal, those of bytes first") {
    text_options wanted;
    for (std::uint32_t width = 60; width < 200; ++width) {
        wanted.width = width;
        const std::string text = to_text(sampled_rows(), wanted);
        for (const std::string& line : lines_of(text)) CHECK(columns_of(line) <= width);
        CHECK(has(text, "  ~1000  "));
        CHECK(has(text, "95%: 800..1500 objects, 24.4..48.8 KiB\n"));
        CHECK(has(text, "95%: 9..500 objects, 1000 B..19.5 KiB\n"));
        const bool has_bytes = has(text, "  21.5..43.9 KiB  ");
        const bool has_objects = has(text, "  700..1400  ");
        CHECK(has_objects >= has_bytes);
        CHECK(has_objects == (width >= 80));
        CHECK(has_bytes == (width >= 96));
    }
}

TEST_CASE("sampled_report: without a sample alive nothing is promised") {
    info_text about = sampled_window();
    about.totals = {100, 100, 4000, 4000, 4000};
    about.estimates.live_bytes.high = 2014031;
    const std::string text = to_text(made_snapshot({}, about));
    CHECK(has(text, "\n\nno sample is alive: up to 1.9 MiB may be alive (95%)\n"));
    CHECK_FALSE(has(text, "nothing is alive"));
    about.estimates.live_bytes.high = 0;  // a sample in every byte
    CHECK(has(to_text(made_snapshot({}, about)), "\n\nnothing is alive\n"));
}

TEST_CASE("sampled_report: estimates are marked in tables of groups and trees too") {
    info_text about = sampled_window();
    allocscope_tests::stack_text stack;
    stack.file = "a.cpp";
    stack.line = 9;
    stack.type = "node";
    stack.frames = {{"main", "/src/a.cpp", 9, 0, false, 1, "/bin/app", 1}};
    stack.user_frame = 0;
    stack.objects = 1000;
    stack.bytes = 32000;
    stack.allocations = 1100;
    stack.bytes_allocated = 35200;
    about.stacks = {stack};
    const snapshot rows = made_snapshot({}, about);
    CHECK(allocscope::to_table(rows.group_by(allocscope::group_key::type)) ==
          "    bytes   share  objects  allocated  allocations  type\n"
          "~31.3 KiB  100.0%    ~1000  ~34.4 KiB        ~1100  node\n");
    CHECK(lines_of(allocscope::to_tree(rows)).back() ==
          "~31.3 KiB  100.0%    ~1000  ~34.4 KiB        ~1100   main  a.cpp:9");
    about.record = allocscope::recording::exact;
    CHECK(!has(allocscope::to_tree(made_snapshot({}, about)), "~"));
}
