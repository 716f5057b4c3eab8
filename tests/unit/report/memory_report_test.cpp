#include <allocscope/report.hpp>

#include "../../support/made_snapshot.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace allocscope_tests;
using allocscope::memory_part;
using allocscope::memory_use;
using allocscope::snapshot;
using allocscope::detail::divide_memory;
using allocscope::detail::malloc_kind;
using allocscope::detail::malloc_numbers;
using allocscope::detail::recorded_sizes;
using allocscope::detail::resident_memory;

namespace {

constexpr std::uint64_t kibibyte = 1024;

memory_use made_memory() {
    memory_use use;
    use.at_ns = 5;
    use.swapped_bytes = 3;
    for (std::size_t i = 0; i < allocscope::memory_part_count; ++i) {
        use.parts[i] = (i + 1) * 100;
        use.resident_bytes += use.parts[i];
    }
    return use;
}

snapshot made(const memory_use* memory, bool is_difference = false) {
    info_text about;
    about.name = "m";
    about.memory = memory;
    about.is_difference = is_difference;
    return made_snapshot({made_row(1, 8, "a.cpp", 1, "int")}, about);
}

// Of a saved snapshot: a tag, the length of what follows, in seven bits a byte, and that.
std::size_t end_of_record(const std::string& file, std::size_t begin) {
    std::size_t length = 0;
    std::size_t at = begin + 1;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(file.at(at++));
        length |= std::size_t{byte & 0x7fU} << shift;
        if (byte < 0x80) return at + length;
    }
}

bool adds_up(const memory_use& use) {
    std::uint64_t sum = 0;
    for (const std::uint64_t part : use.parts) sum += part;
    return sum == use.resident_bytes;
}

resident_memory found_memory() {
    resident_memory found;
    found.heap = 1000;
    found.heap_size = 1200;
    found.large = 500;
    found.large_size = 4000;
    found.allocscope = 1;
    found.program = 2;
    found.files = 3;
    found.shared = 4;
    found.stacks = 5;
    found.anonymous = 300;
    found.unexplained = 6;
    found.total = 1000 + 500 + 1 + 2 + 3 + 4 + 5 + 300 + 6;
    return found;
}

}  // namespace

TEST_CASE("glibc's numbers divide the heap") {
    const malloc_numbers known{malloc_kind::glibc, 1200, 700, 4000};
    const memory_use use = divide_memory({known, found_memory()}, {400, 50});
    CHECK(adds_up(use));
    CHECK(use[memory_part::recorded] == 400);
    CHECK(use[memory_part::rounding] == 50);
    CHECK(use[memory_part::other_blocks] == 700 + 500 - 450);
    CHECK(use[memory_part::free_blocks] == 300);
    CHECK(use[memory_part::anonymous] == 300);
    CHECK(use[memory_part::heap_rest] == 0);
}

TEST_CASE("what is in use and not in memory is missing last from what is recorded") {
    const malloc_numbers known{malloc_kind::glibc, 1200, 1200, 4000};
    const memory_use use = divide_memory({known, found_memory()}, {1490, 50});
    CHECK(adds_up(use));
    CHECK(use[memory_part::recorded] == 1490);
    CHECK(use[memory_part::rounding] == 10);
    CHECK(use[memory_part::other_blocks] == 0);
    CHECK(use[memory_part::free_blocks] == 0);
    const memory_use more = divide_memory({known, found_memory()}, {100000, 50});
    CHECK(adds_up(more));
    CHECK(more[memory_part::recorded] == 1500);
}

TEST_CASE("heaps that were not recognised are taken from other memory") {
    const malloc_numbers known{malloc_kind::glibc, 1300, 700, 4100};
    const memory_use use = divide_memory({known, found_memory()}, {});
    CHECK(adds_up(use));
    CHECK(use[memory_part::anonymous] == 100);
    CHECK(use[memory_part::other_blocks] == 700 + 600);
    CHECK(use[memory_part::free_blocks] == 400);
    const memory_use all =
        divide_memory({{malloc_kind::glibc, 9000, 700, 9000}, found_memory()}, {});
    CHECK(adds_up(all));
    CHECK(all[memory_part::anonymous] == 0);
}

TEST_CASE("another malloc says how much it has and how much of it is in use") {
    const malloc_numbers known{malloc_kind::other, 1700, 1400, 0};
    const memory_use use = divide_memory({known, found_memory()}, {1000, 50});
    CHECK(adds_up(use));
    CHECK(use[memory_part::recorded] == 1000);
    CHECK(use[memory_part::rounding] == 0);
    CHECK(use[memory_part::other_blocks] == 400);
    CHECK(use[memory_part::free_blocks] == 300);
    CHECK(use[memory_part::anonymous] == 100);
}

TEST_CASE("of a malloc that says nothing the recorded objects are told apart") {
    const memory_use less = divide_memory({{}, found_memory()}, {600, 50});
    CHECK(adds_up(less));
    CHECK(less[memory_part::recorded] == 600);
    CHECK(less[memory_part::rounding] == 50);
    CHECK(less[memory_part::heap_rest] == 1500 - 650);
    CHECK(less[memory_part::anonymous] == 300);
    // As many as there are addresses for: some of them are not in memory.
    const memory_use all = divide_memory({{}, found_memory()}, {5200, 50});
    CHECK(adds_up(all));
    CHECK(all[memory_part::recorded] == 1500);
    CHECK(all[memory_part::anonymous] == 300);
    const memory_use more = divide_memory({{}, found_memory()}, {5300, 50});
    CHECK(adds_up(more));
    CHECK(more[memory_part::recorded] == 1600);
    CHECK(more[memory_part::anonymous] == 200);
}

TEST_CASE("blocks have the sizes of glibc's malloc") {
    using allocscope::detail::glibc_block_bytes;
    using allocscope::detail::glibc_rounding;
    CHECK(glibc_block_bytes(0) == 32);
    CHECK(glibc_block_bytes(24) == 32);
    CHECK(glibc_block_bytes(25) == 48);
    CHECK(glibc_block_bytes(40) == 48);
    CHECK(glibc_block_bytes(1000) == 1008);
    CHECK(glibc_block_bytes(128 * kibibyte) == 132 * kibibyte);
    CHECK(glibc_rounding(0, 0) == 0);
    CHECK(glibc_rounding(10, 400) == 80);
    CHECK(glibc_rounding(2, 401) == 31);
}

TEST_CASE("the text has a line for each part that is not empty") {
    memory_use use = made_memory();
    use.resident_bytes -= use[memory_part::files];
    use[memory_part::files] = 0;
    const snapshot of = made(&use);
    const std::string text = allocscope::to_text(of);
    CHECK(text.find("\nresident memory  7000 B, 5 ns after the window began; swapped out, and in no"
                    " part: 3 B\n  recorded objects                100 B    1.4%\n") !=
          std::string::npos);
    CHECK(text.find("\n  unexplained                    1200 B   17.1%\n") != std::string::npos);
    CHECK(text.find("other files") == std::string::npos);
    CHECK(allocscope::to_text(made(nullptr)).find("resident") == std::string::npos);
    const memory_use unknown;
    CHECK(allocscope::to_text(made(&unknown))
              .find("\nresident memory  not known: /proc/self/smaps"
                    " cannot be read\n") != std::string::npos);
}

TEST_CASE("JSON has every part, and a snapshot without them has none") {
    const memory_use use = made_memory();
    CHECK(allocscope::to_json(made(&use))
              .find("\"memory\": {\"resident_bytes\": 7800, \"swapped_bytes\": 3, \"at_ns\": 5,"
                    " \"parts\": {\"recorded\": 100, \"rounding\": 200, \"other_blocks\": 300,"
                    " \"free_blocks\": 400, \"heap_rest\": 500, \"allocscope\": 600, \"program\":"
                    " 700, \"files\": 800, \"shared\": 900, \"stacks\": 1000, \"anonymous\": 1100,"
                    " \"unexplained\": 1200}}") != std::string::npos);
    CHECK(allocscope::to_json(made(nullptr)).find("\"memory\"") == std::string::npos);
}

TEST_CASE("a difference does not say where memory is") {
    const memory_use use = made_memory();
    const snapshot difference = made(&use, true);
    CHECK(allocscope::to_text(difference).find("resident") == std::string::npos);
    CHECK(allocscope::to_json(difference).find("\"memory\"") == std::string::npos);
    snapshot loaded;
    std::string error;
    const std::string bytes = allocscope::to_saved_snapshot(difference);
    REQUIRE(allocscope::load_snapshot_from(bytes.data(), bytes.size(), loaded, error));
    CHECK(loaded.info().memory == nullptr);
}

TEST_CASE("merged snapshots do not say where memory is") {
    const memory_use use = made_memory();
    const snapshot all = allocscope::merge({made(&use), made(&use)});
    CHECK(all.info().memory == nullptr);
    CHECK(all.live_objects() == 2);
}

TEST_CASE("a saved snapshot keeps it") {
    const memory_use use = made_memory();
    const std::string bytes = allocscope::to_saved_snapshot(made(&use));
    snapshot loaded;
    std::string error;
    REQUIRE(allocscope::load_snapshot_from(bytes.data(), bytes.size(), loaded, error));
    REQUIRE(loaded.info().memory != nullptr);
    const memory_use& read = *loaded.info().memory;
    CHECK(read.resident_bytes == use.resident_bytes);
    CHECK(read.swapped_bytes == use.swapped_bytes);
    CHECK(read.at_ns == use.at_ns);
    for (std::size_t i = 0; i < allocscope::memory_part_count; ++i) {
        CHECK(read.parts[i] == use.parts[i]);
    }
    CHECK(allocscope::to_saved_snapshot(loaded) == bytes);
}

TEST_CASE("a saved snapshot whose parts do not add up is refused") {
    memory_use use = made_memory();
    ++use.resident_bytes;
    const std::string bytes = allocscope::to_saved_snapshot(made(&use));
    snapshot loaded;
    std::string error;
    CHECK_FALSE(allocscope::load_snapshot_from(bytes.data(), bytes.size(), loaded, error));
    CHECK(error.find("this record is impossible") != std::string::npos);
}

TEST_CASE("a saved snapshot that says it twice is refused") {
    const memory_use use = made_memory();
    const std::string once = allocscope::to_saved_snapshot(made(&use));
    std::size_t begin = std::string{"allocscope snapshot\n"}.size() + 1;
    std::size_t end = end_of_record(once, begin);
    while (once[begin] != 'u') {
        begin = end;
        end = end_of_record(once, begin);
    }
    const std::string twice = once.substr(0, end) + once.substr(begin);
    snapshot loaded;
    std::string error;
    CHECK_FALSE(allocscope::load_snapshot_from(twice.data(), twice.size(), loaded, error));
    CHECK(error.find("this record is impossible") != std::string::npos);
}

TEST_CASE("what a snapshot is annotated with does not take anything from it") {
    const snapshot of = made(nullptr);
    const snapshot with = allocscope::with_memory(of);
    REQUIRE(with.info().memory != nullptr);
    CHECK(adds_up(*with.info().memory));
    CHECK(with.size() == 1);
    CHECK(with.begin() == of.begin());
    CHECK(with.live_objects() == 1);
    CHECK(with.has_stacks() == of.has_stacks());
    CHECK(std::string{with.info().name} == "m");
    CHECK(with.difference_from(of).empty());
}
