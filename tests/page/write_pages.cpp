// Writes one page of each kind into a folder, for the browser of browser_test.py, and beside each
// page NAME.html the rows of the same snapshot, NAME.json:
//
//     write_pages FOLDER [STACKS]      STACKS: how many the page "large" has
#include "../support/made_snapshot.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace allocscope_tests;

static std::string folder;

static void write_both(const char* name, const allocscope::snapshot& shown) {
    allocscope::write_html(shown, (folder + "/" + name + ".html").c_str());
    allocscope::write_json(shown, (folder + "/" + name + ".json").c_str());
}

// --- what a window has recorded ---

struct node {
    std::string name;
    std::vector<int> numbers;
};

__attribute__((noinline)) static std::unique_ptr<node> make_node(std::size_t size) {
    auto made = std::make_unique<node>();
    made->name.assign(40 + size, 'n');
    made->numbers.resize(size);
    return made;
}

__attribute__((noinline)) static void parse(std::vector<std::unique_ptr<node>>& all) {
    for (std::size_t i = 0; i < 300; ++i) all.push_back(make_node(i % 7 + 1));
}

__attribute__((noinline)) static void index(std::vector<std::string>& words) {
    for (int i = 0; i < 200; ++i) words.emplace_back(30, 'w');
    for (int i = 0; i < 500; ++i) std::string(100, 'x').swap(words[0]);
}

static void write_real() {
    allocscope::scope window{"real"};
    std::vector<std::unique_ptr<node>> all;
    std::vector<std::string> words;
    parse(all);
    const allocscope::snapshot earlier = window.stats();
    index(words);
    all.resize(100);
    const allocscope::snapshot later = window.stats();
    write_both("real", later);
    write_both("real_difference", later.difference_from(earlier));
}

// What two threads have done: one is there twice, one has come.
static void write_whole_difference() {
    allocscope::options wanted;
    wanted.details = true;
    allocscope::scope window{"two threads", wanted};
    std::vector<std::unique_ptr<node>> all;
    std::vector<std::string> words;
    parse(all);
    const allocscope::snapshot earlier = window.stats();
    std::thread([&words] { index(words); }).join();
    all.resize(100);
    write_both("whole_difference", allocscope::difference(window.stats(), earlier));
}

// --- made by hand ---

static frame_text frame(std::string function, std::string file, int line,
                        std::string module = "/opt/app/app") {
    frame_text made;
    made.function = std::move(function);
    made.file = std::move(file);
    made.line = line;
    made.module = std::move(module);
    made.offset = 0x1000 + static_cast<std::uint64_t>(line);
    return made;
}

static stack_text stack(std::uint64_t objects, std::uint64_t bytes, std::uint64_t allocations,
                        std::uint64_t bytes_allocated, std::string type,
                        std::vector<frame_text> frames, std::size_t user) {
    stack_text made;
    made.objects = objects;
    made.bytes = bytes;
    made.allocations = allocations;
    made.bytes_allocated = bytes_allocated;
    made.type = std::move(type);
    made.file = frames[user].file;
    made.line = frames[user].line;
    made.function = frames[user].function;
    made.frames = std::move(frames);
    made.user_frame = user;
    return made;
}

// A row for each stack, and totals that agree.
static allocscope::snapshot snapshot_of(info_text about) {
    std::vector<row_text> rows;
    for (const stack_text& each : about.stacks) {
        if (each.objects != 0) rows.push_back(each);
        about.totals.allocations += each.allocations;
        about.totals.bytes_allocated += each.bytes_allocated;
        about.totals.frees += each.allocations - each.objects;
        about.totals.bytes_freed += each.bytes_allocated - each.bytes;
    }
    return made_snapshot(rows, about);
}

static std::vector<stack_text> stacks_by_hand() {
    const frame_text start = frame("", "", 0, "/lib/libc.so.6");
    const frame_text main = frame("main", "/src/main.cpp", 10);
    const frame_text run = frame("app::run(int)", "/src/run.cpp", 20);
    const frame_text load = frame("app::load(std::string const&)", "/src/load.cpp", 30);
    const frame_text library = frame("void std::vector<int>::push_back(int&&)",
                                     "/usr/include/c++/12/bits/stl_vector.h", 99);
    const frame_text make = frame("app::(anonymous namespace)::make<char>()", "/src/make.cpp", 40);
    return {stack(10, 1000, 12, 1200, "app::node", {make, load, run, main, start}, 0),
            stack(5, 3000, 5, 3000, "int", {library, load, run, main, start}, 1),
            stack(1, 96, 40, 3840, "std::string", {make, run, main, start}, 0),
            stack(0, 0, 100, 6400, "char", {library, run, main, start}, 1)};
}

static info_text about(std::string name) {
    info_text made;
    made.name = std::move(name);
    made.duration_ns = 1500000000;
    made.process_id = 4711;
    made.taken_unix_ns = 1700000000000000000;
    made.command = "app --fast";
    return made;
}

static void write_hostile() {
    const std::vector<std::string> names = {
        "</script><script>document.title='taken'</script>",
        "<img src=x onerror=\"document.title='taken'\">",
        "--><!--<script>",
        "&lt;b&gt; &amp; \"quoted\" 'single'",
        "\xe2\x80\xa8line\xe2\x80\xa9separators",
        "\xff\xfe not \xc3 UTF-8 \xed\xa0\x80",
        "\x1b[31mred\x07 \\ \\u003c",
        "__proto__",
        "\xe2\x80\xaeright to left",
        "]]></noscript></style></title>",
        "</script there is no need of a bracket",
        "<!--<script and here neither",
    };
    info_text made = about(names[0]);
    made.command = names[1];
    made.losses = {{names[0], 3}, {names[5], 4}};
    made.not_recording = names[2];
    made.moments = {{0, 0, 0, 0, 0, names[0]}, {1000, 5, 500, 6, 600, names[1]}};
    for (std::size_t i = 0; i < names.size(); ++i) {
        made.stacks.push_back(
            stack(1 + i, 100 * (1 + i), 20, 4000, names[i],
                  {frame(names[i] + "()", names[i], static_cast<int>(i) + 1, names[i]),
                   frame("main", "/src/main.cpp", 1)},
                  0));
    }
    write_both("hostile", snapshot_of(made));
}

static std::uint64_t minus(std::uint64_t number) {
    return std::uint64_t{0} - number;
}

static void write_difference() {
    info_text made = about("before and after");
    made.is_difference = true;
    made.is_of_two_windows = true;
    made.stacks = stacks_by_hand();
    made.stacks[1].objects = minus(4);
    made.stacks[1].bytes = minus(2500);
    made.stacks[1].allocations = minus(1);
    made.stacks[1].bytes_allocated = minus(100);
    write_both("difference", snapshot_of(made));
}

static void write_sampled() {
    info_text made = about("sampled");
    made.record = allocscope::recording::sampled;
    made.sample_bytes = 4096;
    made.samples = 7;
    made.stacks = stacks_by_hand();
    for (stack_text& each : made.stacks) {
        each.samples = 2;
        each.objects_low = each.objects / 2;
        each.objects_high = each.objects * 3;
        each.bytes_low = each.bytes / 2;
        each.bytes_high = each.bytes * 3;
    }
    made.estimates.live_objects = {16, 8, 48};
    made.estimates.live_bytes = {4096, 2048, 12288};
    made.estimates.allocations = {157, 100, 200};
    made.estimates.bytes_allocated = {14440, 10000, 20000};
    write_both("sampled", snapshot_of(made));
}

// All that was alive is gone, or nothing: its interval ends at 0.
static void write_sampled_difference() {
    info_text made = about("sampled difference");
    made.record = allocscope::recording::sampled;
    made.is_difference = true;
    made.stacks = stacks_by_hand();
    for (stack_text& each : made.stacks) {
        each.samples = 1;
        each.objects_low = minus(each.objects * 2);
        each.bytes_low = minus(each.bytes * 2);
        each.objects = minus(each.objects);
        each.bytes = minus(each.bytes);
    }
    write_both("sampled_difference", snapshot_of(made));
}

// A part of a stack, with what was alive at the peak, how many were temporary, and their lives.
static allocscope::snapshot::thread_part part(std::size_t thread, std::uint64_t objects,
                                              std::uint64_t bytes, std::uint64_t allocations,
                                              std::uint64_t bytes_allocated,
                                              const allocscope::snapshot::stack_details& details) {
    allocscope::snapshot::thread_part made{};
    made.thread = thread;
    made.objects = objects;
    made.bytes = bytes;
    made.allocations = allocations;
    made.bytes_allocated = bytes_allocated;
    made.details = &details;
    return made;
}

static void write_threads() {
    info_text made = about("threads");
    made.has_details = true;
    made.threads = {{1, "main", 4711}, {2, "worker", 4711}};
    made.ages = {{2'000'000'000, 90'000'000'000}, {0, 2'000'000'000}};
    made.stacks = stacks_by_hand();
    const allocscope::snapshot::stack_details of_main{3, 300, 1, 5000, {}};
    const allocscope::snapshot::stack_details of_worker{9, 900, 2, 31000, {}};
    const allocscope::snapshot::stack_details of_both{12, 1200, 3, 36000, {}};
    made.stacks[0].details = {of_both};
    made.stacks[0].by_thread = {part(0, 4, 400, 5, 500, of_main),
                                part(1, 6, 600, 7, 700, of_worker)};
    made.stacks[0].by_thread[1].age = 1;
    for (std::size_t i = 1; i < made.stacks.size(); ++i) {
        stack_text& each = made.stacks[i];
        each.details = {of_main};
        each.by_thread = {
            part(i % 2, each.objects, each.bytes, each.allocations, each.bytes_allocated, of_main)};
    }
    write_both("threads", snapshot_of(made));
}

static void write_others() {
    info_text plain = about("by hand");
    plain.stacks = stacks_by_hand();
    plain.own_memory_bytes = 65536;
    const allocscope::snapshot by_hand = snapshot_of(plain);
    write_both("by_hand", by_hand);
    allocscope::stack_filter wanted;
    wanted.type = "int";
    write_both("filtered", by_hand.filter(wanted));
    wanted.type = "no such type";
    write_both("filtered_away", by_hand.filter(wanted));

    // Folders of the user that are called as some of the C library's.
    info_text folders = about("folders");
    folders.stacks = {
        stack(10, 640, 10, 640, "app::node",
              {frame("__printf_chk", "/usr/include/x86_64-linux-gnu/bits/stdio2.h", 4),
               frame("app::plugin", "/src/ext/plugin.cpp", 5),
               frame("app::flags", "/src/bits/flags.cpp", 6), frame("main", "/src/main.cpp", 7)},
              1)};
    write_both("folders", snapshot_of(folders));

    info_text pool = about("pool");
    pool.stacks = {
        stack(10, 640, 10, 640, "app::node",
              {frame("pool::take", "/src/pool.cpp", 5), frame("app::work", "/src/work.cpp", 6),
               frame("main", "/src/main.cpp", 7)},
              1)};
    write_both("pool", snapshot_of(pool));

    info_text series = about("series");
    series.stacks = stacks_by_hand();
    for (std::uint64_t i = 0; i < 200; ++i) {
        series.moments.push_back({i * 10000000, i % 50 * 10, i % 50 * 4096, i * 20, i * 8192,
                                  i == 60    ? "loaded"
                                  : i == 150 ? "request 2"
                                             : ""});
    }
    series.losses = {{"allocations came while the tables were full", 12}};
    series.uncertain_objects = 1;
    series.uncertain_bytes = 2048;
    allocscope::memory_use memory;
    memory.at_ns = 2000;
    memory.swapped_bytes = 4096;
    memory[allocscope::memory_part::recorded] = 3 << 20U;
    memory[allocscope::memory_part::free_blocks] = 1 << 20U;
    memory.resident_bytes = 4 << 20U;
    series.memory = &memory;
    write_both("series", snapshot_of(series));

    write_both("empty", snapshot_of(about("nothing")));
    write_both("of_no_window", allocscope::snapshot{});

    info_text counters = about("counters");
    counters.record = allocscope::recording::counters;
    counters.totals.allocations = 50;
    counters.totals.bytes_allocated = 5000;
    write_both("counters", made_snapshot({}, counters));

    // Rows whose stacks could not be had.
    const std::vector<stack_text> stacks = stacks_by_hand();
    write_both("rows_alone", made_snapshot({stacks[0], stacks[1]}, about("rows alone")));
}

// --- many ---

// The same numbers on each machine.
static std::uint64_t dice(std::uint64_t sides) {
    static std::uint64_t state = 1;
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33U) % sides;
}

// A program of 3000 functions, each of which calls a few others; stacks are walks through it. They
// share their texts, as those of a window do.
static void write_large(std::size_t count) {
    using allocscope::snapshot;
    std::vector<std::string> texts;
    texts.reserve(10000);
    const auto kept = [&texts](std::string text) {
        texts.push_back(std::move(text));
        return texts.back().c_str();
    };
    std::vector<snapshot::frame> functions;
    for (int i = 0; i < 3000; ++i) {
        const std::string space = i % 5 == 0 ? "std" : i % 5 == 1 ? "net" : "app";
        const std::string part = "part_" + std::to_string(i % 40);
        functions.push_back(
            {kept(space + "::" + part + "::function_" + std::to_string(i) + "(int, char const*)"),
             kept("/src/" + space + "/" + part + ".cpp"), i + 1, 0, false, 0, "/opt/app/app", 0});
    }
    std::vector<const char*> types;
    for (int i = 0; i < 400; ++i) types.push_back(kept("app::type_" + std::to_string(i)));

    std::vector<snapshot::frame> frames;
    frames.reserve(count * 24);
    std::vector<snapshot::stack> stacks;
    for (std::size_t i = 0; i < count; ++i) {
        snapshot::stack made{};
        made.type_source = "";
        made.frame_count = 8 + dice(16);
        frames.resize(frames.size() + made.frame_count);
        std::uint64_t at = 0;
        for (std::size_t level = 0; level < made.frame_count; ++level) {
            frames[frames.size() - 1 - level] = functions[at];
            at = (at * 7 + 1 + dice(3)) % functions.size();
        }
        made.frames = &frames[frames.size() - made.frame_count];
        const std::uint64_t size = 16 + dice(20) * dice(200);
        made.objects = dice(50);
        made.bytes = made.objects * size;
        made.allocations = made.objects + 10;
        made.bytes_allocated = made.allocations * size;
        made.file = made.frames[0].file;
        made.line = made.frames[0].line;
        made.function = made.frames[0].function;
        made.type = types[(static_cast<std::uint64_t>(made.line) * 3 + dice(3)) % types.size()];
        stacks.push_back(made);
    }
    const allocscope::detail::stack_table table{stacks.data(), stacks.size(), nullptr, 0};
    allocscope::detail::snapshot_block block;
    block.set_stacks(table);
    snapshot::window_info info{};
    info.name = "large";
    info.not_recording = info.command = "";
    const snapshot shown{block.finish(info)};
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t cpu_begin = std::clock();
    allocscope::write_html(shown, (folder + "/large.html").c_str());
    const auto taken = std::chrono::steady_clock::now() - begin;
    const std::clock_t cpu_taken = std::clock() - cpu_begin;
    std::printf("%zu stacks written in %lld ms, %lld ms of them computing\n", count,
                static_cast<long long>(
                    std::chrono::duration_cast<std::chrono::milliseconds>(taken).count()),
                static_cast<long long>(cpu_taken) * 1000 / CLOCKS_PER_SEC);
}

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    folder = argv[1];
    write_real();
    write_hostile();
    write_difference();
    write_whole_difference();
    write_sampled();
    write_sampled_difference();
    write_threads();
    write_others();
    if (argc > 2) write_large(static_cast<std::size_t>(std::atoll(argv[2])));
    return 0;
}
