#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/made_snapshot.hpp"

using allocscope::snapshot;
using allocscope::text_options;
using allocscope::to_text;
using allocscope::write_text;
using allocscope_tests::info_text;
using allocscope_tests::made_row;
using allocscope_tests::made_row_at;
using allocscope_tests::made_snapshot;

namespace {

info_text usual_window() {
    info_text about;
    about.name = "load";
    about.duration_ns = 1234567890;
    about.totals = {1200, 100, 40000, 4800, 39000};
    about.own_memory_bytes = 1300000;
    return about;
}

snapshot usual_rows(const info_text& about = usual_window()) {
    return made_snapshot({made_row(1000, 32000, "quick_start.cpp", 9, "std::string", "main"),
                          made_row(100, 3200, "quick_start.cpp", 8, "std::string", "main")},
                         about);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string line_with(const std::string& text, const std::string& part) {
    for (const std::string& line : lines_of(text)) {
        if (line.find(part) != std::string::npos) return line;
    }
    return "(no line has " + part + ")";
}

std::size_t columns_of(const std::string& line) {
    return allocscope::detail::columns_of({line.data(), line.size()});
}

std::string printable(const std::string& line) {
    allocscope::plain::arena memory;
    allocscope::plain::text_out shown{memory};
    write_printable(shown, line.c_str());
    return shown.c_str();
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::uint64_t minus(std::uint64_t number) {
    return std::uint64_t{0} - number;
}

}  // namespace

TEST_CASE("text_report: the whole of it") {
    CHECK(to_text(usual_rows()) ==
          "allocscope report of window \"load\"\n"
          "  exact, up to 24 frames of each stack, all threads, open for 1.2 s\n"
          "  allocated        1200 objects      39.1 KiB\n"
          "  freed             100 objects        4800 B\n"
          "  alive            1100 objects      34.4 KiB\n"
          "  peak                               38.1 KiB\n"
          "  own memory                          1.2 MiB\n"
          "\n"
          "objects     bytes   share  place                          function\n"
          "   1000  31.3 KiB   90.9%  quick_start.cpp:9:std::string  main\n"
          "    100    3200 B    9.1%  quick_start.cpp:8:std::string  main\n");
}

TEST_CASE("text_report: how the window was recorded") {
    info_text about = usual_window();
    about.from = allocscope::threads::current;
    about.stack_frames = 1;
    CHECK(has(to_text(usual_rows(about)), "  exact, up to 1 frame of each stack, one thread"));
    about.stack_frames = 3;
    CHECK(
        has(to_text(usual_rows(about)), "  exact, up to 3 frames of each stack, one thread, open"));
    about.record = allocscope::recording::sampled;
    about.sample_bytes = 512 * 1024;
    about.samples = 17;
    CHECK(
        has(to_text(usual_rows(about)),
            "  sampled every 512.0 KiB on average: 17 samples, up to 3 frames of each stack, one"));
    about.samples = 1;
    CHECK(has(to_text(usual_rows(about)), " on average: 1 sample, up to"));
    about.name = "";
    CHECK(has(to_text(usual_rows(about)), "allocscope report of an unnamed window\n"));
}

TEST_CASE("text_report: a difference is signed and says that it is one") {
    info_text about = usual_window();
    about.is_difference = true;
    about.totals = {10, 30, 100, minus(100), minus(5)};
    const std::string text =
        to_text(made_snapshot({made_row(minus(20), minus(300), "a.cpp", 1, "t"),
                               made_row(5, 100, "b.cpp", 1, "t"), made_row(1, 0, "c.cpp", 1, "t")},
                              about));
    CHECK(has(text, "allocscope difference of window \"load\"\n"));
    CHECK(has(text, ", 1.2 s apart\n"));
    CHECK(line_with(text, "allocated") == "  allocated         +10 objects        +100 B");
    CHECK(line_with(text, "alive") == "  alive             -20 objects        +200 B");
    CHECK(line_with(text, "peak") == "  peak                                   -5 B");
    CHECK(line_with(text, "a.cpp") == "    -20  -300 B   75.0%  a.cpp:1:t");
    CHECK(line_with(text, "b.cpp") == "     +5  +100 B   25.0%  b.cpp:1:t");
    CHECK(line_with(text, "c.cpp") == "     +1     0 B    0.0%  c.cpp:1:t");
    CHECK(has(to_text(made_snapshot({}, about)), "no row has changed\n"));
}

TEST_CASE("text_report: what other threads may have freed meanwhile is said") {
    info_text about = usual_window();
    CHECK(!has(to_text(usual_rows(about)), "in doubt"));
    about.uncertain_objects = 1;
    about.uncertain_bytes = 2048;
    CHECK(has(to_text(usual_rows(about)),
              "\n  in doubt: 1 object with 2048 B may have been freed by other threads while this "
              "was read\n"));
    about.uncertain_objects = 70;
    CHECK(has(to_text(usual_rows(about)), "\n  in doubt: 70 objects with 2048 B may"));
}

TEST_CASE("text_report: what was lost is said, and so is that nothing was recorded") {
    info_text about = usual_window();
    about.losses = {{"stacks were cut", 3}};
    CHECK(has(to_text(usual_rows(about)), "\n  not recorded: 3 stacks were cut\n"));
    info_text unrecorded;
    unrecorded.not_recording = "nothing is being recorded: operator new is not replaced";
    CHECK(to_text(made_snapshot({}, unrecorded)) ==
          "allocscope report of an unnamed window\n"
          "  attention: nothing is being recorded: operator new is not replaced\n");
    CHECK(to_text({}) ==
          "allocscope report of an unnamed window\n"
          "  attention: this snapshot comes from no window\n");
}

TEST_CASE("text_report: without memory for the rows, the totals are told all the same") {
    info_text about = usual_window();
    about.not_recording = "memory for the rows was refused";
    about.losses = {{"stacks were cut", 3}};
    const std::string text = to_text(made_snapshot({}, about));
    CHECK(has(text,
              "allocscope report of window \"load\"\n"
              "  attention: memory for the rows was refused\n"));
    CHECK(line_with(text, "allocated") == line_with(to_text(usual_rows(about)), "allocated"));
    CHECK(line_with(text, "alive") == line_with(to_text(usual_rows(about)), "alive"));
    CHECK(has(text, "\n  not recorded: 3 stacks were cut\n"));
    CHECK_FALSE(has(text, "nothing"));
    about.totals = {};
    CHECK(has(to_text(made_snapshot({}, about)), "  allocated           0 objects"));
}

TEST_CASE("text_report: nothing is alive only if that is known") {
    const char* const good_news = "\n\nnothing is alive\n";
    info_text about;
    about.totals = {5, 5, 50, 50, 50};
    CHECK(has(to_text(made_snapshot({}, about)), good_news));
    about.losses = {{"events found no memory", 3}};
    CHECK_FALSE(has(to_text(made_snapshot({}, about)), good_news));
    CHECK(has(to_text(made_snapshot({}, about)), "\n\nnothing that was recorded is alive\n"));
    about.losses.clear();
    about.totals.frees = 4;
    CHECK_FALSE(has(to_text(made_snapshot({}, about)), "nothing is alive"));
    about.record = allocscope::recording::counters;
    CHECK(has(to_text(made_snapshot({}, about)), "\n\ncounters only: there are no rows\n"));
}

TEST_CASE("text_report: rows that do not add up to what is alive are not passed over") {
    info_text about = usual_window();
    about.totals.frees = 99;
    CHECK(line_with(to_text(usual_rows(about)), "in rows") ==
          "  in rows          1100 objects      34.4 KiB");
    CHECK_FALSE(has(to_text(usual_rows()), "in rows"));
}

TEST_CASE("text_report: rows beyond the limit are summed in a last one") {
    text_options wanted;
    wanted.rows = 1;
    const std::string text = to_text(usual_rows(), wanted);
    CHECK(lines_of(text).back() == "    100    3200 B    9.1%  and 1 more place");
    wanted.rows = 0;
    CHECK(lines_of(to_text(usual_rows(), wanted)).back() ==
          "   1100  34.4 KiB  100.0%  and 2 more places");
    std::vector<allocscope_tests::row_text> many;
    for (int i = 0; i < 80; ++i) many.push_back(made_row(1, 1, "a.cpp", i + 1, "t"));
    CHECK(lines_of(to_text(made_snapshot(many))).back() ==
          "     30   30 B   37.5%  and 30 more places");
}

TEST_CASE("text_report: rows can be ordered by bytes") {
    const snapshot rows =
        made_snapshot({made_row(2, 1, "many.cpp", 1, "t"), made_row(1, 99, "large.cpp", 1, "t")});
    text_options wanted;
    CHECK(to_text(rows, wanted).find("many.cpp") < to_text(rows, wanted).find("large.cpp"));
    wanted.sort = allocscope::row_order::bytes;
    CHECK(to_text(rows, wanted).find("large.cpp") < to_text(rows, wanted).find("many.cpp"));
}

TEST_CASE("text_report: frames begin at the row's own place and say how many there are more") {
    auto row = made_row_at(1, 1, "/p/a.cpp", "a.cpp", 7, "t");
    row.frames.insert(row.frames.begin(), allocscope_tests::frame_text{});
    row.frames[0].function = "allocate()";
    row.user_frame = 1;
    row.frames[1].is_inlined = true;
    row.frames.push_back({"", "", 0, 0, false, 0, "/bin/p", 0x12});
    row.frames.push_back({"main", "", 0, 0, false, 0, "/bin/p", 0x13});
    text_options wanted;
    CHECK_FALSE(has(to_text(made_snapshot({row}), wanted), " at "));
    wanted.frames = 2;
    const std::string text = to_text(made_snapshot({row}), wanted);
    CHECK(has(text,
              ":t\n"
              "            at work() (/p/a.cpp:7) [inlined]\n"
              "            at /bin/p+0x12\n"
              "            and 1 more\n"));
    CHECK_FALSE(has(text, "allocate()"));
    wanted.frames = 100;
    CHECK(lines_of(to_text(made_snapshot({row}), wanted)).back() == "            at main");
    row.user_frame = allocscope_tests::no_frame;
    CHECK(has(to_text(made_snapshot({row}), wanted), "            at allocate()\n"));
    row.frames.clear();
    CHECK_FALSE(has(to_text(made_snapshot({row}), wanted), " at "));
}

TEST_CASE("text_report: every line fits the width, if there is one, and no number is cut") {
    info_text about = usual_window();
    about.name = std::string(200, 'n');
    about.losses = {{"stacks were cut because the memory they were in could not be read", 3}};
    auto row = made_row_at(123456, 32000, "/p/" + std::string(90, 'd') + "/a.cpp",
                           std::string(90, 'd') + "/\xc3\xa9.cpp", 7,
                           "std::vector<" + std::string(90, 't') + ">");
    row.function = "void " + std::string(90, 'f') + "()";
    const snapshot rows = made_snapshot({row, made_row(1, 1, "a.cpp", 1, "t")}, about);
    text_options wanted;
    wanted.frames = 3;
    for (std::uint32_t width = 60; width < 330; ++width) {
        wanted.width = width;
        const std::string text = to_text(rows, wanted);
        CHECK(has(text, " 123456  31.3 KiB  100.0%  "));
        CHECK(has(text, "\xc3\xa9.cpp:7:"));
        CHECK(has(line_with(text, "   at "), "/a.cpp:7)"));
        CHECK(has(text, "      1       1 B   <0.1%  a.cpp:1:t"));
        for (const std::string& line : lines_of(text)) {
            CHECK(columns_of(line) <= width);
            CHECK(printable(line) == line);
        }
    }
    wanted.width = 1;  // too narrow for anything: as if it were 60
    for (const std::string& line : lines_of(to_text(rows, wanted))) CHECK(columns_of(line) <= 60);
}

TEST_CASE("text_report: directories give way first, then the function, then the type's middle") {
    auto row = made_row(1, 1, "include/parser/detail/lexer.cpp", 1234, "std::vector<parser::token>",
                        "parser::lexer::read_all(std::istream&)");
    const snapshot rows = made_snapshot({row, made_row(1, 1, "a.cpp", 1, "t", "f()")});
    std::size_t before = 0;
    const auto place_at = [&](std::uint32_t width) {
        text_options wanted;
        wanted.width = width;
        const std::string line = line_with(to_text(rows, wanted), ":1234:");
        CHECK(columns_of(line) >= before);  // what is given up never comes back
        before = columns_of(line);
        return line.substr(line.find('%') + 3);
    };
    CHECK(place_at(60) == "lexer.cpp:1234:std::vec...er::token>");
    CHECK(place_at(66) == "lexer.cpp:1234:std::vector<parser::token>");
    CHECK(place_at(74) == ".../lexer.cpp:1234:std::vector<parser::token>");
    CHECK(place_at(84) == "lexer.cpp:1234:std::vector<parser::token>  parser:...ead_all");
    CHECK(place_at(112) == ".../lexer.cpp:1234:std::vector<parser::token>     " + row.function);
    CHECK(place_at(120) ==
          ".../detail/lexer.cpp:1234:std::vector<parser::token>      " + row.function);
    CHECK(place_at(135) ==
          "include/parser/detail/lexer.cpp:1234:std::vector<parser::token>  " + row.function);
    row.file = std::string(200, 'n') + ".cpp";
    text_options wanted;
    wanted.width = 60;
    CHECK(has(to_text(made_snapshot({row}), wanted), "n.cpp:1234\n"));
}

TEST_CASE("text_report: in a pipe the functions of usual rows stand below each other") {
    const std::string type = "std::pair<const std::string, std::vector<std::string>>";
    const std::string text =
        to_text(made_snapshot({made_row(2, 1, "term.cpp", 14, type, "load()"),
                               made_row(1, 1, "term.cpp", 14, "session", "load()")}));
    CHECK(line_with(text, "pair").find("load()") == line_with(text, "session").find("load()"));
    CHECK(line_with(text, "pair").find("load()") == line_with(text, "function").find("function"));
}

TEST_CASE("text_report: rows without a line are explained once") {
    auto row = made_row(5, 1, "main", 0, "t");
    row.offset = 0x4d;
    const char* const hint =
        "\n\nrows with +0x have no line: code shows its lines when it is compiled with -g\n";
    const std::string text = to_text(made_snapshot({row, made_row(1, 1, "a.so", 0, "t")}));
    CHECK(has(text, "  main+0x4d:t\n"));
    CHECK(has(text, hint));
    CHECK(text.find("-g") == text.rfind("-g"));
    CHECK_FALSE(has(to_text(usual_rows()), "-g"));
    CHECK_FALSE(has(to_text(made_snapshot({made_row(1, 1, "", 0, "t")})), "-g"));
}

TEST_CASE("text_report: a difference of two windows says so in place of a time") {
    info_text about = usual_window();
    about.is_difference = true;
    about.is_of_two_windows = true;
    const std::string text = to_text(usual_rows(about));
    CHECK(has(text, "  attention: the two snapshots are of different windows\n"));
    CHECK_FALSE(has(text, "apart"));
}

TEST_CASE("text_report: on a stream it comes behind what was written before") {
    std::ostringstream out;
    out << "before\n" << std::setw(40) << std::setfill('*');
    write_text(usual_rows(), out);
    out << "after";
    CHECK(has(out.str(), "before\n" + to_text(usual_rows())));
    text_options wanted;
    wanted.rows = 0;
    std::ostringstream short_one;
    write_text(usual_rows(), short_one, wanted);
    CHECK(short_one.str() == to_text(usual_rows(), wanted));
    std::ostringstream failed;
    failed.setstate(std::ios::failbit);
    write_text(usual_rows(), failed);
    CHECK(failed.str().empty());
}

TEST_CASE("text_report: without a width nothing is cut") {
    const std::string name(500, 'd');
    const snapshot rows =
        made_snapshot({made_row(1, 1, name, 1, std::string(500, 't'), std::string(500, 'f')),
                       made_row(1, 1, "a.cpp", 1, "t", "short()")});
    const std::string text = to_text(rows);
    CHECK(has(text, name + ":1:" + std::string(500, 't') + "  " + std::string(500, 'f')));
    // The long one does not move the others' functions out of sight.
    CHECK(line_with(text, "short()").size() < 120);
}

TEST_CASE("text_report: names cannot send control bytes to a terminal") {
    info_text about = usual_window();
    about.name = "\x1b]0;title\x07";
    about.losses = {{"\x1b[2J", 1}};
    auto row = made_row(1, 1, "\x1b[31m", 1, "\n\r", "\x9b");
    row.frames = {{"\x1b", "\x1b", 1, 0, false, 0, "", 0}, {"", "", 0, 0, false, 0, "\x1b", 0}};
    text_options wanted;
    wanted.frames = 5;
    const std::string text = to_text(made_snapshot({row}, about), wanted);
    for (const char byte : text) CHECK((byte == '\n' || (byte >= 0x20 && byte < 0x7f)));
    about.not_recording = "\x1b";
    for (const char byte : to_text(made_snapshot({}, about))) CHECK(byte != '\x1b');
}

TEST_CASE("text_report: colours only when asked for, or on a terminal") {
    CHECK_FALSE(has(to_text(usual_rows()), "\x1b"));
    text_options wanted;
    wanted.color = allocscope::text_color::always;
    const std::string colored = to_text(usual_rows(), wanted);
    CHECK(has(colored, "\x1b[1mallocscope report of window \"load\"\x1b[0m\n"));
    // Colours are laid over the same text.
    std::string plain;
    for (std::size_t i = 0; i < colored.size(); ++i) {
        if (colored[i] == '\x1b') {
            i = colored.find('m', i);
        } else {
            plain += colored[i];
        }
    }
    CHECK(plain == to_text(usual_rows()));
}

TEST_CASE("text_report: on a terminal lines are cut to its width and coloured") {
    const int controller = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (controller < 0 || ::grantpt(controller) != 0 || ::unlockpt(controller) != 0) return;
    const int terminal = ::open(::ptsname(controller), O_RDWR | O_NOCTTY);
    if (terminal < 0) return;  // no pseudo terminals here
    struct winsize size = {};
    size.ws_col = 60;
    ::ioctl(terminal, TIOCSWINSZ, &size);
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "xterm", 1);
    const snapshot rows = made_snapshot({made_row(1, 1, std::string(100, 'd'), 1, "t")});
    write_text(rows, terminal);
    char got[4096] = {};
    CHECK(::read(controller, got, sizeof got - 1) > 0);
    CHECK(has(got, "\x1b[1m"));
    CHECK(has(got, "..."));
    text_options wanted;
    wanted.color = allocscope::text_color::never;
    wanted.width = 200;
    write_text(rows, terminal, wanted);
    const auto length = ::read(controller, got, sizeof got - 1);
    REQUIRE(length > 0);
    got[length] = '\0';
    CHECK_FALSE(has(got, "\x1b"));
    CHECK_FALSE(has(got, "..."));
    ::close(terminal);
    ::close(controller);
}

TEST_CASE("text_report: it goes to a path, a descriptor and a stdio file") {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    const std::string expected = to_text(usual_rows());
    const std::string path = "/dev/fd/" + std::to_string(::fileno(file));
    write_text(usual_rows(), file);
    write_text(usual_rows(), ::fileno(file));
    write_text(usual_rows(), path.c_str());
    std::string got(expected.size() * 3 + 10, '\0');
    const auto length = ::pread(::fileno(file), &got[0], got.size(), 0);
    REQUIRE(length >= 0);
    got.resize(static_cast<std::size_t>(length));
    CHECK(got == expected + expected + expected);
    std::fclose(file);
}

TEST_CASE("text_report: what cannot be written throws, or returns false with the reason") {
    CHECK_THROWS_WITH_AS(write_text(usual_rows(), "/nonexistent/x"),
                         "cannot write report to '/nonexistent/x': No such file or directory",
                         allocscope::report_error);
    CHECK_THROWS_AS(write_text(usual_rows(), -1), allocscope::report_error);
    CHECK_THROWS_AS(write_text(usual_rows(), static_cast<std::FILE*>(nullptr)),
                    allocscope::report_error);
    CHECK_THROWS_AS(write_text(usual_rows(), static_cast<const char*>(nullptr)),
                    allocscope::report_error);
    std::string error;
    CHECK_FALSE(write_text(usual_rows(), "/nonexistent/x", error));
    CHECK(error == "cannot write report to '/nonexistent/x': No such file or directory");
    CHECK_FALSE(write_text(usual_rows(), -1, error));
    CHECK_FALSE(write_text(usual_rows(), static_cast<std::FILE*>(nullptr), error));
    CHECK_FALSE(write_text(usual_rows(), static_cast<const char*>(nullptr), error));
    CHECK(write_text(usual_rows(), "/dev/null", error));
}

TEST_CASE("text report: the head says how precisely ages are known") {
    allocscope_tests::info_text about;
    const auto head = [&about] { return to_text(allocscope_tests::made_snapshot({}, about)); };
    CHECK(head().find("ages") == std::string::npos);
    about.ages = {{1'500'000'000, 2'000'000'000}, {250'000'000, 1'500'001'000}, {0, 250'001'000}};
    CHECK(head().find("\n  ages known to 1.3 s, from 2 age marks\n") != std::string::npos);
    about.merged_windows = 2;
    CHECK(head().find("\n  ages known to 1.3 s, from 1 age mark\n") != std::string::npos);
    about.ages = {{0, 700}};
    CHECK(head().find("\n  ages known to 700 ns, from 0 age marks\n") != std::string::npos);
}

TEST_CASE("text report: a time series is one line of bars") {
    allocscope_tests::info_text about;
    about.moments = {{0, 0, 0, 0, 0, ""},
                     {500'000'000, 1, 512, 1, 512, ""},
                     {1'000'000'000, 2, 1024, 2, 1024, ""},
                     {3'000'000'000, 1, 512, 2, 1024, ""}};
    const std::string text = to_text(allocscope_tests::made_snapshot({}, about));
    // Four bars of 0.75 s: the largest of 0 and 512, 1024, nothing new, 512.
    CHECK(text.find(
              "\nalive over time  \u2585\u2588\u2588\u2585  0 B to 1024 B; 4 points in 3.0 s\n") !=
          std::string::npos);
    about.moments[1].mark = "loaded";
    about.record = allocscope::recording::sampled;
    const std::string sampled = to_text(allocscope_tests::made_snapshot({}, about));
    CHECK(sampled.find("  ~0 B to ~1024 B; 4 points in 3.0 s\n") != std::string::npos);
    CHECK(sampled.find("       500.0 ms      ~512 B  loaded\n") != std::string::npos);
    about.moments.resize(1);
    CHECK(to_text(allocscope_tests::made_snapshot({}, about)).find("over time") ==
          std::string::npos);
}

namespace {

// What a terminal gets while these variables are set; "" leaves one out.
std::string on_terminal(const snapshot& rows, const char* all, const char* type, const char* lang) {
    struct variable {
        const char* name;
        const char* value;
    };
    for (const variable& each :
         {variable{"LC_ALL", all}, variable{"LC_CTYPE", type}, variable{"LANG", lang}}) {
        ::setenv(each.name, each.value, 1);
    }
    const int screen = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (screen < 0 || ::grantpt(screen) != 0 || ::unlockpt(screen) != 0) return {};
    const int terminal = ::open(::ptsname(screen), O_RDWR | O_NOCTTY);
    if (terminal < 0) return {};
    write_text(rows, terminal);
    ::close(terminal);
    std::string text;  // the kernel hands it over in pieces, and fails when no more comes
    char piece[4096];
    for (ssize_t got = 1; got > 0;) {
        got = ::read(screen, piece, sizeof piece);
        if (got > 0) text.append(piece, static_cast<std::size_t>(got));
    }
    ::close(screen);
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) ::unsetenv(name);
    return text;
}

}  // namespace

TEST_CASE("text report: the bars on a terminal are those of its locale, elsewhere UTF-8") {
    allocscope_tests::info_text about;
    about.moments = {{0, 0, 0, 0, 0, ""},
                     {500'000'000, 1, 512, 1, 512, ""},
                     {1'000'000'000, 2, 1024, 2, 1024, ""},
                     {3'000'000'000, 1, 512, 2, 1024, ""}};
    const snapshot rows = allocscope_tests::made_snapshot({}, about);
    if (on_terminal(rows, "", "", "").empty()) return;  // there are no terminals here
    const auto has_ascii = [&](const char* all, const char* type, const char* lang) {
        const std::string text = on_terminal(rows, all, type, lang);
        const bool is_ascii = text.find("alive over time  =##=  0 B to") != std::string::npos;
        CHECK((text.find("alive over time  \u2585\u2588\u2588\u2585  0 B") == std::string::npos) ==
              is_ascii);
        return is_ascii;
    };
    CHECK_FALSE(has_ascii("", "", "de_DE.UTF-8"));
    CHECK_FALSE(has_ascii("C.utf8", "C", "C"));
    CHECK_FALSE(has_ascii("", "en_US.UTF-8", "C"));
    CHECK(has_ascii("", "", "C"));
    CHECK(has_ascii("POSIX", "en_US.UTF-8", "en_US.UTF-8"));
    CHECK(has_ascii("", "de_DE.ISO-8859-1", "en_US.UTF-8"));
    CHECK(has_ascii("", "", ""));
    ::setenv("LC_ALL", "C", 1);
    CHECK(to_text(rows).find("\u2585\u2588\u2588\u2585") != std::string::npos);
    ::unsetenv("LC_ALL");
}

TEST_CASE("text report: a difference says how far apart the snapshots are, and in which order") {
    allocscope_tests::info_text about;
    about.window = 1;
    about.duration_ns = 1'000'000;
    about.totals.allocations = 1;
    const snapshot first = allocscope_tests::made_snapshot({}, about);
    about.duration_ns = 3'500'000;
    about.totals.allocations = 2;
    const snapshot second = allocscope_tests::made_snapshot({}, about);
    const std::string forth = to_text(second.difference_from(first));
    CHECK(forth.find(", 2.5 ms apart\n") != std::string::npos);
    CHECK(forth.find("attention") == std::string::npos);
    const std::string back = to_text(first.difference_from(second));
    CHECK(back.find(", 2.5 ms back in time\n") != std::string::npos);
    CHECK(back.find("attention: the snapshot that was subtracted is the later one: + has gone"
                    " since, - has come\n") != std::string::npos);
}
