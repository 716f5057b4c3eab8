// made_stacks.hpp - small snapshots with stacks, and what a writer makes of them as a string.

#ifndef ALLOCSCOPE_TESTS_UNIT_FORMATS_MADE_STACKS_HPP
#define ALLOCSCOPE_TESTS_UNIT_FORMATS_MADE_STACKS_HPP

#include <allocscope/formats/convert_snapshot.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/format_list.hpp>

#include <cstdint>  // uint64_t
#include <sstream>  // ostringstream
#include <string>   // string, to_string
#include <vector>   // vector

#include "support/made_snapshot.hpp"

namespace allocscope_tests {

inline frame_text made_frame(std::string function, std::string file = "", int line = 0,
                             std::uint64_t address = 0, bool is_inlined = false) {
    frame_text frame;
    frame.function = std::move(function);
    frame.file = std::move(file);
    frame.line = line;
    frame.address = address;
    frame.is_inlined = is_inlined;
    frame.module = "/bin/prog";
    frame.offset = address & 0xfffU;
    return frame;
}

// `frames` innermost first.
inline stack_text made_stack(std::vector<frame_text> frames, std::uint64_t allocations,
                             std::uint64_t bytes_allocated, std::uint64_t objects,
                             std::uint64_t bytes) {
    stack_text stack;
    stack.frames = std::move(frames);
    stack.user_frame = 0;
    stack.allocations = allocations;
    stack.bytes_allocated = bytes_allocated;
    stack.objects = objects;
    stack.bytes = bytes;
    if (!stack.frames.empty()) {
        stack.file = stack.frames[0].file;
        stack.line = stack.frames[0].line;
        stack.function = stack.frames[0].function;
    }
    return stack;
}

// A window with these stacks; each makes a row of its own, if something of it is alive.
inline allocscope::snapshot made_window(const std::vector<stack_text>& stacks, info_text about) {
    std::vector<row_text> rows;
    for (const stack_text& stack : stacks) {
        about.totals.allocations += stack.allocations;
        about.totals.bytes_allocated += stack.bytes_allocated;
        about.totals.frees += stack.allocations - stack.objects;
        about.totals.bytes_freed += stack.bytes_allocated - stack.bytes;
        if (stack.objects != 0 || stack.bytes != 0) rows.push_back(stack);
    }
    about.stacks = stacks;
    if (about.name.empty()) about.name = "window";
    return made_snapshot(rows, about);
}
inline allocscope::snapshot made_window(const std::vector<stack_text>& stacks) {
    return made_window(stacks, {});
}

// main calls load and parse; load calls parse; all of what parse allocated below load is gone.
inline std::vector<stack_text> small_stacks() {
    const frame_text main = made_frame("main", "/src/main.cpp", 3, 0x1003);
    const frame_text main_again = made_frame("main", "/src/main.cpp", 4, 0x1004);
    const frame_text load = made_frame("load()", "/src/load.cpp", 20, 0x1020);
    const frame_text parse = made_frame("parse(int)", "/src/parse.cpp", 30, 0x1030);
    return {made_stack({load, main}, 10, 1000, 4, 400),
            made_stack({parse, main_again}, 3, 70, 3, 70),
            made_stack({parse, load, main}, 5, 50, 0, 0)};
}

// Functions, files and types whose names are made to do harm. Of each stack 10 bytes of 20 live.
inline std::vector<stack_text> hostile_stacks() {
    std::vector<stack_text> stacks;
    const std::vector<std::string> names = {
        "",
        "quote\"d",
        "back\\slash",
        "semi;colon, comma",
        "new\nline\r\n",
        "\x1b[31mred\x07",
        "\xff\xfe not \xc3( UTF-8",
        "caf\xc3\xa9 \xe2\x80\xae right to left",
        "</script><!--",
        "(5) numbered",
        "fn=(1) other",
        "{lambda()#1}::operator()",
        std::string(100000, 'x'),
    };
    for (const std::string& name : names) {
        const frame_text hostile = made_frame(name, "/src/" + name, 7, 0x2000 + stacks.size());
        stack_text stack =
            made_stack({hostile, made_frame("main", "/src/main.cpp", 3, 0x1003)}, 2, 20, 1, 10);
        stack.type = name.empty() ? "?" : name;
        stacks.push_back(stack);
    }
    return stacks;
}

inline std::string written(const char* format, const allocscope::snapshot& rows) {
    std::ostringstream out;
    allocscope::detail::write_or_throw(allocscope::detail::format_named(format)->body, rows, out);
    return out.str();
}

// "" when it was written.
inline std::string refusal(const char* format, const allocscope::snapshot& rows) {
    std::ostringstream out;
    std::string error;
    const bool is_written = allocscope::detail::try_write(
        allocscope::detail::format_named(format)->body, rows, out, error);
    return is_written ? "" : (out.str().empty() ? error : "written, and refused: " + error);
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_UNIT_FORMATS_MADE_STACKS_HPP
