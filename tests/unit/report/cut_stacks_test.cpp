#include <allocscope/report.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/made_snapshot.hpp"

namespace {

// A report with two equal rows, whose stacks have two frames in `file`. The outer one is at
// `outer_line`.
std::string report(const char* file, int outer_line, std::uint32_t most_frames,
                   bool is_inlined = false) {
    allocscope_tests::row_text row;
    row.objects = 1;
    row.file = file;
    row.line = 7;
    row.frames.resize(2);
    row.frames[0].file = row.frames[1].file = file;
    row.frames[0].line = 7;
    row.frames[0].is_inlined = is_inlined;
    row.frames[1].line = outer_line;
    row.user_frame = 0;
    allocscope_tests::info_text about;
    about.stack_frames = most_frames;
    return allocscope::to_text(allocscope_tests::made_snapshot({row, row}, about));
}

bool says_that_it_is_cut(const std::string& text) {
    return text.find("cut short") != std::string::npos;
}

}  // namespace

TEST_CASE("cut_stacks: rows whose stacks were cut inside of a library are told") {
    const std::string cut = report("/usr/include/kit.hpp", 9, 2);
    CAPTURE(cut);
    CHECK(cut.find("  cut short: 2 rows are at lines of libraries, because their stacks have more"
                   " than 2 frames; --frames or options::stack_frames records up to 128\n") !=
          std::string::npos);
    CHECK(says_that_it_is_cut(report("/home/me/third_party/kit.hpp", 9, 2)));
}

TEST_CASE("cut_stacks: a whole stack, and a row at a line of the user's, are not") {
    CHECK_FALSE(says_that_it_is_cut(report("/home/me/kit.hpp", 9, 2)));
    CHECK_FALSE(says_that_it_is_cut(report("/usr/include/kit.hpp", 9, 3)));
    CHECK_FALSE(says_that_it_is_cut(report("/usr/include/kit.hpp", 9, 2, true)));
    CHECK_FALSE(says_that_it_is_cut(report("/usr/include/kit.hpp", 0, 2)));  // called by libc
}
