#include <allocscope/snapshot/print_rows.hpp>

#include <doctest/doctest.h>

#include <iomanip>
#include <locale>
#include <sstream>
#include <string>

#include "support/made_snapshot.hpp"

using allocscope::snapshot;
using allocscope_tests::info_text;
using allocscope_tests::made_row;
using allocscope_tests::made_snapshot;

namespace {

std::string printed(const snapshot& rows) {
    std::ostringstream out;
    out << rows;
    return out.str();
}

constexpr auto minus = [](std::uint64_t number) { return std::uint64_t{0} - number; };

info_text sampled_window() {
    info_text about;
    about.record = allocscope::recording::sampled;
    return about;
}

struct grouped_digits : std::numpunct<char> {
    char do_thousands_sep() const override { return '\''; }
    std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("print_rows: a row is the number in seven columns, file, line and type") {
    CHECK(printed(made_snapshot({made_row(1000, 1, "quick_start.cpp", 9, "std::string"),
                                 made_row(1, 8, "quick_start.cpp", 9, "std::string*")})) ==
          "   1000 quick_start.cpp:9:std::string\n"
          "      1 quick_start.cpp:9:std::string*\n");
}

TEST_CASE("print_rows: a number of more than seven digits pushes its row to the right") {
    CHECK(printed(made_snapshot({made_row(123456789, 1, "a.cpp", 1, "int")})) ==
          "123456789 a.cpp:1:int\n");
}

TEST_CASE("print_rows: nothing alive in a recorded window prints nothing") {
    CHECK(printed(made_snapshot({})) == "");
}

TEST_CASE("print_rows: a snapshot that recorded nothing says so") {
    CHECK(printed(snapshot{}) == "allocscope: this snapshot comes from no window\n");
    info_text about;
    about.not_recording = "nothing is being recorded: operator new is not replaced";
    CHECK(printed(made_snapshot({}, about)) ==
          "allocscope: nothing is being recorded: operator new is not replaced\n");
}

TEST_CASE("print_rows: without memory for the rows, what was counted is said all the same") {
    info_text about;
    about.not_recording = "memory for the rows was refused";
    about.totals = {10, 8, 100, 60, 100};
    about.duration_ns = 1;
    CHECK(printed(made_snapshot({}, about)) ==
          "allocscope: memory for the rows was refused\n"
          "allocscope: 2 objects with 40 bytes are alive\n");
    about.record = allocscope::recording::counters;
    CHECK(printed(made_snapshot({}, about)) ==
          "allocscope: memory for the rows was refused\n"
          "allocscope: 2 objects with 40 bytes are alive; a window that records counters only has "
          "no rows\n");
    about.record = allocscope::recording::sampled;
    CHECK(printed(made_snapshot({}, about)) ==
          "allocscope: memory for the rows was refused\n"
          "allocscope: ~2 objects with ~40 bytes are alive\n");
    about.totals = {};
    CHECK(printed(made_snapshot({}, about)) ==
          "allocscope: memory for the rows was refused\n"
          "allocscope: ~0 objects with ~0 bytes are alive\n");
}

TEST_CASE("print_rows: what was lost follows the rows, one line for each reason") {
    info_text about;
    about.losses = {{"stacks were cut", 3}, {allocscope::detail::words_of_losses[0].sentence, 1}};
    CHECK(printed(made_snapshot({made_row(2, 2, "a.cpp", 1, "int")}, about)) ==
          "      2 a.cpp:1:int\n"
          "allocscope: 3 stacks were cut\n"
          "allocscope: 1 allocation was not recorded: memory for its record was refused\n");
    CHECK(printed(made_snapshot({}, about)) != "");
}

TEST_CASE("print_rows: a window of counters that leaks does not look like one that does not") {
    info_text about;
    about.record = allocscope::recording::counters;
    about.totals = {10, 8, 100, 60, 0};
    CHECK(printed(made_snapshot({}, about)) ==
          "allocscope: 2 objects with 40 bytes are alive; a window that records counters only has "
          "no rows\n");
    about.totals = {10, 9, 100, 99, 0};
    CHECK(printed(made_snapshot({}, about)) ==
          "allocscope: 1 object with 1 byte is alive; a window that records counters only has "
          "no rows\n");
    about.totals = {10, 10, 100, 100, 0};
    CHECK(printed(made_snapshot({}, about)) == "");
}

TEST_CASE("print_rows: estimates carry a mark, their samples and their interval") {
    auto row = made_row(2050, 2099201, "parser.cpp", 12, "node");
    row.samples = 4;
    row.objects_low = 797;
    row.objects_high = 5268;
    CHECK(printed(made_snapshot({row}, sampled_window())) ==
          "  ~2050 parser.cpp:12:node  (4 samples: few; 95%: 797..5268)\n");
    row.samples = 40;
    row.objects_low = 1500;
    row.objects_high = 2800;
    CHECK(printed(made_snapshot({row}, sampled_window())) ==
          "  ~2050 parser.cpp:12:node  (40 samples; 95%: 1500..2800)\n");
    info_text exact;
    CHECK(printed(made_snapshot({row}, exact)) == "   2050 parser.cpp:12:node\n");
}

TEST_CASE("print_rows: one sample of a large object is enough") {
    auto row = made_row(1, 1U << 30U, "a.cpp", 1, "char");
    row.samples = 1;
    row.objects_low = 1;
    row.objects_high = 1;
    CHECK(printed(made_snapshot({row}, sampled_window())) ==
          "     ~1 a.cpp:1:char  (1 sample; 95%: 1..1)\n");
    row.objects_high = 6;
    CHECK(printed(made_snapshot({row}, sampled_window())) ==
          "     ~1 a.cpp:1:char  (1 sample: few; 95%: 1..6)\n");
}

TEST_CASE("print_rows: a difference of estimates has signs in its interval too") {
    auto before = made_row(2000, 20, "a.cpp", 1, "int");
    before.samples = 4;
    before.objects_low = 1000;
    before.objects_high = 4000;
    auto after = made_row(1000, 10, "a.cpp", 1, "int");
    after.samples = 2;
    after.objects_low = 1000;
    after.objects_high = 1000;
    CHECK(printed(made_snapshot({after}, sampled_window())
                      .difference_from(made_snapshot({before}, sampled_window()))) ==
          " ~-1000 a.cpp:1:int  (6 samples: few; 95%: -3000..0)\n");
}

TEST_CASE("print_rows: that nothing alive was sampled is not that nothing is alive") {
    info_text about = sampled_window();
    about.estimates.live_bytes.high = 2014031;
    CHECK(printed(made_snapshot({}, about)) ==
          "allocscope: no sample is alive: up to 2014031 bytes may be alive (95%)\n");
    about.estimates.live_bytes.high = 0;  // every byte was sampled
    CHECK(printed(made_snapshot({}, about)) == "");
}

TEST_CASE("print_rows: a difference is signed") {
    info_text about;
    about.is_difference = true;
    CHECK(printed(made_snapshot({made_row(minus(3), minus(24), "a.cpp", 1, "int"),
                                 made_row(2, 16, "b.cpp", 1, "int")},
                                about)) ==
          "     -3 a.cpp:1:int\n"
          "      2 b.cpp:1:int\n");
}

TEST_CASE("print_rows: without a line the row names the function or module and the offset") {
    auto row = made_row(1, 8, "main", 0, "?");
    row.offset = 0x4d;
    CHECK(printed(made_snapshot({row})) == "      1 main+0x4d:?\n");
    row.file = "";
    CHECK(printed(made_snapshot({row})) == "      1 ?+0x4d:?\n");
}

TEST_CASE("print_rows: no name can send a control byte to the terminal or begin a new row") {
    std::string every_byte = "x";
    for (int byte = 1; byte < 256; ++byte) every_byte += static_cast<char>(byte);
    info_text about;
    about.losses = {{every_byte, 1}};
    about.not_recording = every_byte;
    const std::string text =
        printed(made_snapshot({made_row(1, 1, every_byte, 1, every_byte)}, about));
    int lines = 0;
    for (const char byte : text) {
        if (byte == '\n') ++lines;
        CHECK((byte == '\n' || (byte >= 0x20 && byte < 0x7f)));
    }
    CHECK(lines == 3);
    CHECK(text.find("\\x1b") != std::string::npos);
    CHECK(printed(made_snapshot({made_row(1, 1, "gr\xc3\xbc\xc3\x9f.cpp", 1, "int")})) ==
          "      1 gr\xc3\xbc\xc3\x9f.cpp:1:int\n");
}

TEST_CASE("print_rows: names of any length are printed whole") {
    const std::string name(5000, 'n');
    const std::string type(3000, 't');
    CHECK(printed(made_snapshot({made_row(1, 1, name, 12, type)})) ==
          "      1 " + name + ":12:" + type + '\n');
    for (std::size_t length = 200; length < 300; ++length) {
        const std::string escapes(length, '\x01');
        std::string expected;
        for (std::size_t i = 0; i < length; ++i) expected += "\\x01";
        CHECK(printed(made_snapshot({made_row(1, 1, escapes, 1, "t")})) ==
              "      1 " + expected + ":1:t\n");
    }
}

TEST_CASE("print_rows: neither flags nor locale of the stream change the rows") {
    std::ostringstream out;
    out.imbue(std::locale{std::locale{}, new grouped_digits});
    out << std::hex << std::showbase << std::showpos << std::left << std::setfill('*');
    out << std::setw(40) << made_snapshot({made_row(123456, 1, "a.cpp", 1000, "int")});
    CHECK(out.str() == " 123456 a.cpp:1000:int\n");
    CHECK(out.width() == 0);
    CHECK((out.flags() & std::ios::hex) != 0);
    CHECK(out.fill() == '*');
}

TEST_CASE("print_rows: a stream that has failed stays as it is") {
    std::ostringstream out;
    out.setstate(std::ios::failbit);
    out << made_snapshot({made_row(1, 1, "a.cpp", 1, "int")});
    CHECK(out.str() == "");
    CHECK(out.rdstate() == std::ios::failbit);
    std::ostream nowhere{nullptr};
    nowhere << made_snapshot({made_row(1, 1, "a.cpp", 1, "int")});
    CHECK(nowhere.bad());
}

TEST_CASE("print_rows: rows can be chained like anything else on a stream") {
    std::ostringstream out;
    out << "before\n" << made_snapshot({made_row(1, 1, "a.cpp", 1, "int")}) << "after " << 5;
    CHECK(out.str() == "before\n      1 a.cpp:1:int\nafter 5");
}
