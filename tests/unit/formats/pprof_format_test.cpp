// A profile, unpacked and taken apart by a reader of its own.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "inflated.hpp"
#include "made_stacks.hpp"

using namespace allocscope_tests;

namespace {

// A message of protocol buffers: each field with its values in their order.
struct message {
    std::map<std::uint32_t, std::vector<std::uint64_t>> numbers;
    std::map<std::uint32_t, std::vector<std::string>> texts;

    explicit message(const std::string& bytes) {
        std::size_t at = 0;
        while (at < bytes.size()) {
            const std::uint64_t tag = varint(bytes, at);
            const auto field = static_cast<std::uint32_t>(tag >> 3U);
            if ((tag & 7U) == 0) {
                numbers[field].push_back(varint(bytes, at));
            } else if ((tag & 7U) == 2) {
                const std::size_t length = varint(bytes, at);
                if (length > bytes.size() - at) throw std::runtime_error("too long");
                texts[field].push_back(bytes.substr(at, length));
                at += length;
            } else {
                throw std::runtime_error("unexpected wire type");
            }
        }
    }

    static std::uint64_t varint(const std::string& bytes, std::size_t& at) {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = static_cast<unsigned char>(bytes.at(at++));
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80U) == 0) return value;
        }
    }

    static std::vector<std::uint64_t> packed(const std::string& bytes) {
        std::vector<std::uint64_t> values;
        for (std::size_t at = 0; at < bytes.size();) values.push_back(varint(bytes, at));
        return values;
    }

    std::uint64_t number(std::uint32_t field) const {
        const auto found = numbers.find(field);
        return found != numbers.end() ? found->second.front() : 0;
    }
    std::string text(std::uint32_t field) const {
        const auto found = texts.find(field);
        return found != texts.end() ? found->second.front() : "";
    }
    std::vector<message> messages(std::uint32_t field) const {
        std::vector<message> made;
        const auto found = texts.find(field);
        if (found == texts.end()) return made;
        for (const std::string& bytes : found->second) made.emplace_back(bytes);
        return made;
    }
};

struct profile : message {
    explicit profile(const allocscope::snapshot& rows)
        : message(inflated(written("pprof", rows))) {}

    std::string string(std::uint64_t number) const { return texts.at(6).at(number); }

    // "function:line" of a location, innermost first, with `<` between inlined calls.
    std::string location(std::uint64_t id) const {
        for (const message& each : messages(4)) {
            if (each.number(1) != id) continue;
            std::string shown;
            for (const message& line : each.messages(4)) {
                if (!shown.empty()) shown += " < ";
                shown += function(line.number(1)) + ":" + std::to_string(line.number(2));
            }
            return shown;
        }
        return "no location " + std::to_string(id);
    }
    std::string function(std::uint64_t id) const {
        for (const message& each : messages(5)) {
            if (each.number(1) == id) return string(each.number(2));
        }
        return "no function";
    }
    std::vector<std::string> stack(std::size_t sample) const {
        std::vector<std::string> shown;
        for (const std::uint64_t id : packed(messages(2).at(sample).text(1))) {
            shown.push_back(location(id));
        }
        return shown;
    }
    std::vector<std::uint64_t> values(std::size_t sample) const {
        return packed(messages(2).at(sample).text(2));
    }
};

using strings = std::vector<std::string>;
using values = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("pprof: the values of Go's heap profiles, leaf first") {
    info_text about;
    about.taken_unix_ns = 1700000000000000000;
    about.duration_ns = 5;
    const profile read{made_window(small_stacks(), about)};
    strings types;
    for (const message& each : read.messages(1)) {
        types.push_back(read.string(each.number(1)) + "/" + read.string(each.number(2)));
    }
    CHECK(types == strings{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count",
                           "inuse_space/bytes"});
    CHECK(read.string(0).empty());
    CHECK(read.string(read.number(14)) == "inuse_space");
    CHECK(read.string(read.number(7)).find("std::.*::_M_allocate") != std::string::npos);
    CHECK(read.number(9) == 1700000000000000000);
    CHECK(read.number(10) == 5);
    CHECK(read.number(12) == 1);
    REQUIRE(read.messages(2).size() == 3);
    CHECK(read.stack(0) == strings{"load():20", "main:3"});
    CHECK(read.values(0) == values{10, 1000, 4, 400});
    CHECK(read.stack(2) == strings{"parse(int):30", "load():20", "main:3"});
    CHECK(read.values(2) == values{5, 50, 0, 0});
}

TEST_CASE("pprof: calls inlined at one address are lines of one location") {
    const frame_text main = made_frame("main", "/m", 3, 0x1003);
    const frame_text inner = made_frame("inner", "/i", 1, 0x1020, true);
    const frame_text middle = made_frame("middle", "/i", 2, 0x1020, true);
    const frame_text outer = made_frame("outer", "/o", 5, 0x1020);
    const frame_text other = made_frame("outer", "/o", 6, 0x1030);
    const profile read{made_window({made_stack({inner, middle, outer, main}, 1, 1, 1, 1),
                                    made_stack({inner, middle, outer, other, main}, 1, 1, 1, 1),
                                    made_stack({middle}, 1, 1, 1, 1)})};
    CHECK(read.stack(0) == strings{"inner:1 < middle:2 < outer:5", "main:3"});
    CHECK(read.stack(1) == strings{"inner:1 < middle:2 < outer:5", "outer:6", "main:3"});
    CHECK(read.stack(2) == strings{"middle:2"});  // cut there
    CHECK(read.messages(4).size() == 4);
    CHECK(read.messages(5).size() == 4);  // `outer` is one function
    for (const message& each : read.messages(4)) CHECK(each.number(3) != 0);
}

TEST_CASE("pprof: mappings with build ids, and what is known of their code") {
    info_text about;
    about.modules = {{"/bin/prog", "a1b2", 0x1000, 0x2000}, {"/lib/libz.so", "", 0x9000, 0x100}};
    frame_text symbol_only = made_frame("deflate", "", 0, 0x9010);
    symbol_only.module = "/lib/libz.so";
    const frame_text inlined = made_frame("f", "/f", 1, 0x1020, true);
    const profile read{made_window(
        {made_stack({symbol_only, inlined, made_frame("g", "/g", 2, 0x1020)}, 1, 1, 1, 1)}, about)};
    const auto mappings = read.messages(3);
    REQUIRE(mappings.size() == 2);
    CHECK(mappings[0].number(1) == 1);
    CHECK(mappings[0].number(2) == 0x1000);
    CHECK(mappings[0].number(3) == 0x3000);
    CHECK(read.string(mappings[0].number(5)) == "/bin/prog");
    CHECK(read.string(mappings[0].number(6)) == "a1b2");
    for (std::uint32_t field = 7; field <= 10; ++field) CHECK(mappings[0].number(field) == 1);
    CHECK(mappings[1].number(7) == 1);
    for (std::uint32_t field = 8; field <= 10; ++field) CHECK(mappings[1].number(field) == 0);
    CHECK(read.messages(4)[0].number(2) == 2);
    CHECK(read.messages(4)[1].number(2) == 1);
}

TEST_CASE("pprof: of a module whose functions are called by numbers, no function is known") {
    frame_text frame = made_frame("libz.so+0x9000", "", 0, 0x9010);
    frame.module = "/lib/libz.so";
    frame_text other = made_frame("libz.so+0x9000", "", 0, 0x9018);
    other.module = "/lib/libz.so";
    const profile read{
        made_window({made_stack({frame}, 1, 1, 1, 1), made_stack({other}, 1, 1, 1, 1)})};
    const auto mappings = read.messages(3);
    REQUIRE(mappings.size() == 1);
    CHECK(mappings[0].number(7) == 0);
    CHECK(read.messages(4).size() == 2);
    const auto functions = read.messages(5);
    REQUIRE(functions.size() == 1);
    CHECK(read.string(functions[0].number(2)) == "libz.so+0x9000");
}

TEST_CASE("pprof: a module that only a frame names is a mapping, too") {
    frame_text frame = made_frame("f", "", 0, 0x9010);
    frame.module = "/lib/libz.so";
    const profile read{made_window({made_stack({frame, made_frame("g")}, 1, 1, 1, 1)})};
    const auto mappings = read.messages(3);
    REQUIRE(mappings.size() == 2);
    CHECK(read.string(mappings[0].number(5)) == "/lib/libz.so");
    CHECK(mappings[0].number(2) == 0x9000);
    CHECK(mappings[0].number(3) == 0x9011);
    CHECK(read.messages(4)[0].number(2) == 1);
}

TEST_CASE("pprof: the type is a label, and system_name is left empty") {
    auto stacks = small_stacks();
    stacks[0].type = "std::vector<int>";
    const profile read{made_window(stacks)};
    const auto labels = read.messages(2)[0].messages(3);
    REQUIRE(labels.size() == 1);
    CHECK(read.string(labels[0].number(1)) == "type");
    CHECK(read.string(labels[0].number(2)) == "std::vector<int>");
    CHECK(read.messages(2)[1].messages(3).empty());
    for (const message& each : read.messages(5)) CHECK(each.number(3) == 0);
}

TEST_CASE("pprof: what went is negative") {
    auto stacks = small_stacks();
    stacks[0].objects = static_cast<std::uint64_t>(-4);
    stacks[0].bytes = static_cast<std::uint64_t>(-400);
    info_text about;
    about.is_difference = true;
    const profile read{made_window(stacks, about)};
    CHECK(static_cast<std::int64_t>(read.values(0)[3]) == -400);
}

TEST_CASE("pprof: totals, losses, doubt and intervals are in the comments") {
    info_text about;
    about.record = allocscope::recording::sampled;
    about.sample_bytes = 4096;
    about.samples = 12;
    about.command = "prog -x";
    about.process_id = 4711;
    about.estimates.allocations = {18, 9, 30};
    about.estimates.live_bytes = {470, 470, 470};
    about.losses.push_back({"events were lost", 3});
    about.uncertain_objects = 1;
    about.uncertain_bytes = 48;
    const profile read{made_window(small_stacks(), about)};
    CHECK(read.number(12) == 4096);
    strings comments;
    for (const std::uint64_t number : read.numbers.at(13)) comments.push_back(read.string(number));
    REQUIRE(comments.size() == 5);
    CHECK(comments[0].find("window 'window', process 4711: prog -x") != std::string::npos);
    CHECK(comments[1] ==
          "sampled, one sample about every 4096 bytes: all numbers are estimates, of 12 samples");
    CHECK(comments[2].find("allocations: 18 (95%: 9 to 30), ") == 0);
    CHECK(comments[2].find(", live bytes: 470, ") != std::string::npos);
    CHECK(comments[3] ==
          "in doubt: 1 object of 48 bytes may have been freed by other threads while"
          " this was read");
    CHECK(comments[4] == "lost: 3 events were lost");
}

TEST_CASE("pprof: allocations that have no stack are named") {
    info_text about;
    about.totals.allocations = 2;  // more than those of the stacks
    about.totals.bytes_allocated = 99;
    about.totals.frees = 2;
    about.totals.bytes_freed = 99;
    const profile read{made_window(small_stacks(), about)};
    const auto& comments = read.numbers.at(13);
    CHECK(read.string(comments.back()) ==
          "2 allocations of 99 bytes are in the totals alone: their stacks are not kept");
    about.totals.allocations = about.totals.bytes_allocated = 1;
    about.totals.frees = about.totals.bytes_freed = 1;
    const profile one{made_window(small_stacks(), about)};
    CHECK(one.string(one.numbers.at(13).back()) ==
          "1 allocation of 1 byte is in the totals alone: its stack is not kept");
}

TEST_CASE("pprof: details are more values, and what each thread allocated is a sample") {
    info_text about;
    about.has_details = true;
    about.threads = {{1, "main", 7}, {4, "", 7}};
    const allocscope::snapshot::stack_details of_one{2, 200, 1, 5000, {}};
    const allocscope::snapshot::stack_details of_other{3, 300, 4, 6000, {}};
    const allocscope::snapshot::stack_details of_both{5, 500, 5, 11000, {}};
    std::vector<stack_text> stacks = small_stacks();
    stacks.resize(2);
    stacks[0].type = "node";
    stacks[0].details = {of_both};
    const auto add_part = [&](std::size_t thread, std::uint64_t objects, std::uint64_t allocations,
                              const allocscope::snapshot::stack_details& details) {
        allocscope::snapshot::thread_part part{};
        part.thread = thread;
        part.objects = objects;
        part.bytes = objects * 100;
        part.allocations = allocations;
        part.bytes_allocated = allocations * 100;
        part.details = &details;
        stacks[0].by_thread.push_back(part);
    };
    add_part(0, 1, 4, of_one);
    add_part(1, 3, 6, of_other);
    const profile read{made_window(stacks, about)};
    strings types;
    for (const message& each : read.messages(1)) {
        types.push_back(read.string(each.number(1)) + "/" + read.string(each.number(2)));
    }
    CHECK(types == strings{"alloc_objects/count", "alloc_space/bytes", "temporary_objects/count",
                           "lifetime/microseconds", "peak_objects/count", "peak_space/bytes",
                           "inuse_objects/count", "inuse_space/bytes"});
    REQUIRE(read.messages(2).size() == 3);
    CHECK(read.values(0) == values{4, 400, 1, 5000, 2, 200, 1, 100});
    CHECK(read.values(1) == values{6, 600, 4, 6000, 3, 300, 3, 300});
    CHECK(read.values(2) == values{3, 70, 0, 0, 0, 0, 3, 70});
    CHECK(read.stack(0) == read.stack(1));
    const auto labels = [&read](std::size_t sample) {
        strings shown;
        for (const message& each : read.messages(2).at(sample).messages(3)) {
            shown.push_back(read.string(each.number(1)) + "=" +
                            (each.number(2) != 0 ? read.string(each.number(2))
                                                 : std::to_string(each.number(3))));
        }
        return shown;
    };
    CHECK(labels(0) == strings{"type=node", "thread=main (thread 1)", "thread_id=1"});
    CHECK(labels(1) == strings{"type=node", "thread=thread 4", "thread_id=4"});
    CHECK(labels(2).empty());  // whose it is, is not known
}
