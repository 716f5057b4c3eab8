// The frames that a text report shows below a row, and those that it does not.
#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/made_snapshot.hpp"

using allocscope::text_options;
using allocscope::to_text;
using allocscope_tests::made_row_at;
using allocscope_tests::made_snapshot;
using allocscope_tests::row_text;

namespace {

std::string last_line(const row_text& row, const text_options& wanted) {
    std::string text = to_text(made_snapshot({row}), wanted);
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

}  // namespace

TEST_CASE("text_frames: what starts every thread is not shown below each row") {
    auto row = made_row_at(1, 1, "/p/a.cpp", "a.cpp", 7, "t");
    row.frames.push_back({"main", "", 0, 0, false, 0, "/bin/p", 0x13});
    row.frames.push_back({"", "", 0, 0, false, 0, "/usr/lib/libc.so.6", 0x27249});
    row.frames.push_back({"__libc_start_main", "", 0, 0, false, 0, "/usr/lib/libc.so.6", 5});
    row.frames.push_back({"_start", "", 0, 0, false, 0, "/bin/p", 0x20});
    text_options wanted;
    wanted.frames = 100;
    CHECK(last_line(row, wanted) == "            at main");
    wanted.frames = 1;
    CHECK(last_line(row, wanted) == "            and 1 more");
    row.frames.erase(row.frames.begin(), row.frames.begin() + 2);
    row.user_frame = allocscope_tests::no_frame;
    wanted.frames = 100;
    // A stack is never without a frame.
    CHECK(last_line(row, wanted) == "            at /usr/lib/libc.so.6+0x27249");
}

TEST_CASE("text_frames: a function without a name is shown with the call in it") {
    auto row = made_row_at(1, 1, "/p/a.cpp", "a.cpp", 7, "t");
    row.frames = {{"app+0x1200", "", 0, 0, false, 0, "/usr/bin/app", 0x12f0},
                  {"work", "", 0, 0, false, 0, "/usr/bin/app", 0x1340},
                  {"libc.so.6+0x271d0", "", 0, 0, false, 0, "/usr/lib/libc.so.6", 0x27249},
                  {"__libc_start_main", "", 0, 0, false, 0, "/usr/lib/libc.so.6", 5},
                  {"app+0x1130", "", 0, 0, false, 0, "/usr/bin/app", 0x1150}};
    text_options wanted;
    wanted.frames = 100;
    const std::string text = to_text(made_snapshot({row}), wanted);
    CHECK(text.find("            at app+0x1200 (/usr/bin/app+0x12f0)\n            at work\n") !=
          std::string::npos);
    // What begins the program is not shown, though it has no name.
    CHECK(last_line(row, wanted) == "            at work");
    row.frames.back().function = "";
    CHECK(last_line(row, wanted) == "            at work");
    row.frames.back().function = "start";
    CHECK(last_line(row, wanted) == "            at start");
    row.frames.pop_back();
    row.frames[3] = {"app+0x1130", "", 0, 0, false, 0, "/usr/bin/app", 0x1150};
    // The C library does not call it.
    CHECK(last_line(row, wanted) == "            at app+0x1130 (/usr/bin/app+0x1150)");
}
