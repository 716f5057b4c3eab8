// What is chosen, merged or subtracted from files while their stacks stay there is the same as from
// snapshots that have them laid out, and it does not lay them out.
#include <allocscope/grouping/filter_stacks.hpp>
#include <allocscope/report/merge_snapshots.hpp>
#include <allocscope/report/text_tree.hpp>
#include <allocscope/report/whole_difference.hpp>
#include <allocscope/saved/load_snapshot.hpp>
#include <allocscope/saved/save_snapshot.hpp>
#include <allocscope/saved/saved_stack_source.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "made_stacks.hpp"
#include "support/dice.hpp"
#include "support/scale.hpp"

#include <unistd.h>

using namespace allocscope_tests;
namespace detail = allocscope::detail;
using allocscope::snapshot;
using detail::sourced_snapshot;

namespace {

// A snapshot in a file, once with its stacks in memory and once with a source of them.
struct both_ways {
    snapshot laid_out;
    snapshot rows;
    detail::stack_source source{};
    sourced_snapshot streamed() const { return {rows, &source}; }

    explicit both_ways(const snapshot& of) {
        const std::string path = "streamed_test_" + std::to_string(::getpid());
        of.save(path.c_str());
        laid_out = allocscope::load_snapshot(path.c_str());
        const detail::loaded_parts* parts = nullptr;
        std::string error;
        REQUIRE(detail::load_snapshot(path.c_str(), rows, error, {}, &parts));
        REQUIRE(detail::can_be_source(*parts));
        source = detail::source_of(*parts);
        std::remove(path.c_str());
    }
};

// Thirty functions of two libraries, stacks of up to twelve frames, three threads. `process` moves
// the libraries, and the seed decides which stacks there are.
snapshot made_heap(std::uint64_t process, std::uint64_t seed, bool has_details) {
    allocscope_test::dice roll{seed};
    info_text about;
    about.process_id = process;
    about.window = 1;
    about.has_details = has_details;
    const std::uint64_t base = 0x10000 * process;
    about.modules = {{"/bin/app", "01", base, 0x8000}, {"/lib/libx.so", "02", base + 0x9000, 9999}};
    for (std::uint64_t i = 1; i < 4; ++i) about.threads.push_back({i, "worker", process});
    std::vector<stack_text> stacks;
    for (int i = 0; i < 300; ++i) {
        std::vector<frame_text> frames;
        const std::uint64_t depth = 1 + roll.below(3);
        for (std::uint64_t at = 0; at < depth; ++at) {
            const std::uint64_t code = roll.below(6);
            frame_text frame = made_frame("f" + std::to_string(code), "/src/app/a.cpp",
                                          static_cast<int>(code), base + code * 8);
            frame.module = code < 4 ? "/bin/app" : "/lib/libx.so";
            frame.offset = code * 8;
            frame.address = base + (code < 4 ? 0 : 0x9000) + frame.offset;
            frames.push_back(frame);
        }
        const std::uint64_t count = 1 + roll.below(9);
        stack_text stack = made_stack(frames, count, count * 24, count / 2, count / 2 * 24);
        stack.type = roll.one_in(3) ? "int" : "std::string";
        stack.type_source = roll.one_in(2) ? "source" : "allocator";
        snapshot::stack_details known{count, count * 24, 1, 100 * count, {}};
        known.sizes[2] = count;
        if (has_details) stack.details = {known};
        stack.by_thread = {{static_cast<std::size_t>(roll.below(3)), count / 2, count / 2 * 24,
                            count, count * 24, 0, 0, 0, 0, 0, nullptr, 0}};
        stacks.push_back(stack);
    }
    return made_window(stacks, about);
}

std::string written(const char* format, const sourced_snapshot& of) {
    std::ostringstream out;
    std::string error;
    CHECK(detail::try_write(detail::format_named(format)->body, of.rows, out, error,
                            allocscope::stack_value::live_bytes, of.source));
    CHECK(error == "");
    return out.str();
}

void check_same(const sourced_snapshot& streamed, const snapshot& laid_out) {
    REQUIRE(streamed.source != nullptr);
    CHECK(laid_out.stacks().size() == streamed.source->count);
    for (const char* format : {"json", "csv", "html", "pprof"}) {
        CAPTURE(format);
        CHECK((written(format, streamed) == allocscope_tests::written(format, laid_out)));
    }
    // In a file the stacks of rows may be shared with those of stacks, or not.
    const std::string bytes = written("snapshot", streamed);
    std::string error;
    snapshot again;
    REQUIRE(allocscope::load_snapshot_from(bytes.data(), bytes.size(), again, error));
    CHECK((allocscope_tests::written("json", again) == written("json", streamed)));
    // Whoever asks the rows for their stacks gets them, too.
    CHECK((allocscope_tests::written("json", streamed.rows) == written("json", streamed)));
}

void check_filters(const sourced_snapshot& streamed, const snapshot& laid_out) {
    std::vector<allocscope::stack_filter> filters(7);
    filters[0].frame = "f3";
    filters[1].module = "libx";
    filters[2].thread = "2";
    filters[3].least_bytes = 300;
    filters[4].least_objects = 12;
    filters[5].types = allocscope::shown_types::with_source;
    filters[6].type = "int";
    for (const allocscope::stack_filter& each : filters) {
        const auto filter = &each - filters.data();
        CAPTURE(filter);
        CAPTURE(laid_out.stacks().size());
        const snapshot wanted = laid_out.filter(each);
        CHECK_FALSE(wanted.stacks().empty());
        check_same(detail::filtered(streamed, each), wanted);
    }
}

}  // namespace

TEST_CASE("streamed stacks: what is chosen of a file is what is chosen of its snapshot") {
    for (const bool has_details : {false, true}) {
        const both_ways one{made_heap(1, 1, has_details)};
        check_filters(one.streamed(), one.laid_out);
    }
}

TEST_CASE("streamed stacks: a file says how many frames its numbers stand for") {
    const both_ways one{made_heap(1, 1, false)};
    const detail::shown_stacks stacks{one.rows, &one.source};
    std::set<std::uint32_t> met;
    stacks.for_each_by_numbers(
        [&met](const snapshot::stack&, const detail::numbered_frames& frames) {
            met.insert(frames.numbers, frames.numbers + frames.count);
        });
    CHECK(stacks.frame_count() == met.size());
    CHECK(*met.rbegin() + 1 == met.size());
    CHECK(detail::shown_stacks{one.laid_out}.frame_count() == 0);
}

TEST_CASE("streamed stacks: files are merged as their snapshots are") {
    for (const bool has_details : {false, true}) {
        const both_ways one{made_heap(1, 1, has_details)};
        const both_ways other{made_heap(2, 777777, has_details)};
        const snapshot wanted = allocscope::merge({one.laid_out, other.laid_out});
        sourced_snapshot merged;
        std::string error;
        REQUIRE(detail::merge({one.streamed(), other.streamed()}, merged, error));
        check_same(merged, wanted);
        check_filters(merged, wanted);
        // One of them may be laid out.
        REQUIRE(detail::merge({one.streamed(), {other.laid_out}}, merged, error));
        check_same(merged, wanted);
    }
}

TEST_CASE("streamed stacks: files are subtracted as their snapshots are") {
    for (const bool has_details : {false, true}) {
        const both_ways one{made_heap(1, 1, has_details)};
        const both_ways other{made_heap(1, 777777, has_details)};
        const snapshot wanted = allocscope::difference(other.laid_out, one.laid_out);
        const sourced_snapshot change = detail::difference(other.streamed(), one.streamed(), true);
        REQUIRE(change.source != nullptr);
        CHECK(change.source->count == wanted.stacks().size());
        CHECK((written("json", change) == allocscope_tests::written("json", wanted)));
        check_filters(change, wanted);
        const sourced_snapshot none = detail::difference(one.streamed(), one.streamed(), true);
        CHECK(none.source->count == 0);
    }
}

namespace {

std::uint64_t resident_bytes() {
    std::ifstream file{"/proc/self/statm"};
    std::uint64_t total = 0;
    std::uint64_t resident = 0;
    file >> total >> resident;
    return resident * 4096;
}

}  // namespace

TEST_CASE("streamed stacks: the frames of a file are not laid out for what is made of it") {
    constexpr std::uint64_t count = allocscope_test::is_sanitized ? 1000 : 4000;
    constexpr std::uint64_t depth = 250;
    std::vector<stack_text> stacks;
    std::vector<frame_text> frames(depth, made_frame("f", "/src/a.cpp", 1, 0x5000));
    for (std::uint64_t i = 0; i < count; ++i) {
        frames[i % depth] = made_frame("f" + std::to_string(i), "/src/a.cpp", 7, 0x5000 + i);
        stacks.push_back(made_stack(frames, 1 + i, 16, 1, 16));
        stacks.back().file = "a.cpp";
        stacks.back().line = 7;
    }
    snapshot made = made_window(stacks);
    stacks.clear();
    const std::string path = "streamed_test_" + std::to_string(::getpid());
    made.save(path.c_str());
    made = {};
    sourced_snapshot sides[2];
    detail::stack_source sources[2];
    for (std::size_t i = 0; i < 2; ++i) {
        const detail::loaded_parts* parts = nullptr;
        std::string error;
        detail::wanted_parts wanted;
        wanted.framed_rows = 0;
        wanted.has_user_frames = true;
        REQUIRE(detail::load_snapshot(path.c_str(), sides[i].rows, error, wanted, &parts));
        sources[i] = detail::source_of(*parts);
        sides[i].source = &sources[i];
    }
    std::remove(path.c_str());
    const std::uint64_t before = resident_bytes();
    allocscope::stack_filter wanted;
    wanted.frame = "f1";
    const sourced_snapshot some = detail::filtered(sides[0], wanted, 0);
    const sourced_snapshot change = detail::difference(sides[0], some, true);
    sourced_snapshot both;
    std::string error;
    REQUIRE(detail::merge({sides[0], sides[1]}, both, error));
    const std::vector<const sourced_snapshot*> all = {&some, &change, &both};
    for (const sourced_snapshot* each : all) {
        CHECK(each->source->count != 0);
        const std::string tree = detail::tree_of(each->stacks(), allocscope::tree_from::main,
                                                 allocscope::stack_value::live_bytes, {});
        CHECK(tree.find("a.cpp:7") != std::string::npos);
    }
    constexpr std::uint64_t laid_out = count * depth * sizeof(snapshot::frame);
    CHECK(laid_out > 12'500 * count);
    const std::uint64_t after = resident_bytes();
    CHECK((after < before ? 0 : after - before) < laid_out / 4);
}
