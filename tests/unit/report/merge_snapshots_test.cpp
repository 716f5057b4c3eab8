// Several snapshots as one: sums that are known, addresses that mean one thing, what is refused.
#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/made_snapshot.hpp"

using namespace allocscope_tests;
using allocscope::snapshot;

namespace {

constexpr std::uint64_t second = 1'000'000'000;

frame_text made_frame(const std::string& function, const std::string& file, int line,
                      const std::string& module, std::uint64_t base, std::uint64_t offset) {
    return {function, file, line, 0, false, base + offset, module, offset};
}

// A stack with its place in `frames[0]`.
stack_text made_stack(std::vector<frame_text> frames, const std::string& file,
                      std::uint64_t objects, std::uint64_t bytes, std::uint64_t allocations,
                      std::uint64_t bytes_allocated) {
    stack_text stack;
    stack.file = file;
    stack.line = frames[0].line;
    stack.function = frames[0].function;
    stack.type = "node";
    stack.frames = std::move(frames);
    stack.user_frame = 0;
    stack.objects = objects;
    stack.bytes = bytes;
    stack.allocations = allocations;
    stack.bytes_allocated = bytes_allocated;
    return stack;
}

// A row of each stack with something alive, but equal places are one row.
std::vector<row_text> rows_of(const std::vector<stack_text>& stacks) {
    std::vector<row_text> rows;
    for (const stack_text& stack : stacks) {
        if (stack.objects == 0) continue;
        bool is_known = false;
        for (row_text& row : rows) {
            if (row.file != stack.file || row.line != stack.line || row.type != stack.type)
                continue;
            is_known = true;
            row.objects += stack.objects;
            row.bytes += stack.bytes;
            ++row.sites;
        }
        if (!is_known) rows.push_back(stack);
    }
    return rows;
}

// Window of process `number`, open for 10 s from second 100 * number on.
info_text made_info(const std::vector<stack_text>& stacks, std::uint64_t number) {
    info_text info;
    info.name = "app";
    info.command = "app --fast";
    info.process_id = number;
    info.duration_ns = 10 * second;
    info.taken_unix_ns = static_cast<std::int64_t>((100 * number + 10) * second);
    info.stacks = stacks;
    for (const stack_text& stack : stacks) {
        info.totals.allocations += stack.allocations;
        info.totals.bytes_allocated += stack.bytes_allocated;
        info.totals.frees += stack.allocations - stack.objects;
        info.totals.bytes_freed += stack.bytes_allocated - stack.bytes;
    }
    info.totals.peak_bytes = 1000 * number;
    info.own_memory_bytes = 10 * number;
    return info;
}

snapshot made(const info_text& info) {
    return made_snapshot(rows_of(info.stacks), info);
}

snapshot made(const std::vector<stack_text>& stacks, std::uint64_t number) {
    return made(made_info(stacks, number));
}

// The heap of a small program: main calls load in the program, load calls make in libkit.
std::vector<stack_text> heap(std::uint64_t app, std::uint64_t kit) {
    const frame_text main = made_frame("main", "/src/app/main.cpp", 3, "/bin/app", app, 0x30);
    const frame_text load = made_frame("load", "/src/app/load.cpp", 7, "/bin/app", app, 0x70);
    const frame_text make = made_frame("make", "/src/kit/make.cpp", 9, "/lib/kit.so", kit, 0x90);
    return {made_stack({make, load, main}, "kit/make.cpp", 5, 50, 6, 60),
            made_stack({make, main}, "kit/make.cpp", 2, 20, 2, 20),
            made_stack({load, main}, "app/load.cpp", 0, 0, 4, 400)};
}

info_text of_process(std::uint64_t app, std::uint64_t kit, std::uint64_t number) {
    info_text info = made_info(heap(app, kit), number);
    info.modules = {{"/bin/app", "aa", app, 0x1000}, {"/lib/kit.so", "bb", kit, 0x1000}};
    return info;
}

std::string refusal(const std::vector<snapshot>& parts) {
    snapshot into;
    std::string error;
    CHECK_FALSE(allocscope::merge(parts, into, error));
    CHECK(into.empty());
    return error;
}

}  // namespace

TEST_CASE("merge: equal stacks are one, others stay, and rows are their sums") {
    std::vector<stack_text> more = heap(0x10000, 0x50000);
    more[0].objects = 1;
    more[0].bytes = 10;
    more[1].frames[1].line = 4;  // another call of make in main
    const snapshot all =
        allocscope::merge({made(heap(0x10000, 0x50000), 1), made(more, 2), snapshot{}});
    REQUIRE(all.size() == 1);
    CHECK(all[0].objects == 5 + 2 + 1 + 2);
    CHECK(all[0].bytes == 50 + 20 + 10 + 20);
    CHECK(all[0].sites == 3);  // and not the 2 of each
    CHECK(std::string{all[0].file} == "kit/make.cpp");
    CHECK(all[0].frame_count == 3);
    REQUIRE(all.stacks().size() == 4);
    CHECK(all.stacks()[0].objects == 6);
    CHECK(all.stacks()[0].allocations == 12);
    CHECK(all.stacks()[0].bytes_allocated == 120);
    std::uint64_t allocations = 0;
    for (const snapshot::stack& stack : all.stacks()) allocations += stack.allocations;
    CHECK(allocations == 24);
    CHECK(all.live_bytes() == 100);
}

TEST_CASE("merge: the head has the sums, and a peak that it says is the most") {
    info_text a = made_info(heap(0x10000, 0x50000), 1);
    info_text b = made_info(heap(0x10000, 0x50000), 2);
    a.losses = {{"were lost", 3}, {"were torn", 1}};
    b.losses = {{"were lost", 4}};
    a.families = {{"operator new", 10, 3, 400, 330}, {"pool", 2, 2, 80, 80}};
    a.uncertain_objects = 1;
    b.uncertain_bytes = 5;
    const snapshot all = allocscope::merge({made(a), made(b)});
    const snapshot::window_info& info = all.info();
    CHECK(info.totals.allocations == 24);
    CHECK(info.totals.frees == 10);
    CHECK(info.totals.live_bytes() == 140);
    CHECK(info.totals.peak_bytes == 3000);
    CHECK(info.estimates.live_bytes.low == 140);
    CHECK(info.own_memory_bytes == 30);
    CHECK(info.merged_windows == 2);
    CHECK(info.process_id == 0);
    CHECK(info.duration_ns == 110 * second);  // from second 100 to second 210
    CHECK(info.taken_unix_ns == static_cast<std::int64_t>(210 * second));
    CHECK(info.uncertain_objects == 1);
    CHECK(info.uncertain_bytes == 5);
    REQUIRE(info.loss_count == 2);
    CHECK(info.losses[0].count == 7);
    REQUIRE(info.family_count == 2);
    CHECK(info.families[0].allocations == 22);  // b is operator new's, all of it
    CHECK(info.families[1].allocations == 2);
    const std::string text = allocscope::to_text(all);
    CHECK(text.find("allocscope report of 2 windows named \"app\"") == 0);
    CHECK(text.find("peak, at most" + std::string(24, ' ') + "3000 B") != std::string::npos);
    CHECK(allocscope::to_json(all).find("\"merged_windows\": 2") != std::string::npos);
    const snapshot three = allocscope::merge({all, made(heap(0x10000, 0x50000), 3)});
    CHECK(three.info().merged_windows == 3);
    CHECK(three.stacks()[0].allocations == 18);
}

TEST_CASE("merge: what is estimated keeps intervals, as wide as sums of estimates are") {
    info_text parts[2];
    const std::uint64_t reach[] = {3, 4};
    for (std::uint64_t i = 0; i < 2; ++i) {
        parts[i] = made_info({heap(0x10000, 0x50000)[0]}, i + 1);
        parts[i].record = allocscope::recording::sampled;
        parts[i].samples = 5;
        parts[i].sample_bytes = 512;
        parts[i].estimates.live_bytes = {50, 50 - reach[i], 50 + reach[i]};
        stack_text& stack = parts[i].stacks[0];
        stack.samples = 5;
        stack.objects_low = stack.objects - reach[i];
        stack.objects_high = stack.objects + reach[i];
        stack.bytes_low = stack.bytes_high = stack.bytes;
    }
    const snapshot all = allocscope::merge({made(parts[0]), made(parts[1])});
    CHECK(all.info().samples == 10);
    CHECK(all.info().estimates.live_bytes.value == 100);
    CHECK(all.info().estimates.live_bytes.low == 95);  // at right angles: 3, 4, 5
    CHECK(all.info().estimates.live_bytes.high == 105);
    CHECK(all[0].samples == 10);
    CHECK(all[0].objects == 10);
    CHECK(all[0].objects_low == 5);
    CHECK(all.stacks()[0].objects_high == 15);
}

TEST_CASE("merge: each address means one thing, whatever lay there in other processes") {
    // In the second process the library lies where the program lay in the first one.
    const snapshot all = allocscope::merge(
        {made(of_process(0x10000, 0x50000, 1)), made(of_process(0x30000, 0x10000, 2)), made([] {
             info_text other = of_process(0x30000, 0x50000, 3);
             other.modules[1].path = "/lib/other.so";
             for (stack_text& stack : other.stacks) {
                 if (stack.frames[0].module == "/lib/kit.so") {
                     stack.frames[0].module = "/lib/other.so";
                 }
             }
             return other;
         }())});
    REQUIRE(all.modules().size() == 3);
    CHECK(all.modules()[0].address == 0x10000);
    CHECK(all.modules()[1].address == 0x50000);
    CHECK(std::string{all.modules()[2].path} == "/lib/other.so");
    CHECK(all.modules()[2].address == 0x51000);  // behind what had its place
    CHECK(all.stacks().size() == 5);
    const auto is_right = [&](const snapshot::frame& frame) {
        for (const snapshot::module& module : all.modules()) {
            if (std::strcmp(module.path, frame.module) != 0) continue;
            return frame.address == module.address + frame.offset;
        }
        return false;
    };
    for (const snapshot::stack& stack : all.stacks()) {
        for (std::size_t i = 0; i < stack.frame_count; ++i) CHECK(is_right(stack.frames[i]));
    }
    for (const snapshot::row& row : all) {
        for (std::size_t i = 0; i < row.frame_count; ++i) CHECK(is_right(row.frames[i]));
    }
}

TEST_CASE("merge: a module that is larger in a later part still has its addresses for itself") {
    info_text grown = of_process(0x10000, 0x50000, 2);
    grown.modules[1].size = 0x4000;  // built again
    info_text third = of_process(0x30000, 0x50000, 3);
    third.modules[1].path = "/lib/other.so";
    const snapshot all =
        allocscope::merge({made(of_process(0x10000, 0x50000, 1)), made(grown), made(third)});
    REQUIRE(all.modules().size() == 3);
    CHECK(all.modules()[1].address == 0x50000);
    CHECK(all.modules()[1].size == 0x4000);
    CHECK(all.modules()[2].address == 0x54000);
}

TEST_CASE("merge: files are called by what all parts have cut off, and never two by one name") {
    std::vector<stack_text> whole = heap(0x10000, 0x50000);
    for (stack_text& stack : whole) stack.file = stack.frames[0].file.substr(1 + 3 + 1 + 4);
    CHECK(whole[0].file == "make.cpp");  // that part has cut off /src/kit/, or /src/app/
    whole.pop_back();
    const snapshot all = allocscope::merge({made(heap(0x10000, 0x50000), 1), made(whole, 2)});
    REQUIRE(all.size() == 1);
    CHECK(std::string{all[0].file} == "kit/make.cpp");
    CHECK(all[0].objects == 14);
    CHECK(all.stacks().size() == 3);

    std::vector<stack_text> elsewhere = whole;
    for (stack_text& stack : elsewhere) stack.frames[0].file = "/home/kit/make.cpp";
    const snapshot two = allocscope::merge({made(whole, 1), made(elsewhere, 2)});
    REQUIRE(two.size() == 2);
    CHECK(std::string{two[0].file} == "/home/kit/make.cpp");
    CHECK(std::string{two[1].file} == "/src/kit/make.cpp");
}

TEST_CASE("merge: time series are put on one clock") {
    info_text a = made_info(heap(0x10000, 0x50000), 1);
    info_text b = made_info(heap(0x10000, 0x50000), 2);
    a.moments = {{second, 1, 10, 1, 10, ""}, {2 * second, 2, 20, 5, 50, "loaded"}};
    b.moments = {{second, 100, 1000, 100, 1000, ""}};
    const snapshot all = allocscope::merge({made(b), made(a)});
    REQUIRE(all.info().moment_count == 3);
    const snapshot::moment* moments = all.info().moments;
    CHECK(moments[0].at_ns == second);
    CHECK(moments[0].live_bytes == 10);
    CHECK(moments[1].at_ns == 2 * second);
    CHECK(std::string{moments[1].mark} == "loaded");
    CHECK(moments[2].at_ns == 101 * second);
    CHECK(moments[2].live_objects == 102);
    CHECK(moments[2].allocations == 105);
    b.moments.clear();
    CHECK(allocscope::merge({made(a), made(b)}).info().moment_count == 0);
}

TEST_CASE("merge: what would count twice, or means two things, is refused with a reason") {
    const std::vector<stack_text> stacks = heap(0x10000, 0x50000);
    const snapshot a = made(stacks, 1);
    CHECK(refusal({a, a}).find("snapshot 1 (window \"app\", process 1) and snapshot 2 (window"
                               " \"app\", process 1) are of one process and were open at the"
                               " same time") == 0);
    info_text later = made_info(stacks, 1);
    later.taken_unix_ns += static_cast<std::int64_t>(9 * second);  // they overlap by one
    CHECK(refusal({a, made(stacks, 2), made(later)}).find("snapshot 1") == 0);
    later.taken_unix_ns += static_cast<std::int64_t>(second);
    CHECK(allocscope::merge({a, made(later)}).info().totals.allocations == 24);
    CHECK(allocscope::merge({a, made(later)}).info().own_memory_bytes == 10);  // of one process
    // The same number in another container: the program lies elsewhere.
    CHECK(allocscope::merge(
              {made(of_process(0x10000, 0x50000, 1)), made(of_process(0x20000, 0x60000, 1))})
              .info()
              .totals.allocations == 24);
    CHECK(refusal({made(of_process(0x10000, 0x50000, 1)), made(of_process(0x10000, 0x60000, 1))}) !=
          "");

    info_text change = made_info(stacks, 2);
    change.is_difference = true;
    CHECK(refusal({made(change), a})
              .find("snapshot 1 (window \"app\", process 2) is a difference,"
                    " and snapshot 2") == 0);
    CHECK(allocscope::merge({made(change), made(change)}).stacks()[0].allocations == 12);
    CHECK(allocscope::merge({snapshot{}, a}).size() == 1);
    CHECK(allocscope::merge({}).empty());
    CHECK_THROWS_AS(allocscope::merge({a, a}), allocscope::report_error);
}

TEST_CASE("merge: windows of this process that follow each other") {
    std::vector<snapshot> parts;
    std::vector<char*> kept;
    parts.reserve(6);
    kept.reserve(63);
    std::uint64_t allocations = 0;
    allocscope::options counters;
    counters.record = allocscope::recording::counters;
    const allocscope::scope outer{"outer"};
    const allocscope::scope numbers{"numbers", counters};
    for (std::size_t i = 1; i <= 3; ++i) {
        allocscope::scope window{"part"};
        for (std::size_t k = 0; k < 10 * i; ++k) kept.push_back(new char[100]);
        parts.push_back(window.stats_and_forget());
        kept.push_back(new char[7]);
        parts.push_back(window.stop());
        allocations += 10 * i + 1;
    }
    const snapshot all = allocscope::merge(parts);
    CHECK(all.info().totals.allocations == allocations);
    CHECK(all.live_objects() == allocations);
    CHECK(all.live_bytes() == 60 * 100 + 3 * 7);
    CHECK(all.size() == 2);
    CHECK(all.info().merged_windows == 6);
    // What was merged is all that the outer window saw of them.
    std::string error;
    snapshot none;
    CHECK_FALSE(allocscope::merge({outer.stats(), parts[0]}, none, error));
    CHECK(error.find("count twice") != std::string::npos);
    CHECK_FALSE(allocscope::merge({numbers.stats(), parts[0]}, none, error));
    CHECK(error.find("recorded counters only") != std::string::npos);
    // It goes into a file and comes back.
    const std::string bytes = allocscope::to_saved_snapshot(all);
    snapshot again;
    REQUIRE(allocscope::load_snapshot_from(bytes.data(), bytes.size(), again, error));
    CHECK(allocscope::to_json(again) == allocscope::to_json(all));
    CHECK(allocscope::to_text(again) == allocscope::to_text(all));
    CHECK(allocscope::to_saved_snapshot(again) == bytes);
    for (const char* each : kept) delete[] each;
}
