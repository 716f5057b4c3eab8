// The text formats, letter by letter, for three small stacks.
#include <allocscope/grouping/filter_stacks.hpp>
#include <allocscope/report/text_tree.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "made_stacks.hpp"

using namespace allocscope_tests;

namespace {

// Without the lines that begin with one of the words.
std::string without(std::string text, const std::vector<std::string>& words) {
    std::string kept;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        bool is_kept = true;
        for (const std::string& word : words)
            is_kept = is_kept && line.compare(0, word.size(), word) != 0;
        if (is_kept) kept += line + '\n';
    }
    return kept;
}

}  // namespace

TEST_CASE("folded: outermost first, and the number that was asked for") {
    const auto rows = made_window(small_stacks());
    CHECK(written("folded", rows) == "main;load() 400\nmain;parse(int) 70\n");
    const auto with = [&rows](allocscope::stack_value value) {
        std::ostringstream out;
        allocscope::write_folded(rows, out, value);
        return out.str();
    };
    CHECK(with(allocscope::stack_value::live_objects) == "main;load() 4\nmain;parse(int) 3\n");
    CHECK(with(allocscope::stack_value::bytes_allocated) ==
          "main;load() 1000\nmain;parse(int) 70\nmain;load();parse(int) 50\n");
    CHECK(with(allocscope::stack_value::allocations) ==
          "main;load() 10\nmain;parse(int) 3\nmain;load();parse(int) 5\n");
}

TEST_CASE("folded: a frame without a symbol is its module with the offset") {
    frame_text nameless = made_frame("", "", 0, 0x1abc);
    frame_text nowhere = nameless;
    nowhere.module = "";
    nowhere.offset = 0;
    CHECK(written("folded", made_window({made_stack({nameless, nowhere}, 1, 8, 1, 8)})) ==
          "?;prog+0xabc 8\n");
}

TEST_CASE("csv: rows, then what was freed, with every number") {
    auto stacks = small_stacks();
    stacks[1].type = "std::pair<int, \"x\">";
    stacks[1].type_source = "source";
    stacks[2].line = 0;
    stacks[2].offset = 77;
    CHECK(written("csv", made_window(stacks)) ==
          "file,line,offset,type,function,objects,bytes,allocations,bytes_allocated,sites,samples,"
          "objects_low,objects_high,bytes_low,bytes_high,type_source,"
          "peak_objects,peak_bytes,temporary,lifetime_us\r\n"
          "/src/load.cpp,20,,?,load(),4,400,10,1000,1,0,4,4,400,400,,,,,\r\n"
          "/src/parse.cpp,30,,\"std::pair<int, "
          "\"\"x\"\">\",parse(int),3,70,3,70,1,0,3,3,70,70,source,,,,\r\n"
          "/src/parse.cpp,,77,?,parse(int),0,0,5,50,1,0,0,0,0,0,,,,,\r\n");
}

TEST_CASE("csv: a name that a spreadsheet would take for a formula has a ' in front") {
    auto stacks = small_stacks();
    stacks[0].function = "=cmd|' /C calc'!A0";
    stacks[0].type = "@SUM(1,2)";
    stacks[1].function = "-[Window close]";
    stacks[1].file = "+1";
    const std::string text = written("csv", made_window(stacks));
    CHECK(text.find(",\"'@SUM(1,2)\",'=cmd|' /C calc'!A0,") != std::string::npos);
    CHECK(text.find("\n'+1,30,,?,'-[Window close],") != std::string::npos);
}

TEST_CASE("csv: what a difference has less is negative") {
    auto stacks = small_stacks();
    stacks[0].objects = static_cast<std::uint64_t>(-4);
    stacks[0].bytes = static_cast<std::uint64_t>(-400);
    info_text about;
    about.is_difference = true;
    CHECK(written("csv", made_window(stacks, about)).find("load(),-4,-400,10,1000,") !=
          std::string::npos);
}

TEST_CASE("callgrind: own costs by line, calls with what is behind them, all together") {
    CHECK(
        without(written("callgrind", made_window(small_stacks())), {"desc", "creator", "event:"}) ==
        "# callgrind format\n"
        "version: 1\n"
        "cmd: window\n"
        "positions: line\n"
        "events: LiveBytes LiveObjects AllocBytes Allocs\n"
        "\n"
        "fl=(2) /src/main.cpp\n"
        "fn=(1) main\n"
        "cfi=(4) /src/load.cpp\n"
        "cfn=(3) load()\n"
        "calls=15 0\n"
        "3 400 4 1050 15\n"
        "cfi=(6) /src/parse.cpp\n"
        "cfn=(5) parse(int)\n"
        "calls=3 0\n"
        "4 70 3 70 3\n"
        "\n"
        "fl=(4)\n"
        "fn=(3)\n"
        "20 400 4 1000 10\n"
        "cfi=(6)\n"
        "cfn=(5)\n"
        "calls=5 0\n"
        "20 0 0 50 5\n"
        "\n"
        "fl=(6)\n"
        "fn=(5)\n"
        "30 70 3 120 8\n"
        "\n"
        "totals: 470 7 1120 18\n");
}

TEST_CASE("callgrind: a function that is entered again is no call, nor what leads there") {
    const frame_text main = made_frame("main", "/m", 1, 1);
    const frame_text even = made_frame("even()", "/m", 2, 2);
    const frame_text odd = made_frame("odd()", "/m", 3, 3);
    const std::string text =
        written("callgrind", made_window({made_stack({odd, even, odd, even, main}, 1, 8, 1, 8)}));
    CHECK(text.find("cfn=(4) odd()\ncalls=1 0\n2 8 1 8 1\n") != std::string::npos);
    CHECK(text.find("calls=1 0\n3 ") == std::string::npos);  // no call in line 3: odd calls even
    std::size_t calls = 0;
    for (std::size_t at = text.find("calls="); at != std::string::npos;
         at = text.find("calls=", at + 1)) {
        ++calls;
    }
    CHECK(calls == 2);
}

TEST_CASE("massif: the window begins empty and ends with the tree of callers") {
    info_text about;
    about.duration_ns = 5000000;
    about.command = "prog -x";
    CHECK(without(written("massif", made_window(small_stacks(), about)), {"desc"}) ==
          "cmd: prog -x\n"
          "time_unit: ms\n"
          "#-----------\nsnapshot=0\n#-----------\n"
          "time=0\nmem_heap_B=0\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n"
          "#-----------\nsnapshot=1\n#-----------\n"
          "time=5\nmem_heap_B=470\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=detailed\n"
          "n2: 470 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
          " n1: 400 0x1020: load() (/src/load.cpp:20)\n"
          "  n0: 400 0x1003: main (/src/main.cpp:3)\n"
          " n1: 70 0x1030: parse(int) (/src/parse.cpp:30)\n"
          "  n0: 70 0x1004: main (/src/main.cpp:4)\n");
}

TEST_CASE("massif: moments before the end are points of the graph") {
    info_text about;
    about.duration_ns = 5000000;
    about.moments = {{1000000, 1, 11, 1, 11, ""},
                     {2500000, 2, 22, 2, 22, "loaded"},
                     {5000000, 7, 470, 9, 999, ""}};
    const std::string text = written("massif", made_window(small_stacks(), about));
    CHECK(text.find("snapshot=1\n#-----------\ntime=1\nmem_heap_B=11\n") != std::string::npos);
    CHECK(text.find("snapshot=2\n#-----------\ntime=2\nmem_heap_B=22\n") != std::string::npos);
    CHECK(text.find("snapshot=3\n#-----------\ntime=5\nmem_heap_B=470\n") != std::string::npos);
    CHECK(text.find("snapshot=4") == std::string::npos);
}

TEST_CASE("massif: callers of less than a thousandth are summed") {
    std::vector<stack_text> stacks;
    for (int i = 0; i < 4; ++i) {
        stacks.push_back(made_stack({made_frame("f" + std::to_string(i), "/f", i + 1)}, 1,
                                    i == 0 ? 10000 : 3, 1, i == 0 ? 10000 : 3));
    }
    const std::string text = written("massif", made_window(stacks));
    CHECK(text.find("\nn2: 10009 (heap") != std::string::npos);
    CHECK(text.find("\n n0: 9 in 3 places, all below massif's threshold (0.10%)\n") !=
          std::string::npos);
    stacks.resize(2);
    CHECK(written("massif", made_window(stacks))
              .find("\n n0: 3 in 1 place, below massif's threshold (0.10%)\n") !=
          std::string::npos);
}

TEST_CASE("heaptrack: births and deaths that add up, none of them temporary") {
    info_text about;
    about.duration_ns = 0x20000000;
    about.command = "prog -x";
    const frame_text main = made_frame("main", "/m.cpp", 3, 0x1003);
    const frame_text inlined = made_frame("get()", "/g.hpp", 9, 0x1020, true);
    const frame_text outer = made_frame("load()", "/l.cpp", 20, 0x1020);
    const auto rows = made_window(
        {made_stack({inlined, outer, main}, 5, 41, 2, 11), made_stack({main}, 1, 16, 0, 0)}, about);
    CHECK(without(written("heaptrack", rows), {"#"}) ==
          "v 10400 3\n"
          "X prog -x\n"
          "I 1000 0\n"
          "c 0\n"
          "s 9 /bin/prog\n"
          "s 4 main\n"
          "s 6 /m.cpp\n"
          "i 1003 1 2 3 3\n"
          "t 1 0\n"
          "s 5 get()\n"
          "s 6 /g.hpp\n"
          "s 6 load()\n"
          "s 6 /l.cpp\n"
          "i 1020 1 4 5 9 6 7 14\n"
          "t 2 1\n"
          "a a 2\n"  // three of 10 bytes were freed
          "a a 2\n"
          "+ 0\n+ 1\n- 0\n+ 0\n- 1\n"
          "a 10 1\n"
          "+ 2\n- 0\n"
          "a 6 2\n"  // of 11 bytes alive one object has 6, the other 5
          "+ 3\n- 2\n"
          "a 5 2\n"
          "+ 4\n"
          "c 218\n");
}

TEST_CASE("every format with a place for it says that it shows a part, and in which order") {
    info_text about;
    about.window = 1;
    about.duration_ns = 2000;
    const allocscope::snapshot whole = made_window(small_stacks(), about);
    const char* const part = "filtered: the stacks are a part, the totals are those of the whole";
    for (const char* format : {"massif", "callgrind", "heaptrack"}) {
        CAPTURE(format);
        CHECK(written(format, whole).find("filtered") == std::string::npos);
        const std::string filtered = written(format, whole.filter({}));
        CHECK(filtered.find(part) != std::string::npos);
        CHECK(filtered.find("are in the totals alone") == std::string::npos);
    }
    CHECK(written("text", whole).find("filtered") == std::string::npos);
    CHECK(written("text", whole.filter({})).find("filtered: the rows are a part") !=
          std::string::npos);
    CHECK(written("json", whole).find("is_filtered") == std::string::npos);
    CHECK(written("json", whole.filter({})).find("\"is_filtered\": true") != std::string::npos);
    about.duration_ns = 3000;
    const allocscope::snapshot later = made_window({}, about);
    CHECK(written("json", later.difference_from(whole)).find("is_backwards") == std::string::npos);
    CHECK(written("json", whole.difference_from(later)).find("\"is_backwards\": true") !=
          std::string::npos);
    CHECK(written("massif", whole.difference_from(later)).find("more than a later one") !=
          std::string::npos);
}

TEST_CASE("tree: where there is little room, names are shown rather than places") {
    const frame_text frame = made_frame("read_configuration", "/src/configuration_reader.cpp", 20);
    const allocscope::snapshot rows = made_window({made_stack({frame}, 3, 30, 1, 10)});
    allocscope::text_options wanted;
    wanted.width = 120;
    CHECK(allocscope::to_tree(rows, allocscope::tree_from::main, {}, wanted)
              .find("read_configuration  configuration_reader.cpp:20\n") != std::string::npos);
    wanted.width = 75;
    CHECK(allocscope::to_tree(rows, allocscope::tree_from::main, {}, wanted)
              .find("read_configuration\n") != std::string::npos);
}
