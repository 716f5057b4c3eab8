// What holds for every format: targets, refusals, hostile names.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "inflated.hpp"
#include "made_stacks.hpp"

#include <unistd.h>

using namespace allocscope_tests;
using allocscope::detail::file_formats;

namespace {

// Deleted at the end.
struct temporary_path {
    std::string path;
    explicit temporary_path(const char* ending)
        : path("formats_test_" + std::to_string(::getpid())) {
        path += ending;
    }
    ~temporary_path() { std::remove(path.c_str()); }
    std::string contents() const {
        std::ifstream file{path, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    }
    bool exists() const { return ::access(path.c_str(), F_OK) == 0; }
};

// A difference in which one stack has less than before.
allocscope::snapshot shrunken() {
    std::vector<stack_text> stacks = small_stacks();
    stacks[1].objects = static_cast<std::uint64_t>(-2);
    stacks[1].bytes = static_cast<std::uint64_t>(-40);
    info_text about;
    about.is_difference = true;
    return made_window(stacks, about);
}

// Converting the file says the same as loading it and writing that.
void check_converted(const allocscope::detail::file_format& to, const temporary_path& saved,
                     const allocscope::snapshot& loaded) {
    CAPTURE(to.name);
    const temporary_path there{(std::string{".converted"} + to.ending).c_str()};
    std::string error;
    CHECK(allocscope::convert_snapshot(saved.path.c_str(), there.path.c_str(), error));
    CHECK(error.empty());
    CHECK((there.contents() == written(to.name, loaded)));
}
void check_converted(const temporary_path& saved, const allocscope::snapshot& loaded) {
    for (const auto& one : file_formats) check_converted(one, saved, loaded);
}

}  // namespace

TEST_CASE("formats: names and endings are each one format's") {
    for (const auto& one : file_formats) {
        CHECK(allocscope::detail::format_named(one.name) == &one);
        const std::string path = std::string("dir.d/heap") + one.ending;
        CHECK(allocscope::detail::format_of_path(path.c_str()) == &one);
    }
    CHECK(allocscope::detail::format_named("xml") == nullptr);
    CHECK(allocscope::detail::format_named("") == nullptr);
    CHECK(allocscope::detail::format_of_path("heap.gz") == nullptr);
    CHECK(allocscope::detail::format_of_path("heap") == nullptr);
}

TEST_CASE("formats: write goes by the ending, and what there is is said when none fits") {
    const auto rows = made_window(small_stacks());
    const temporary_path folded{".folded"};
    allocscope::write(rows, folded.path);
    CHECK(folded.contents() == written("folded", rows));
    std::string error;
    CHECK_FALSE(allocscope::write(rows, "heap.docx", error));
    CHECK(error.find("'heap.docx'") != std::string::npos);
    for (const auto& one : file_formats) CHECK(error.find(one.ending) != std::string::npos);
    CHECK_THROWS_AS(allocscope::write(rows, "heap.docx"), allocscope::report_error);
    CHECK_FALSE(allocscope::write(rows, static_cast<const char*>(nullptr), error));
}

TEST_CASE("formats: a path, a descriptor, a stdio file and a stream get the same bytes") {
    const auto rows = made_window(small_stacks());
    for (const auto& one : file_formats) {
        CAPTURE(one.name);
        const std::string expected = written(one.name, rows);
        CHECK_FALSE(expected.empty());
        const temporary_path there{one.ending};
        allocscope::write(rows, there.path.c_str());
        CHECK(there.contents() == expected);
        std::FILE* file = std::fopen(there.path.c_str(), "wb");
        allocscope::detail::write_or_throw(one.body, rows, file);
        std::fclose(file);
        CHECK(there.contents() == expected);
        file = std::fopen(there.path.c_str(), "wb");
        std::string error;
        CHECK(allocscope::detail::try_write(one.body, rows, ::fileno(file), error));
        std::fclose(file);
        CHECK(there.contents() == expected);
    }
}

TEST_CASE("formats: a saved snapshot is converted into the bytes that writing it gives") {
    info_text about;
    about.threads = {{1, "main", 7}, {2, "worker", 7}};
    about.modules = {{"/bin/prog", "abcdef", 0x1000, 0x2000}};
    std::vector<stack_text> stacks = small_stacks();
    stacks.push_back(made_stack({}, 3, 30, 2, 20));
    stacks.push_back(stacks[0]);  // the same frames once more
    const frame_text inlined = made_frame("put", "/src/put.hpp", 5, 0x4000, true);
    for (const char* caller : {"one", "other"}) {
        stacks.push_back(made_stack({inlined, made_frame(caller, "", 0, 0x4000)}, 1, 8, 1, 8));
    }
    stacks.push_back(made_stack({inlined}, 1, 8, 1, 8));
    for (std::size_t i = 0; i < 2; ++i) {
        allocscope::snapshot::thread_part part{};
        part.thread = i;
        part.allocations = 5;
        part.bytes_allocated = 500;
        part.objects = 2;
        part.bytes = 200;
        stacks[0].by_thread.push_back(part);
    }
    for (const stack_text& hostile : hostile_stacks()) stacks.push_back(hostile);
    const temporary_path saved{".allocscope"};
    made_window(stacks, about).save(saved.path.c_str());
    const allocscope::snapshot loaded = allocscope::load_snapshot(saved.path.c_str());
    check_converted(saved, loaded);
}

TEST_CASE("formats: rows of a file without stacks keep their frames") {
    const temporary_path saved{".allocscope"};
    made_snapshot({made_row_at(3, 30, "/src/parse.cpp", "parse.cpp", 7, "node")}, info_text{})
        .save(saved.path.c_str());
    const allocscope::snapshot loaded = allocscope::load_snapshot(saved.path.c_str());
    check_converted(saved, loaded);
    CHECK(written("html", loaded).find("/src/parse.cpp") != std::string::npos);
}

namespace {

struct saved_record {
    char tag;
    std::string bytes;  // all of it
};

// The records of a saved file behind its magic and its version, without the last, its checksum.
std::vector<saved_record> records_of(const std::string& file, std::size_t head) {
    std::vector<saved_record> records;
    const std::string longer = file + std::string(allocscope::detail::saved_fields::ahead, '\0');
    allocscope::detail::saved_fields rest{{longer.data() + head, file.size() - head}};
    while (!rest.is_at_end()) {
        const std::size_t begin = file.size() - rest.left();
        const char tag = rest.bytes(1).front();
        rest.bytes(rest.number());
        records.push_back({tag, file.substr(begin, file.size() - rest.left() - begin)});
    }
    REQUIRE(records.back().tag == 'e');
    records.pop_back();
    return records;
}

void put_records(const temporary_path& into, const std::string& head,
                 const std::vector<saved_record>& records) {
    std::string file = head;
    for (const saved_record& each : records) file += each.bytes;
    allocscope::detail::saved_checksum sum;
    sum.add(file.data(), file.size());
    file += "e\x08";
    for (unsigned i = 0; i < 8; ++i) file += static_cast<char>(sum.value() >> (8 * i));
    std::ofstream{into.path, std::ios::binary} << file;
}

// Places with few different sizes, so that many are equal.
std::vector<stack_text> many_places() {
    std::vector<stack_text> stacks;
    for (std::uint64_t i = 0; i < 300; ++i) {
        const frame_text frame =
            made_frame("f" + std::to_string(i), "/src/a.cpp", static_cast<int>(i + 1), 0x5000 + i);
        const std::uint64_t bytes = 16 * (1 + i * 7919 % 11);
        stacks.push_back(made_stack({frame}, 1 + i % 5, bytes, 1 + i % 5, bytes));
    }
    return stacks;
}

}  // namespace

TEST_CASE("formats: of many rows a page without script has those with most bytes") {
    for (const bool is_difference : {false, true}) {
        for (const auto record : {allocscope::recording::exact, allocscope::recording::sampled}) {
            CAPTURE(is_difference);
            info_text about;
            about.is_difference = is_difference;
            about.record = record;
            std::vector<stack_text> stacks = many_places();
            if (is_difference) stacks[7].bytes = static_cast<std::uint64_t>(-5000);
            const temporary_path saved{".allocscope"};
            made_window(stacks, about).save(saved.path.c_str());
            const auto loaded = allocscope::load_snapshot(saved.path.c_str());
            CHECK(written("html", loaded).find("and 250 more places") != std::string::npos);
            allocscope::detail::wanted_parts wanted;
            wanted.kept_rows = 50;
            allocscope::snapshot some;
            std::string error;
            CHECK(allocscope::detail::load_snapshot(saved.path.c_str(), some, error, wanted));
            const bool is_sampled = record == allocscope::recording::sampled;
            CHECK(some.size() == (is_sampled ? 300 : 50));
            CHECK(some.live_bytes() == loaded.live_bytes());
            CHECK(some.live_objects() == loaded.live_objects());
            for (const char* name : {"html", "json", "pprof"}) {
                check_converted(*allocscope::detail::format_named(name), saved, loaded);
            }
        }
    }
}

TEST_CASE("formats: rows in another order than save() writes, and rows alone, are converted") {
    const temporary_path saved{".allocscope"};
    made_window(many_places()).save(saved.path.c_str());
    const std::string file = saved.contents();
    const std::size_t head = allocscope::detail::saved_magic_bytes + 1;
    const std::vector<saved_record> records = records_of(file, head);
    // The first row becomes the last.
    std::vector<saved_record> turned = records;
    const auto is_row = [](const saved_record& each) { return each.tag == 'r'; };
    const auto first = std::find_if(turned.begin(), turned.end(), is_row);
    std::rotate(first, first + 1, std::find_if(turned.rbegin(), turned.rend(), is_row).base());
    put_records(saved, file.substr(0, head), turned);
    CHECK(saved.contents() != file);
    check_converted(saved, allocscope::load_snapshot(saved.path.c_str()));
    std::vector<saved_record> alone;
    for (const saved_record& each : records) {
        if (each.tag != 's') alone.push_back(each);
    }
    put_records(saved, file.substr(0, head), alone);
    const auto rows = allocscope::load_snapshot(saved.path.c_str());
    CHECK(rows.size() == 300);
    check_converted(saved, rows);
    put_records(saved, file.substr(0, head), records);
    CHECK(saved.contents() == file);
}

TEST_CASE("formats: a large saved snapshot is converted into itself") {
    std::vector<stack_text> stacks;
    for (std::uint64_t i = 1; i <= 400; ++i) {
        std::vector<frame_text> frames;
        for (std::uint64_t depth = 0; depth < i; ++depth) {
            frames.push_back(made_frame("f" + std::to_string(depth % 7 + i), "/src/a.cpp",
                                        static_cast<int>(depth + 1), 0x5000 + depth));
        }
        stacks.push_back(made_stack(frames, i, i * 16, i, i * 16));
        stacks.back().user_frame = i / 2;
    }
    const temporary_path saved{".allocscope"};
    const temporary_path there{".converted.allocscope"};
    made_window(stacks).save(saved.path.c_str());
    std::string error;
    CHECK(allocscope::convert_snapshot(saved.path.c_str(), there.path.c_str(), error));
    CHECK(there.contents() == saved.contents());
}

TEST_CASE("formats: a place where all is gone has the frames of its busiest stack") {
    const frame_text gone = made_frame("gone", "/src/gone.cpp", 8, 0x3000);
    std::vector<stack_text> stacks = small_stacks();
    stacks.push_back(made_stack({gone, made_frame("few")}, 2, 200, 0, 0));
    stacks.push_back(made_stack({gone, made_frame("most")}, 9, 90, 0, 0));
    stacks.push_back(made_stack({gone, made_frame("some")}, 3, 30, 0, 0));
    const allocscope::snapshot made = made_window(stacks);
    const std::string json = written("json", made);
    CHECK(json.find("\"most\"") != std::string::npos);
    CHECK(json.find("\"few\"") == std::string::npos);
    CHECK(json.find("\"some\"") == std::string::npos);
    const temporary_path saved{".allocscope"};
    const temporary_path there{".json"};
    made.save(saved.path.c_str());
    std::string error;
    CHECK(allocscope::convert_snapshot(saved.path.c_str(), there.path.c_str(), error));
    CHECK(there.contents() == json);
}

TEST_CASE("formats: what cannot be converted says why") {
    const temporary_path saved{".allocscope"};
    std::string error;
    CHECK_FALSE(allocscope::convert_snapshot(saved.path.c_str(), "heap.docx", error));
    CHECK(error.find("its ending must be") != std::string::npos);
    CHECK_FALSE(allocscope::convert_snapshot(saved.path.c_str(), "heap.folded", error));
    CHECK(error.find("there is no such file") != std::string::npos);
    info_text about;
    about.is_difference = true;
    std::vector<stack_text> stacks = small_stacks();
    stacks[1].bytes = static_cast<std::uint64_t>(-40);
    made_window(stacks, about).save(saved.path.c_str());
    const temporary_path there{".folded"};
    CHECK_FALSE(allocscope::convert_snapshot(saved.path.c_str(), there.path.c_str(), error));
    CHECK(error.find("numbers below 0") != std::string::npos);
    CHECK_FALSE(there.exists());
    info_text counted;
    counted.record = allocscope::recording::counters;
    auto* block = made_block({}, counted);
    block->stacks = nullptr;
    allocscope::snapshot{block}.save(saved.path.c_str());
    CHECK_FALSE(allocscope::convert_snapshot(saved.path.c_str(), there.path.c_str(), error));
    CHECK(error.find("the window only counted") != std::string::npos);
}

TEST_CASE("formats: what cannot be written says where and why") {
    const auto rows = made_window(small_stacks());
    std::string error;
    CHECK_FALSE(allocscope::write_folded(rows, "/no/such/folder/heap", error));
    CHECK(error == "cannot write report to '/no/such/folder/heap': No such file or directory");
    CHECK_FALSE(allocscope::write_folded(rows, -1, error));
    CHECK(error == "cannot write report to descriptor -1: a descriptor must not be negative");
    CHECK_FALSE(allocscope::write_folded(rows, static_cast<std::FILE*>(nullptr), error));
    CHECK(error == "cannot write report to a null FILE*: an open file is needed");
    std::ostringstream failed;
    failed.setstate(std::ios::failbit);
    CHECK_FALSE(allocscope::write_folded(rows, failed, error));
    CHECK(error == "cannot write report to a stream: the stream has failed");
    CHECK_FALSE(allocscope::write_pprof(rows, "/dev/full", error));
    CHECK(error == "cannot write report to '/dev/full': No space left on device");
    CHECK_THROWS_AS(allocscope::write_csv(rows, "/no/such/folder/heap"), allocscope::report_error);
}

TEST_CASE("formats: a window that only counted is refused, and no file is left") {
    info_text about;
    about.record = allocscope::recording::counters;
    auto* block = made_block({}, about);
    block->stacks = nullptr;
    const allocscope::snapshot rows{block};
    const allocscope::snapshot of_no_window;
    for (const auto& one : file_formats) {
        CAPTURE(one.name);
        CHECK(refusal(one.name, rows).empty() == one.has_totals);
        if (one.has_totals) continue;
        CHECK(refusal(one.name, rows) ==
              "cannot write report to a stream: the window only counted, so there are no stacks;"
              " text, JSON and HTML have its totals");
        CHECK(refusal(one.name, of_no_window) ==
              "cannot write report to a stream: this snapshot comes from no window");
        const temporary_path there{one.ending};
        std::string error;
        CHECK_FALSE(allocscope::write(rows, there.path, error));
        CHECK_FALSE(there.exists());
    }
}

TEST_CASE("formats: numbers below 0 are written where the format can, else refused") {
    for (const char* format : {"text", "html", "json", "csv", "snapshot", "pprof"}) {
        CAPTURE(format);
        CHECK(refusal(format, shrunken()).empty());
    }
    for (const char* format : {"folded", "speedscope", "dhat", "massif", "callgrind"}) {
        CAPTURE(format);
        CHECK(refusal(format, shrunken()).find("numbers below 0") != std::string::npos);
    }
    CHECK(refusal("heaptrack", shrunken()).find("a difference has none") != std::string::npos);
    // What has only grown is a profile like any other.
    info_text about;
    about.is_difference = true;
    CHECK(refusal("folded", made_window(small_stacks(), about)).empty());
}

TEST_CASE("formats: heaptrack's events are no estimates") {
    info_text about;
    about.record = allocscope::recording::sampled;
    about.sample_bytes = 4096;
    const auto rows = made_window(small_stacks(), about);
    CHECK(refusal("heaptrack", rows).find("a sampled window has estimates only") !=
          std::string::npos);
    for (const char* format :
         {"text", "json", "csv", "pprof", "folded", "speedscope", "dhat", "massif", "callgrind"}) {
        CAPTURE(format);
        CHECK(refusal(format, rows).empty());
    }
}

TEST_CASE("formats: more than 100 million events are refused by heaptrack alone") {
    std::vector<stack_text> stacks = small_stacks();
    stacks[0].allocations = 100000000;
    stacks[0].bytes_allocated = 1600000000;
    const auto rows = made_window(stacks);
    CHECK(refusal("heaptrack", rows).find("100 million") != std::string::npos);
    CHECK(refusal("massif", rows).empty());
}

TEST_CASE("formats: more objects than were allocated make no endless list of events") {
    std::vector<stack_text> stacks = small_stacks();
    stacks[0].allocations = stacks[0].bytes_allocated = 0;
    stacks[0].objects = 3;
    stacks[0].bytes = 48;
    const auto rows = made_window(stacks);
    CHECK(refusal("heaptrack", rows).empty());
    CHECK(written("heaptrack", rows).size() < 2000);
    stacks[0].objects = std::uint64_t{1} << 63U;
    stacks[1].objects = std::uint64_t{1} << 63U;  // their sum is 0
    CHECK(refusal("heaptrack", made_window(stacks)).find("100 million") != std::string::npos);
}

TEST_CASE("formats: hostile names stay text, on their line, in valid UTF-8") {
    info_text about;
    about.name = "win\n\"dow\x1b";
    about.command = "prog --x \"y\" \n # z";
    about.losses.push_back({"was \"lost\"\n", 1});
    const std::size_t lines_when_tame = [] {
        info_text tame;
        tame.losses.push_back({"was lost", 1});
        std::vector<stack_text> stacks = hostile_stacks();
        for (std::size_t i = 0; i < stacks.size(); ++i) {
            stacks[i].frames[0].function = stacks[i].function = "f" + std::to_string(i);
            stacks[i].frames[0].file = stacks[i].file = "/f" + std::to_string(i);
        }
        const std::string text = written("folded", made_window(stacks, tame));
        return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }();
    const auto rows = made_window(hostile_stacks(), about);
    for (const auto& one : file_formats) {
        CAPTURE(one.name);
        if (!one.is_text) continue;
        const std::string text = written(one.name, rows);
        for (const char c : text) {
            const bool is_line_end = c == '\n' || (c == '\r' && std::string(one.name) == "csv");
            CHECK_FALSE((static_cast<unsigned char>(c) < 0x20 && !is_line_end));
        }
        CHECK(text.find('\xff') == std::string::npos);
        CHECK(text.find("\xe2\x80\xae") == std::string::npos);
        CHECK(text.find(std::string(1000, 'x')) != std::string::npos);
    }
    const std::string folded = written("folded", rows);
    CHECK(static_cast<std::size_t>(std::count(folded.begin(), folded.end(), '\n')) ==
          lines_when_tame);
    CHECK(folded.find("semi:colon, comma 10\n") != std::string::npos);
    CHECK(written("massif", rows).find("lambda()@1}") != std::string::npos);
    CHECK(inflated(written("pprof", rows)).find("quote\"d") != std::string::npos);
}

TEST_CASE("formats: a window without a stack is written, with nothing in it") {
    info_text about;
    about.stacks.clear();
    const auto rows = made_snapshot({}, about);
    for (const auto& one : file_formats) {
        CAPTURE(one.name);
        CHECK(refusal(one.name, rows).empty());
    }
    CHECK(written("folded", rows).empty());
}

TEST_CASE("formats: a stack without frames keeps its numbers") {
    const auto rows = made_window({made_stack({}, 3, 30, 2, 20)});
    CHECK(written("folded", rows) == "? 20\n");
    CHECK(written("callgrind", rows).find("fn=(1) ?\n0 20 2 30 3\n") != std::string::npos);
    CHECK(written("dhat", rows).find("\"fs\": [1]") != std::string::npos);
    CHECK(written("massif", rows).find("mem_heap_B=20\n") != std::string::npos);
    CHECK(written("heaptrack", rows).find("a a 0\n+ 0\n+ 0\n") == std::string::npos);
}
