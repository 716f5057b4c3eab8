// Snapshots that have every field set go into a file and come back; files that are damaged in every
// way that a byte can be are refused, and no number in them is believed.
#include <allocscope/report/json_report.hpp>
#include <allocscope/report/text_report.hpp>
#include <allocscope/saved/load_snapshot.hpp>
#include <allocscope/saved/save_snapshot.hpp>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/dice.hpp"
#include "support/made_snapshot.hpp"

using namespace allocscope_tests;
using allocscope::snapshot;
namespace detail = allocscope::detail;

namespace {

stack_text made_stack(const row_text& like, std::uint64_t allocations, std::uint64_t bytes) {
    stack_text made;
    static_cast<row_text&>(made) = like;
    made.allocations = allocations;
    made.bytes_allocated = bytes;
    return made;
}

std::vector<row_text> rows_with_everything() {
    row_text first = made_row_at(7, 700, "/home/u/app/main.cpp", "main.cpp", 12, "app::node");
    first.sites = 3;
    first.type_source = "vtable";
    first.frames.push_back({"main", "/home/u/app/main.cpp", 99, 4, true, 0x401234, "/bin/app", 52});
    row_text second = made_row(5, 50, "libz.so.1!deflate", 0, "?", "deflate");
    second.offset = 0x1f;
    row_text third = made_row_at(2, 4, "/home/u/app/a \"name\"\n;\x01\xff.cpp", "a", 3, "<&>");
    return {first, second, third};
}

const snapshot::stack_details of_part{8, 9, 10, 11, {12}};

info_text info_with_everything() {
    info_text info;
    info.name = "window <1>";
    info.record = allocscope::recording::sampled;
    info.from = allocscope::threads::current;
    info.stack_frames = 17;
    info.duration_ns = 123'456'789'012;
    info.totals = {100, 86, 1000, 246, 900};
    info.own_memory_bytes = 4096;
    info.losses = {{"events were lost", 3}, {"others, too", ~std::uint64_t{0}}};
    info.not_recording = "half of it is missing";
    info.sample_bytes = 512;
    info.samples = 40;
    info.estimates = {{100, 90, 120},  {86, 80, 99},  {14, 10, 20},
                      {1000, 1, 2000}, {246, 0, 246}, {754, 700, 800}};
    info.window = 5;
    info.is_of_two_windows = true;
    info.uncertain_objects = 1;
    info.uncertain_bytes = 2;
    info.process_id = 4242;
    info.taken_unix_ns = 1'700'000'000'000'000'001;
    info.command = "app --flag 'x y'";
    info.moments = {{0, 0, 0, 0, 0, ""}, {1000, 5, 50, 9, 90, "phase two"}};
    info.ages = {{70, 100}, {30, 70}, {0, 30}};
    info.modules = {{"/bin/app", "0123456789abcdef", 0x400000, 0x5000},
                    {"/lib/libz.so.1", "", 1, 0}};
    for (const row_text& row : rows_with_everything()) {
        info.stacks.push_back(made_stack(row, 10 * row.objects, 20 * row.bytes));
    }
    info.threads = {{1, "app", 4242}, {0, "", 4242}, {7, "a \"thread\"", 4242}};
    info.stacks[0].by_thread = {{2, 7, 700, 70, 14000, 7, 6, 10, 0, 1400, nullptr, 1}};
    info.stacks[1].by_thread = {{0, 2, 20, 20, 400, 2, 1, 5, 0, 40, nullptr, 0},
                                {1, 1, 10, 10, 200, 1, 0, 4, 0, 20, &of_part, 2},
                                {2, 2, 20, 20, 400, 2, 1, 5, 0, 40, nullptr, 1}};
    info.stacks[1].details = {{1, 2, 3, ~std::uint64_t{0}, {5, 6, 7}}};
    info.has_details = true;
    info.merged_windows = 3;
    info.stacks.push_back(
        made_stack(made_row(0, 0, "gone.cpp", 8, "char", "churn()"), 1000, 64000));
    return info;
}

snapshot everything() {
    std::vector<row_text> rows = rows_with_everything();
    for (row_text& row : rows) {
        row.samples = row.objects;
        row.objects_low = row.objects - 1;
        row.objects_high = row.objects + 3;
        row.bytes_low = 0;
        row.bytes_high = row.bytes * 2;
    }
    return made_snapshot(rows, info_with_everything());
}

snapshot loaded(const std::string& bytes, std::string& error) {
    snapshot into;
    allocscope::load_snapshot_from(bytes.data(), bytes.size(), into, error);
    return into;
}

std::string with_checksum(std::string bytes) {
    bytes.resize(bytes.size() - 8);
    allocscope::detail::saved_checksum sum;
    sum.add(bytes.data(), bytes.size() - 2);
    for (unsigned i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(sum.value() >> (8 * i)));
    return bytes;
}

void require_same(const snapshot::frame& a, const snapshot::frame& b) {
    REQUIRE(std::string{a.function} == b.function);
    REQUIRE(std::string{a.file} == b.file);
    REQUIRE(a.line == b.line);
    REQUIRE(a.column == b.column);
    REQUIRE(a.is_inlined == b.is_inlined);
    REQUIRE(a.address == b.address);
    REQUIRE(std::string{a.module} == b.module);
    REQUIRE(a.offset == b.offset);
}

template <class Row>
void require_same_place(const Row& a, const Row& b) {
    REQUIRE(a.objects == b.objects);
    REQUIRE(a.bytes == b.bytes);
    REQUIRE(std::string{a.file} == b.file);
    REQUIRE(a.line == b.line);
    REQUIRE(std::string{a.type} == b.type);
    REQUIRE(std::string{a.function} == b.function);
    REQUIRE(a.offset == b.offset);
    REQUIRE(a.user_frame == b.user_frame);
    REQUIRE(a.samples == b.samples);
    REQUIRE(std::string{a.type_source} == b.type_source);
    REQUIRE(a.objects_low == b.objects_low);
    REQUIRE(a.objects_high == b.objects_high);
    REQUIRE(a.bytes_low == b.bytes_low);
    REQUIRE(a.bytes_high == b.bytes_high);
    REQUIRE(a.frame_count == b.frame_count);
    for (std::size_t i = 0; i < a.frame_count; ++i) require_same(a.frames[i], b.frames[i]);
}

void require_same(const snapshot::stack_details* a, const snapshot::stack_details* b) {
    REQUIRE((a == nullptr) == (b == nullptr));
    if (a != nullptr) REQUIRE(std::memcmp(a, b, sizeof *a) == 0);
}

// Every field of everything.
void require_same(const snapshot& a, const snapshot& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        require_same_place(a[i], b[i]);
        REQUIRE(a[i].sites == b[i].sites);
    }
    REQUIRE(a.has_stacks() == b.has_stacks());
    REQUIRE(a.stacks().size() == b.stacks().size());
    for (std::size_t i = 0; i < a.stacks().size(); ++i) {
        require_same_place(a.stacks()[i], b.stacks()[i]);
        REQUIRE(a.stacks()[i].allocations == b.stacks()[i].allocations);
        REQUIRE(a.stacks()[i].bytes_allocated == b.stacks()[i].bytes_allocated);
        REQUIRE(a.stacks()[i].thread_count == b.stacks()[i].thread_count);
        std::vector<snapshot::thread_part> parts;
        detail::for_each_part(a.stacks()[i],
                              [&](const snapshot::thread_part& part) { parts.push_back(part); });
        std::size_t at = 0;
        detail::for_each_part(b.stacks()[i], [&](const snapshot::thread_part& part) {
            const snapshot::thread_part& other = parts[at++];
            REQUIRE(std::memcmp(&part, &other, offsetof(snapshot::thread_part, details)) == 0);
            require_same(part.details, other.details);
            REQUIRE(part.age == other.age);
        });
        require_same(a.stacks()[i].details, b.stacks()[i].details);
    }
    REQUIRE(a.allocating_threads().size() == b.allocating_threads().size());
    for (std::size_t i = 0; i < a.allocating_threads().size(); ++i) {
        REQUIRE(a.allocating_threads()[i].number == b.allocating_threads()[i].number);
        REQUIRE(std::string{a.allocating_threads()[i].name} == b.allocating_threads()[i].name);
        REQUIRE(a.allocating_threads()[i].process_id == b.allocating_threads()[i].process_id);
    }
    REQUIRE(a.info().merged_windows == b.info().merged_windows);
    REQUIRE(a.info().has_details == b.info().has_details);
    REQUIRE(a.info().has_peak_details == b.info().has_peak_details);
    REQUIRE(a.modules().size() == b.modules().size());
    for (std::size_t i = 0; i < a.modules().size(); ++i) {
        REQUIRE(std::string{a.modules()[i].path} == b.modules()[i].path);
        REQUIRE(std::string{a.modules()[i].build_id} == b.modules()[i].build_id);
        REQUIRE(a.modules()[i].address == b.modules()[i].address);
        REQUIRE(a.modules()[i].size == b.modules()[i].size);
    }
    const snapshot::window_info& x = a.info();
    const snapshot::window_info& y = b.info();
    REQUIRE(std::string{x.name} == y.name);
    REQUIRE(x.record == y.record);
    REQUIRE(x.from == y.from);
    REQUIRE(x.stack_frames == y.stack_frames);
    REQUIRE(x.duration_ns == y.duration_ns);
    REQUIRE(std::memcmp(&x.totals, &y.totals, sizeof x.totals) == 0);
    REQUIRE(x.own_memory_bytes == y.own_memory_bytes);
    REQUIRE(x.is_difference == y.is_difference);
    REQUIRE(x.is_of_two_windows == y.is_of_two_windows);
    REQUIRE(x.is_backwards == y.is_backwards);
    REQUIRE(x.is_filtered == y.is_filtered);
    REQUIRE(std::string{x.not_recording} == y.not_recording);
    REQUIRE(x.sample_bytes == y.sample_bytes);
    REQUIRE(x.samples == y.samples);
    REQUIRE(std::memcmp(&x.estimates, &y.estimates, sizeof x.estimates) == 0);
    REQUIRE(x.window == y.window);
    REQUIRE(x.age_count == y.age_count);
    for (std::size_t i = 0; i < x.age_count; ++i) {
        REQUIRE(x.ages[i].least_ns == y.ages[i].least_ns);
        REQUIRE(x.ages[i].most_ns == y.ages[i].most_ns);
    }
    REQUIRE(x.uncertain_objects == y.uncertain_objects);
    REQUIRE(x.uncertain_bytes == y.uncertain_bytes);
    REQUIRE(x.process_id == y.process_id);
    REQUIRE(x.taken_unix_ns == y.taken_unix_ns);
    REQUIRE(std::string{x.command} == y.command);
    REQUIRE(x.loss_count == y.loss_count);
    for (std::size_t i = 0; i < x.loss_count; ++i) {
        REQUIRE(std::string{x.losses[i].reason} == y.losses[i].reason);
        REQUIRE(x.losses[i].count == y.losses[i].count);
    }
    REQUIRE(x.moment_count == y.moment_count);
    for (std::size_t i = 0; i < x.moment_count; ++i) {
        REQUIRE(x.moments[i].at_ns == y.moments[i].at_ns);
        REQUIRE(x.moments[i].live_objects == y.moments[i].live_objects);
        REQUIRE(x.moments[i].live_bytes == y.moments[i].live_bytes);
        REQUIRE(x.moments[i].allocations == y.moments[i].allocations);
        REQUIRE(x.moments[i].bytes_allocated == y.moments[i].bytes_allocated);
        REQUIRE(std::string{x.moments[i].mark} == y.moments[i].mark);
    }
    REQUIRE(x.family_count == y.family_count);
    REQUIRE(allocscope::to_text(a) == allocscope::to_text(b));
    REQUIRE(allocscope::to_json(a) == allocscope::to_json(b));
}

std::string temporary_path() {
    return "saved_snapshot_test." + std::to_string(::getpid()) + ".allocscope";
}

std::string contents_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    std::ostringstream whole;
    whole << file.rdbuf();
    return whole.str();
}

}  // namespace

TEST_CASE("saved snapshot: every field comes back") {
    const snapshot saved = everything();
    const std::string bytes = allocscope::to_saved_snapshot(saved);
    std::string error;
    const snapshot again = loaded(bytes, error);
    REQUIRE(error == "");
    require_same(saved, again);
}

TEST_CASE("saved snapshot: save, load, save gives the same bytes") {
    std::string error;
    const std::string bytes = allocscope::to_saved_snapshot(everything());
    CHECK(allocscope::to_saved_snapshot(loaded(bytes, error)) == bytes);
    CHECK(error == "");
    const std::string empty = allocscope::to_saved_snapshot(snapshot{});
    CHECK(allocscope::to_saved_snapshot(loaded(empty, error)) == empty);
    CHECK(error == "");
}

TEST_CASE("saved snapshot: a difference comes back, and loaded ones have differences") {
    info_text later_info;
    later_info.stacks = {made_stack(made_row(5, 50, "a.cpp", 1, "int"), 9, 90)};
    info_text earlier_info;
    earlier_info.stacks = {made_stack(made_row(8, 80, "a.cpp", 1, "int"), 8, 80)};
    const snapshot later = made_snapshot({made_row(5, 50, "a.cpp", 1, "int")}, later_info);
    const snapshot earlier = made_snapshot({made_row(8, 80, "a.cpp", 1, "int")}, earlier_info);
    const snapshot change = later.difference_from(earlier);
    std::string error;
    const snapshot again = loaded(allocscope::to_saved_snapshot(change), error);
    REQUIRE(error == "");
    require_same(change, again);
    CHECK(static_cast<std::int64_t>(again[0].objects) == -3);
    CHECK(static_cast<std::int64_t>(again.stacks()[0].bytes) == -30);
    CHECK(again.stacks()[0].allocations == 1);

    const snapshot loaded_later = loaded(allocscope::to_saved_snapshot(later), error);
    const snapshot loaded_earlier = loaded(allocscope::to_saved_snapshot(earlier), error);
    require_same(loaded_later.difference_from(loaded_earlier), change);
}

TEST_CASE("saved snapshot: what has no stacks says so") {
    info_text info;
    info.record = allocscope::recording::counters;
    allocscope::snapshot none;
    std::string error;
    const snapshot again = loaded(allocscope::to_saved_snapshot(none), error);
    CHECK(error == "");
    CHECK(!again.has_stacks());
    CHECK(std::string{again.info().not_recording} == none.info().not_recording);
}

TEST_CASE("saved snapshot: a file, and what is wrong with one") {
    const std::string path = temporary_path();
    const snapshot saved = everything();
    saved.save(path.c_str());
    CHECK(contents_of(path) == allocscope::to_saved_snapshot(saved));
    require_same(allocscope::load_snapshot(path.c_str()), saved);
    std::remove(path.c_str());

    CHECK_THROWS_WITH(allocscope::load_snapshot("no such\nfile"),
                      "cannot load snapshot 'no such\\x0afile': there is no such file");
    CHECK_THROWS_WITH(allocscope::load_snapshot("/"),
                      "cannot load snapshot '/': it is a folder; name a file in it");
    CHECK_THROWS_WITH(allocscope::load_snapshot("/dev/null"),
                      "cannot load snapshot '/dev/null': it is a device or a socket, not a file");
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    std::string error;
    snapshot none;
    CHECK_FALSE(allocscope::load_snapshot(path.c_str(), none, error));
    CHECK(error.find("it is a pipe; write its contents to a file first") != std::string::npos);
    std::remove(path.c_str());
    CHECK_THROWS_WITH(saved.save("/nowhere/x.allocscope"),
                      "cannot write report to '/nowhere/x.allocscope': No such file or directory");
}

TEST_CASE("saved snapshot: text, and what a newer allocscope wrote, is refused by name") {
    std::string error;
    loaded("{\"allocscope\": 1}", error);
    CHECK(error.find("not a saved snapshot") != std::string::npos);
    std::string newer = allocscope::to_saved_snapshot(everything());
    newer[allocscope::detail::saved_magic_bytes] = 2;
    loaded(newer, error);
    CHECK(error.find("it has format 2") == 0);
    CHECK(error.find("read it with a newer one") != std::string::npos);
}

TEST_CASE("saved snapshot: unknown records and longer ones are skipped") {
    std::string bytes = allocscope::to_saved_snapshot(everything());
    const std::string unknown{"Q\x03xyz", 5};
    bytes.insert(allocscope::detail::saved_magic_bytes + 1, unknown);
    std::string error;
    const snapshot again = loaded(with_checksum(bytes), error);
    REQUIRE(error == "");
    require_same(again, everything());
}

// Where the next record begins.
std::size_t behind_record(const std::string& bytes, std::size_t at) {
    std::size_t length = 0;
    unsigned shift = 0;
    do {
        length |= static_cast<std::size_t>(bytes[++at] & 0x7f) << shift;
        shift += 7;
    } while ((bytes[at] & 0x80) != 0);
    return at + 1 + length;
}

TEST_CASE("saved snapshot: rows that another program wrote in another order are sorted") {
    std::string bytes = allocscope::to_saved_snapshot(everything());
    std::size_t first = allocscope::detail::saved_magic_bytes + 1;
    while (bytes[first] != 'r') first = behind_record(bytes, first);
    const std::string record = bytes.substr(first, behind_record(bytes, first) - first);
    std::size_t last = first;
    for (std::size_t at = first; at < bytes.size(); at = behind_record(bytes, at)) {
        if (bytes[at] == 'r') last = behind_record(bytes, at);
    }
    REQUIRE(last != first + record.size());
    bytes.insert(last, record);
    bytes.erase(first, record.size());
    std::string error;
    const snapshot again = loaded(with_checksum(bytes), error);
    REQUIRE(error == "");
    require_same(again, everything());
}

TEST_CASE("saved snapshot: only the rows that are shown need their frames") {
    const std::string path = temporary_path();
    const snapshot saved = everything();
    saved.save(path.c_str());
    snapshot some;
    std::string error;
    REQUIRE(allocscope::detail::load_snapshot(path.c_str(), some, error, {1}));
    std::remove(path.c_str());
    REQUIRE(some.size() == saved.size());
    require_same_place(some[0], saved[0]);
    REQUIRE(saved[2].frame_count != 0);
    REQUIRE(saved[2].line != 0);
    CHECK(some[2].frame_count == 0);
    CHECK(some[2].user_frame == 0);
    CHECK(some[2].bytes == saved[2].bytes);
    CHECK(allocscope::to_text(some) == allocscope::to_text(saved));
    REQUIRE(some.stacks().size() == saved.stacks().size());
    for (std::size_t i = 0; i < saved.stacks().size(); ++i) {
        require_same_place(some.stacks()[i], saved.stacks()[i]);
    }
}

TEST_CASE("saved snapshot: rows can be had without stacks, unless the report shows details") {
    const std::string path = temporary_path();
    snapshot rows_only;
    std::string error;
    const snapshot saved = everything();
    REQUIRE(saved.info().has_details);
    saved.save(path.c_str());
    REQUIRE(allocscope::detail::load_snapshot(path.c_str(), rows_only, error, {1, false}));
    CHECK(allocscope::to_text(rows_only) == allocscope::to_text(saved));
    CHECK(rows_only.stacks().size() == saved.stacks().size());

    const snapshot change = saved.difference_from(snapshot{});
    REQUIRE(change.has_stacks());
    REQUIRE(!change.info().has_details);
    change.save(path.c_str());
    REQUIRE(allocscope::detail::load_snapshot(path.c_str(), rows_only, error,
                                              {allocscope::detail::every_row, false}));
    std::remove(path.c_str());
    CHECK(!rows_only.has_stacks());
    REQUIRE(rows_only.size() == change.size());
    for (std::size_t i = 0; i < change.size(); ++i) require_same_place(rows_only[i], change[i]);
}

TEST_CASE("saved snapshot: numbers are counted by their last bytes") {
    std::string bytes;
    for (std::size_t count = 0; count < 40; ++count) {
        CHECK(allocscope::detail::count_of_numbers({bytes.data(), bytes.size()}) == count);
        for (std::size_t i = 0; i < count % 12; ++i) bytes += static_cast<char>(0x80U + count);
        bytes += static_cast<char>(count);
    }
}

TEST_CASE("saved snapshot: every shorter file is refused") {
    const std::string whole = allocscope::to_saved_snapshot(everything());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        std::string error;
        const snapshot none = loaded(whole.substr(0, size), error);
        REQUIRE_MESSAGE(error != "", size);
        REQUIRE(none.empty());
    }
    std::string error;
    loaded(whole + "x", error);
    CHECK(error.find("something follows its end") != std::string::npos);
}

TEST_CASE("saved snapshot: every byte that is changed is noticed") {
    const std::string whole = allocscope::to_saved_snapshot(everything());
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
        std::string error;
        loaded(damaged, error);
        REQUIRE_MESSAGE(error != "", at);
    }
}

// With a checksum that is right: whoever wants to do harm computes it.
TEST_CASE("saved snapshot: hostile files are refused, or read within their bounds") {
    const std::string whole = allocscope::to_saved_snapshot(everything());
    allocscope_test::dice roll{7};
    int refused = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string damaged = whole;
        const std::uint64_t changes = 1 + roll.below(4);
        for (std::uint64_t change = 0; change < changes; ++change) {
            const std::size_t at = allocscope::detail::saved_magic_bytes +
                                   roll.below(whole.size() - allocscope::detail::saved_magic_bytes);
            if (roll.one_in(4)) {
                damaged.erase(at % damaged.size(), 1 + roll.below(9));
            } else {
                damaged[at % damaged.size()] = static_cast<char>(roll.below(256));
            }
        }
        if (damaged.size() < 40) continue;
        std::string error;
        const snapshot read = loaded(with_checksum(damaged), error);
        if (error != "") {
            ++refused;
            continue;
        }
        // All of it can be walked and printed.
        CHECK(allocscope::to_json(read).size() > 10);
        CHECK(allocscope::to_text(read).size() > 10);
        const snapshot::window_info& info = read.info();
        for (std::size_t age = 0; age < info.age_count; ++age) {
            CHECK(info.ages[age].least_ns <= info.ages[age].most_ns);
        }
        std::size_t length = 0;
        for (const snapshot::stack& stack : read.stacks()) {
            detail::for_each_part(stack, [&](const snapshot::thread_part& part) {
                length += std::strlen(read.allocating_threads()[part.thread].name);
                CHECK((read.info().age_count == 0 ? part.age == 0
                                                  : part.age < read.info().age_count));
            });
            for (std::size_t frame = 0; frame < stack.frame_count; ++frame) {
                length += std::strlen(stack.frames[frame].function);
            }
        }
        CHECK(length < 1'000'000);
    }
    CHECK(refused > 10000);
}
