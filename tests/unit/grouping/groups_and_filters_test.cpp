// Groups and filters of snapshots whose stacks are written down here.
#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/made_snapshot.hpp"

using namespace allocscope_tests;
using allocscope::group;
using allocscope::group_key;
using allocscope::snapshot;
using allocscope::stack_filter;
using allocscope::stack_value;

namespace {

stack_text made_stack(const std::string& file, int line, const std::string& type,
                      std::uint64_t objects, std::uint64_t bytes, std::uint64_t allocations,
                      std::uint64_t bytes_allocated, const std::string& module) {
    stack_text stack;
    stack.file = file;
    stack.line = line;
    stack.type = type;
    stack.function = "in_" + file;
    stack.objects = objects;
    stack.bytes = bytes;
    stack.allocations = allocations;
    stack.bytes_allocated = bytes_allocated;
    stack.frames = {{"helper", "", 0, 0, false, 1, "/lib/libhelper.so.1", 1},
                    {stack.function, "/src/" + file, line, 0, false, 2, module, 2}};
    stack.user_frame = 1;
    return stack;
}

snapshot made(bool is_difference = false) {
    info_text info;
    info.is_difference = is_difference;
    const std::uint64_t less = is_difference ? std::uint64_t{0} - 500 : 500;
    info.stacks = {made_stack("a.cpp", 1, "int", 4, 400, 9, 900, "/bin/app"),
                   made_stack("a.cpp", 1, "int", 6, 300, 6, 300, "/bin/app"),
                   made_stack("a.cpp", 2, "char", 5, less, 50, 5000, "/bin/app"),
                   made_stack("b.cpp", 7, "int", 0, 0, 100, 100, "/lib/libz.so.1")};
    return made_snapshot({}, info);
}

std::vector<std::string> names_of(const allocscope::snapshot_groups& groups) {
    std::vector<std::string> names;
    for (const group& each : groups) names.push_back(each.name);
    return names;
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("groups: a difference has no group of which nothing has changed") {
    info_text info;
    info.is_difference = info.has_details = true;
    info.threads = {{1, "busy", 7}, {2, "waiting", 7}};
    const std::uint64_t less = std::uint64_t{0} - 4;
    info.stacks = {made_stack("a.cpp", 1, "moved", 4, 4, 0, 0, "/bin/app"),
                   made_stack("b.cpp", 1, "moved", less, less, 0, 0, "/bin/app"),
                   made_stack("c.cpp", 1, "older", 0, 0, 0, 0, "/bin/app"),
                   made_stack("d.cpp", 1, "short", 0, 0, 0, 0, "/bin/app")};
    snapshot::stack_details older{};
    older.lifetime_us = 1000;
    for (stack_text& stack : info.stacks) stack.details = {older};
    info.stacks[3].details[0].temporary = 1;
    snapshot::thread_part waits{};
    waits.thread = 1;
    waits.details = &older;
    snapshot::thread_part works = waits;
    works.thread = 0;
    works.bytes = works.objects = 4;
    info.stacks[0].by_thread = {works, waits};
    const snapshot rows = made_snapshot({}, info);
    CHECK(names_of(rows.group_by(group_key::place)) ==
          names{"a.cpp:1:moved", "b.cpp:1:moved", "d.cpp:1:short"});
    CHECK(names_of(rows.group_by(group_key::type)) == names{"short"});
    CHECK(names_of(rows.group_by(group_key::thread)) == names{"busy (thread 1)", "not known"});
}

TEST_CASE("groups: a table says that there is nothing in it") {
    const snapshot none = made_snapshot({});
    CHECK(allocscope::to_table(none.group_by(group_key::type)) ==
          "there are no stacks to add up\n");
    info_text info;
    info.stacks = {made_stack("a.cpp", 1, "short", 1, 2, 3, 6, "/bin/app")};
    const snapshot some = made_snapshot({}, info);
    CHECK(allocscope::to_table(some.difference_from(some).group_by(group_key::type)) ==
          "no stack has changed\n");
}

TEST_CASE("groups: a table with details leaves out numbers, not what it is sorted by") {
    info_text info;
    info.has_details = true;
    info.stacks = {made_stack("a.cpp", 1, "a_type_with_a_long_name", 4, 400, 9, 900, "/bin/app")};
    snapshot::stack_details details{};
    details.peak_objects = 5;
    details.peak_bytes = 500;
    details.temporary = 2;
    details.lifetime_us = 9000;
    info.stacks[0].details = {details};
    const snapshot rows = made_snapshot({}, info);
    const auto head = [&rows](std::uint32_t width, stack_value order) {
        allocscope::text_options wanted;
        wanted.width = width;
        const std::string table =
            allocscope::to_table(rows.group_by(group_key::place, order), wanted);
        for (std::size_t at = 0; at < table.size();) {
            const std::size_t end = table.find('\n', at);
            CHECK(end - at <= (width != 0 ? width : 200));
            at = end + 1;
        }
        return table.substr(0, table.find('\n'));
    };
    const std::string all =
        "bytes   share  objects  allocated  allocations  at peak  of peak  temporary  mean life  "
        "place";
    CHECK(head(0, stack_value::peak_bytes) == all);
    CHECK(head(120, stack_value::peak_bytes) == all);
    CHECK(head(80, stack_value::peak_bytes) ==
          "bytes  allocations  at peak  temporary  mean life  place");
    CHECK(head(60, stack_value::peak_bytes) == "bytes  at peak  temporary  place");
    CHECK(head(60, stack_value::bytes_allocated) == "bytes  allocated  at peak  place");
}

TEST_CASE("details: of a difference whose places have not changed there is no table") {
    info_text info;
    info.is_difference = info.has_details = true;
    const std::uint64_t less = std::uint64_t{0} - 4;
    info.stacks = {made_stack("a.cpp", 1, "int", 4, 4, 0, 0, "/bin/app"),
                   made_stack("a.cpp", 1, "int", less, less, 0, 0, "/lib/other.so")};
    for (stack_text& stack : info.stacks) stack.details = {snapshot::stack_details{}};
    const snapshot rows = made_snapshot({}, info);
    CHECK(rows.group_by(group_key::place).empty());
    CHECK(allocscope::to_text(rows).find("no row has changed") != std::string::npos);
}

TEST_CASE("groups: each key sums the stacks that have it in common") {
    const snapshot rows = made();
    CHECK(names_of(rows.group_by(group_key::place)) ==
          names{"a.cpp:1:int", "a.cpp:2:char", "b.cpp:7:int"});
    CHECK(names_of(rows.group_by(group_key::type)) == names{"int", "char"});
    CHECK(names_of(rows.group_by(group_key::function)) == names{"in_a.cpp", "in_b.cpp"});
    CHECK(names_of(rows.group_by(group_key::file)) == names{"a.cpp", "b.cpp"});
    CHECK(names_of(rows.group_by(group_key::module)) == names{"app", "libz.so.1"});
    CHECK(names_of(rows.group_by(group_key::size)) == names{"65..128 B", "33..64 B", "0..8 B"});
    const auto by_type = rows.group_by(group_key::type);
    CHECK(by_type[0].objects == 10);
    CHECK(by_type[0].bytes == 700);
    CHECK(by_type[0].allocations == 115);
    CHECK(by_type[0].bytes_allocated == 1300);
    CHECK(by_type[0].stacks == 3);
}

TEST_CASE("groups: with details each allocation is in the class of its own size") {
    info_text info;
    info.has_details = true;
    // 20 of up to 8 bytes and 4 of 1000; and 3 of 200000.
    info.stacks = {made_stack("a.cpp", 1, "int", 5, 3100, 24, 4100, "/bin/app"),
                   made_stack("b.cpp", 2, "int", 3, 600000, 3, 600000, "/bin/app"),
                   made_stack("c.cpp", 3, "int", 1, 50, 1, 50, "/bin/app")};
    snapshot::stack_details mixed{};
    mixed.sizes[allocscope::size_class_of(5)] = 20;
    mixed.sizes[allocscope::size_class_of(1000)] = 4;
    mixed.temporary = 2;
    info.stacks[0].details = {mixed};
    snapshot::stack_details large{};
    large.sizes[allocscope::size_class_of(200000)] = 3;
    info.stacks[1].details = {large};
    const auto groups = made_snapshot({}, info).group_by(group_key::size);
    REQUIRE(names_of(groups) == names{"131073 B and more", "513..1024 B", "33..64 B", "0..8 B"});
    CHECK(groups[0].allocations == 3);
    CHECK(groups[0].bytes == 600000);
    // The mean of the first stack is 170 bytes, a class in which it has allocated nothing.
    CHECK(groups[1].allocations == 4);
    CHECK(groups[1].bytes == 3100);
    CHECK(groups[1].objects == 5);
    CHECK(groups[1].bytes_allocated == 4100);
    CHECK(groups[1].temporary == 2);
    CHECK(groups[3].allocations == 20);
    CHECK(groups[3].bytes_allocated == 0);
    CHECK(groups[2].allocations == 1);  // of a stack without details: its mean
}

TEST_CASE("groups: modules of one file name are told apart by their paths") {
    info_text info;
    info.stacks = {made_stack("a.cpp", 1, "int", 3, 30, 3, 30, "/a/plugin.so"),
                   made_stack("b.cpp", 1, "int", 2, 20, 2, 20, "/b/plugin.so"),
                   made_stack("c.cpp", 1, "int", 1, 10, 1, 10, "/b/other.so"),
                   made_stack("a.cpp", 2, "int", 1, 1, 1, 1, "/a/plugin.so"),
                   made_stack("d.cpp", 1, "int", 1, 1, 1, 1, "")};
    const auto groups = made_snapshot({}, info).group_by(group_key::module);
    CHECK(names_of(groups) == names{"/a/plugin.so", "/b/plugin.so", "other.so", "(no module)"});
    CHECK(groups[0].objects == 4);
}

TEST_CASE("groups: numbers that no program has, as from a file, have no mean size") {
    info_text info;
    const std::uint64_t least = std::uint64_t{1} << 63U;
    info.is_difference = true;
    info.stacks = {made_stack("a.cpp", 1, "int", 0, 0, ~std::uint64_t{0}, least, "/bin/app"),
                   made_stack("a.cpp", 2, "int", ~std::uint64_t{0}, least, 0, 0, "/bin/app")};
    CHECK(names_of(made_snapshot({}, info).group_by(group_key::size)) == names{"not known"});
    info.has_details = true;
    for (stack_text& each : info.stacks) each.details = {{}};
    CHECK(made_snapshot({}, info).group_by(group_key::size).size() == 2);
}

TEST_CASE("groups: places without a line differ by their offset, others do not") {
    info_text info;
    for (int i = 0; i < 4; ++i) {
        info.stacks.push_back(made_stack("a.cpp", i < 2 ? 7 : 0, "int", 1, 10, 1, 10, "/bin/app"));
        info.stacks.back().offset = static_cast<std::uint64_t>(i) * 16;
    }
    const snapshot rows = made_snapshot({}, info);
    CHECK(names_of(rows.group_by(group_key::place)) ==
          names{"a.cpp:7:int", "a.cpp+0x20:int", "a.cpp+0x30:int"});
    const snapshot filtered = rows.filter({});
    REQUIRE(filtered.size() == 3);
    CHECK(filtered[0].objects == 2);
    CHECK(filtered[0].sites == 2);
    stack_filter of_nulls;
    of_nulls.frame = of_nulls.type = of_nulls.module = of_nulls.thread = nullptr;
    CHECK(rows.filter(of_nulls).size() == 3);
}

TEST_CASE("groups: largest first by the number that was asked for") {
    const snapshot rows = made();
    CHECK(rows.group_by(group_key::place, stack_value::live_objects)[0].name == "a.cpp:1:int");
    CHECK(rows.group_by(group_key::place, stack_value::bytes_allocated)[0].name == "a.cpp:2:char");
    CHECK(rows.group_by(group_key::place, stack_value::allocations)[0].name == "b.cpp:7:int");
    CHECK(snapshot{}.group_by(group_key::place).empty());
}

TEST_CASE("groups: of a difference the largest change comes first, with its sign") {
    const auto groups = made(true).group_by(group_key::type);
    CHECK(names_of(groups) == names{"int", "char"});
    CHECK(static_cast<std::int64_t>(groups[1].bytes) == -500);
    CHECK(allocscope::to_table(groups).find("-500 B") != std::string::npos);
}

TEST_CASE("filter: the rows are those of the stacks that fit") {
    const snapshot rows = made();
    stack_filter wanted;
    wanted.type = "int";
    const snapshot of_int = rows.filter(wanted);
    REQUIRE(of_int.size() == 1);  // in b.cpp nothing is alive
    CHECK(of_int[0].objects == 10);
    CHECK(of_int[0].bytes == 700);
    CHECK(of_int[0].sites == 2);
    CHECK(of_int[0].frame_count == 2);
    CHECK(of_int.stacks().size() == 3);
    CHECK(of_int.info().is_filtered);
    CHECK(rows.difference_from(of_int).info().is_filtered);
    CHECK(of_int.difference_from(rows).info().is_filtered);
    CHECK(!rows.difference_from({}).info().is_filtered);

    stack_filter in_module;
    in_module.module = "libz";
    CHECK(rows.filter(in_module).stacks().size() == 1);
    stack_filter through_helper;  // every stack has that frame, and none its place there
    through_helper.frame = "libhelper";
    CHECK(rows.filter(through_helper).stacks().size() == 4);
    through_helper.module = "libhelper";
    CHECK(rows.filter(through_helper).stacks().empty());
}

TEST_CASE("filter: types that are not proven can be left out, and how each is known shown") {
    info_text info;
    info.stacks = {made_stack("a.cpp", 1, "int", 4, 400, 9, 900, "/bin/app"),
                   made_stack("a.cpp", 1, "long", 6, 300, 6, 300, "/bin/app"),
                   made_stack("a.cpp", 1, "?", 1, 8, 1, 8, "/bin/app")};
    info.stacks[0].type_source = "source";
    const auto types_of = [&](const char* source, allocscope::shown_types wanted) {
        info.stacks[1].type_source = source;
        stack_filter filter;
        filter.types = wanted;
        names shown;
        for (const snapshot::row& row : made_snapshot({}, info).filter(filter)) {
            shown.push_back(std::to_string(row.objects) + " " + row.type + " " + row.type_source);
        }
        return shown;
    };
    using allocscope::shown_types;
    CHECK(types_of("vtable", shown_types::all) == names{"6 long vtable", "4 int source", "1 ? "});
    for (const std::string source : {"vtable", "report", "allocator", "make_function"}) {
        CHECK(types_of(source.c_str(), shown_types::proven) == names{"6 long " + source, "5 ? "});
    }
    CHECK(types_of("unsized_vtable", shown_types::proven) == names{"11 ? "});
    CHECK(types_of("vtable", shown_types::with_source) ==
          names{"6 long [vtable] vtable", "4 int [source] source", "1 ? "});
    stack_filter filter;
    filter.types = shown_types::proven;
    filter.type = "int";
    CHECK(made_snapshot({}, info).filter(filter).empty());  // the type that is shown is looked at
}

TEST_CASE("filter: a small place is what all its stacks make together") {
    stack_filter wanted;
    wanted.least_bytes = 600;  // the two stacks of a.cpp:1 have 400 and 300
    const snapshot large = made().filter(wanted);
    REQUIRE(large.size() == 1);
    CHECK(large[0].bytes == 700);
    stack_filter many;
    many.least_objects = 6;
    CHECK(made().filter(many).stacks().size() == 2);
    stack_filter changed;
    changed.least_bytes = 500;  // in a difference without the sign
    CHECK(made(true).filter(changed).stacks().size() == 3);
}

TEST_CASE("filter: the rows of a sampled window keep their intervals") {
    info_text info;
    info.record = allocscope::recording::sampled;
    info.stacks = {made_stack("a.cpp", 1, "int", 10, 100, 10, 100, "/bin/app"),
                   made_stack("a.cpp", 1, "int", 20, 200, 20, 200, "/bin/app")};
    for (stack_text& stack : info.stacks) {
        stack.samples = 5;
        stack.objects_low = stack.objects - 3;
        stack.objects_high = stack.objects + 4;
        stack.bytes_low = stack.bytes;
        stack.bytes_high = stack.bytes;
    }
    const snapshot rows = made_snapshot({}, info).filter({});
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].samples == 10);
    CHECK(rows[0].objects == 30);
    CHECK(rows[0].objects_low == 25);  // 3 and 3 at right angles: 4.2, outwards
    CHECK(rows[0].objects_high == 36);
    CHECK(rows[0].bytes_low == 300);
}

TEST_CASE("threads: groups and filters know whose the allocations of a stack were") {
    info_text info;
    info.threads = {{1, "app", 70}, {4, "worker", 70}, {9, "", 70}};
    stack_text shared = made_stack("a.cpp", 1, "int", 10, 100, 30, 300, "/bin/app");
    shared.by_thread = {{0, 2, 20, 10, 100, 0, 2, 2, 20, 20, nullptr, 0},
                        {1, 8, 80, 20, 200, 0, 8, 8, 80, 80, nullptr, 0}};
    stack_text own = made_stack("b.cpp", 2, "int", 1, 7, 1, 7, "/bin/app");
    own.by_thread = {{2, 1, 7, 1, 7, 0, 1, 1, 7, 7, nullptr, 0}};
    const stack_text unknown = made_stack("c.cpp", 3, "int", 1, 1, 1, 1, "/bin/app");
    info.stacks = {shared, own, unknown};
    const snapshot rows = made_snapshot({}, info);
    const auto groups = rows.group_by(group_key::thread);
    CHECK(names_of(groups) ==
          names{"worker (thread 4)", "app (thread 1)", "thread 9", "not known"});
    CHECK(groups[0].allocations == 20);
    CHECK(groups[0].bytes_allocated == 200);

    stack_filter wanted;
    wanted.thread = "work";
    const snapshot of_worker = rows.filter(wanted);
    REQUIRE(of_worker.stacks().size() == 1);
    CHECK(of_worker.stacks()[0].objects == 8);
    CHECK(of_worker.stacks()[0].bytes_allocated == 200);
    CHECK(of_worker.stacks()[0].thread_count == 1);
    CHECK(of_worker[0].bytes == 80);
    wanted.thread = "9";  // a number is meant as a whole
    CHECK(rows.filter(wanted).stacks().size() == 1);
    for (const char* shown : {"worker (thread 4)", "app (thread 1)", "thread 9"}) {
        wanted.thread = shown;
        CHECK(names_of(rows.filter(wanted).group_by(group_key::thread)) == names{shown});
    }
    wanted.thread = "thread 4";  // no name, and not what a group shows
    CHECK(rows.filter(wanted).empty());
    wanted.thread = "p";
    CHECK(rows.filter(wanted)[0].objects == 2);
    CHECK(rows.filter({}).stacks().size() == 3);
    CHECK(rows.filter({}).group_by(group_key::thread)[0].bytes == 80);

    // Of two processes the threads are told apart; one that both parts know is one.
    info.process_id = 70;
    info.duration_ns = 5;
    info_text other = info;
    other.process_id = 71;
    for (thread_text& thread : other.threads) thread.process_id = 71;
    const snapshot both = allocscope::merge({rows, made_snapshot({}, other)});
    CHECK(both.allocating_threads().size() == 6);
    CHECK(names_of(both.group_by(group_key::thread))[0] == "worker (thread 4 of process 70)");
    other.threads = {{1, "", 70}};
    other.stacks = {shared};
    other.stacks[0].by_thread.resize(1);
    const snapshot same = allocscope::merge({rows, made_snapshot({}, other)});
    CHECK(same.allocating_threads().size() == 3);
    CHECK(same.stacks()[0].by_thread[0].allocations == 40);  // one thread: all 30 are its own
    CHECK(same.stacks()[0].by_thread[1].allocations == 20);
    const std::string json = allocscope::to_json(rows);
    CHECK(json.find("{\"number\": 4, \"name\": \"worker\", \"process_id\": 70, \"objects\": 8,"
                    " \"bytes\": 80, \"allocations\": 20, \"bytes_allocated\": 200}") !=
          std::string::npos);
}

TEST_CASE("ages: groups and filters know when the objects of a stack were allocated") {
    info_text info;
    constexpr std::uint64_t second = 1'000'000'000;
    info.ages = {{30 * second, 60 * second}, {second / 2, 30 * second}, {0, second / 2}};
    info.threads = {{1, "app", 70}, {4, "worker", 70}};
    stack_text shared = made_stack("a.cpp", 1, "int", 16, 160, 46, 460, "/bin/app");
    shared.by_thread = {{0, 1, 10, 6, 60, 0, 1, 1, 10, 10, nullptr, 0},
                        {0, 2, 20, 10, 100, 0, 2, 2, 20, 20, nullptr, 1},
                        {1, 8, 80, 20, 200, 0, 8, 8, 80, 80, nullptr, 1},
                        {1, 5, 50, 10, 100, 0, 5, 5, 50, 50, nullptr, 2}};
    stack_text young = made_stack("b.cpp", 2, "int", 1, 7, 1, 7, "/bin/app");
    young.by_thread = {{0, 1, 7, 1, 7, 0, 1, 1, 7, 7, nullptr, 2}};
    info.stacks = {shared, young};
    const snapshot rows = made_snapshot({}, info);
    const auto groups = rows.group_by(group_key::age);
    CHECK(names_of(groups) == names{"0.5..30.0 s", "0..500 ms", "30.0..60.0 s"});
    CHECK(groups[0].objects == 10);
    CHECK(groups[0].allocations == 30);
    CHECK(groups[0].stacks == 1);  // two threads of one stack
    CHECK(groups[1].stacks == 2);
    const auto threads = rows.group_by(group_key::thread);
    CHECK(names_of(threads) == names{"worker (thread 4)", "app (thread 1)"});
    CHECK(threads[0].stacks == 1);  // two ages of one stack
    CHECK(threads[1].stacks == 2);

    const auto alive = [&rows](std::uint64_t older_than, std::uint64_t younger_than,
                               const char* thread = "") {
        stack_filter wanted;
        wanted.older_than = older_than;
        wanted.younger_than = younger_than;
        wanted.thread = thread;
        const snapshot filtered = rows.filter(wanted);
        CHECK(filtered.info().is_filtered);
        return filtered.live_objects();
    };
    CHECK(alive(1, 0) == 11);
    CHECK(alive(second / 2, 0) == 11);
    CHECK(alive(second / 2 + 1, 0) == 1);  // some may be younger
    CHECK(alive(30 * second, 0) == 1);
    CHECK(alive(30 * second + 1, 0) == 0);
    CHECK(alive(0, second / 2) == 0);  // some may be just as old
    CHECK(alive(0, second / 2 + 1) == 6);
    CHECK(alive(0, 61 * second) == 17);
    CHECK(alive(1, 31 * second) == 10);
    CHECK(alive(1, 31 * second, "work") == 8);
    CHECK(alive(1, second) == 0);

    stack_filter wanted;
    wanted.older_than = 1;
    const snapshot old = rows.filter(wanted);
    REQUIRE(old.stacks().size() == 1);
    CHECK(old.stacks()[0].bytes_allocated == 360);
    CHECK(old.stacks()[0].thread_count == 3);
    CHECK(old[0].bytes == 110);
    CHECK(names_of(old.group_by(group_key::age)) == names{"0.5..30.0 s", "30.0..60.0 s"});

    // Each age is a group of its own, whatever its name.
    info.ages = {{7, 9}, {7, 9}, {0, 9'999}};
    CHECK(names_of(made_snapshot({}, info).group_by(group_key::age)) ==
          names{"7..9 ns", "0..9999 ns", "7..9 ns"});
    info.ages[2].most_ns = 10'000;
    CHECK(names_of(made_snapshot({}, info).group_by(group_key::age))[1] == "0..10 us");

    info.ages.clear();
    for (stack_text& stack : info.stacks) {
        for (snapshot::thread_part& part : stack.by_thread) part.age = 0;
    }
    const snapshot without = made_snapshot({}, info);
    CHECK(names_of(without.group_by(group_key::age)) == names{"not known"});
    CHECK(without.filter(wanted).stacks().empty());
}

TEST_CASE("details: groups, filters and merged snapshots have their sums") {
    info_text info;
    info.has_details = true;
    info.threads = {{1, "app", 70}, {2, "worker", 70}};
    const snapshot::stack_details of_parts[] = {{3, 30, 5, 1000, {1, 9}}, {1, 10, 0, 500, {0, 20}}};
    stack_text shared = made_stack("a.cpp", 1, "int", 10, 100, 30, 300, "/bin/app");
    shared.by_thread = {{0, 2, 20, 10, 100, 0, 2, 2, 20, 20, &of_parts[0], 0},
                        {1, 8, 80, 20, 200, 0, 8, 8, 80, 80, &of_parts[1], 0}};
    shared.details = {{4, 40, 5, 1500, {1, 29}}};
    stack_text gone = made_stack("b.cpp", 2, "int", 0, 0, 100, 6400, "/bin/app");
    gone.details = {{1, 64, 99, 200, {0, 0, 0, 100}}};
    gone.by_thread = {{0, 0, 0, 100, 6400, 0, 0, 0, 0, 0, nullptr, 0}};
    info.stacks = {shared, gone};
    const snapshot rows = made_snapshot({}, info);
    const auto by_peak = rows.group_by(group_key::place, stack_value::peak_bytes);
    CHECK(names_of(by_peak) == names{"b.cpp:2:int", "a.cpp:1:int"});
    CHECK(by_peak[0].temporary == 99);
    CHECK(by_peak[1].lifetime_us == 1500);
    CHECK(rows.group_by(group_key::type, stack_value::temporary)[0].temporary == 104);
    const std::string table = allocscope::to_table(by_peak);
    CHECK(table.find("at peak  of peak  temporary  mean life  place") != std::string::npos);
    CHECK(table.find("64 B    61.5%         99     2.0 us  b.cpp:2:int") != std::string::npos);
    stack_filter wanted;
    wanted.thread = "worker";
    const snapshot of_worker = rows.filter(wanted);
    REQUIRE(of_worker.stacks().size() == 1);
    CHECK(of_worker.stacks()[0].details->peak_bytes == 10);
    CHECK(of_worker.stacks()[0].details->sizes[1] == 20);
    CHECK(rows.group_by(group_key::thread)[0].peak_objects == 1);

    info.threads = {{1, "other", 71}};
    info.stacks = {gone};
    const snapshot both = allocscope::merge({rows, made_snapshot({}, info)});
    CHECK(both.info().has_details);
    CHECK(both.group_by(group_key::place, stack_value::temporary)[0].temporary == 198);
    info.has_details = false;
    info.stacks[0].details.clear();
    const snapshot one_of_two = allocscope::merge({rows, made_snapshot({}, info)});
    CHECK_FALSE(one_of_two.info().has_details);
    CHECK(allocscope::to_table(one_of_two.group_by(group_key::place)).find("at peak") ==
          std::string::npos);
    CHECK_FALSE(rows.difference_from(rows).info().has_details);
}

TEST_CASE("tree: what leads to the largest numbers is shown, also when a parent changed less") {
    const std::string all = allocscope::to_tree(made());
    CHECK(all.find("1200 B  100.0%") != std::string::npos);
    CHECK(all.find("in_b.cpp  b.cpp:7") != std::string::npos);
    allocscope::text_options two;
    two.rows = 2;
    const std::string largest =
        allocscope::to_tree(made(), allocscope::tree_from::main, stack_value::live_bytes, two);
    CHECK(largest.find("in_b.cpp") == std::string::npos);
    CHECK(largest.find("in_a.cpp  a.cpp:1") != std::string::npos);
    const std::string change = allocscope::to_tree(made(true), allocscope::tree_from::allocation);
    CHECK(change.find("-500 B") != std::string::npos);
}

TEST_CASE("filters: a frame without a name is found by the number that reports print") {
    stack_text nameless = made_stack("", 0, "?", 3, 30, 3, 30, "/usr/bin/app");
    nameless.frames[1] = {"", "", 0, 0, false, 0x12f0, "/usr/bin/app", 0x12f0};
    stack_text named = nameless;
    named.type = "int";
    named.frames[1].function = "work";
    info_text info;
    info.stacks = {nameless, named};
    const snapshot whole = made_snapshot({}, info);
    CHECK(whole.filter(stack_filter{}).stacks().size() == 2);
    const auto stacks = [&whole](const char* wanted) {
        stack_filter filter;
        filter.frame = wanted;
        return whole.filter(filter).stacks().size();
    };
    CHECK(stacks("app+0x12f0") == 1);
    CHECK(stacks("/usr/bin/app+0x12f0") == 1);
    CHECK(stacks("+0x12f0") == 1);
    CHECK(stacks("app+0x12f") == 0);
    CHECK(stacks("app+0x") == 0);
    CHECK(stacks("other+0x12f0") == 0);
}

TEST_CASE("filters: a function without a name is found by both numbers, but not by a part of one") {
    stack_text nameless = made_stack("", 0, "?", 3, 30, 3, 30, "/usr/bin/app");
    nameless.frames[1] = {"app+0x1200", "", 0, 0, false, 0x12f0, "/usr/bin/app", 0x12f0};
    info_text info;
    info.stacks = {nameless};
    const snapshot whole = made_snapshot({}, info);
    const auto stacks = [&whole](const char* wanted) {
        stack_filter filter;
        filter.frame = wanted;
        return whole.filter(filter).stacks().size();
    };
    CHECK(stacks("app+0x1200") == 1);
    CHECK(stacks("/usr/bin/app+0x1200") == 1);
    CHECK(stacks("app+0x12f0") == 1);
    CHECK(stacks("app+0x12") == 0);
    CHECK(stacks("app+0x1201") == 0);
    CHECK(stacks("app+0x") == 0);
    CHECK(stacks("other+0x1200") == 0);
}
