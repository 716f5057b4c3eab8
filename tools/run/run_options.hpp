// run_options.hpp - what `allocscope run` is asked for.
#ifndef ALLOCSCOPE_TOOLS_RUN_RUN_OPTIONS_HPP
#define ALLOCSCOPE_TOOLS_RUN_RUN_OPTIONS_HPP

#include "../verbs.hpp"

#include <allocscope/base/options.hpp>
#include <allocscope/report.hpp>

#include <string>

namespace allocscope_tools {

// One of allocscope::detail::file_formats.
using report_format = allocscope::detail::file_format;

struct run_options {
    allocscope::options record;
    bool follows_children = false;
    std::string output;  // "" means the text on stderr; %p and %n stand for process and program
    const report_format* format = allocscope::detail::format_named("text");
    bool is_summary = false;
    bool explains_memory = false;
    bool includes_arguments = false;  // the report has the whole command line
    bool is_live = false;             // a screen of what is alive, instead of reports meanwhile
    double every_seconds = -1;        // < 0: only at the end
    int report_signal = 0;            // 0: none
    std::string file;                 // what is executed when it is not command[0] along PATH
    arguments library_frames;         // patterns: see types/frame_rule.hpp
    arguments command;
};

// "" or what is wrong, with the remedy. What the environment says (ALLOCSCOPE_RECORD and the like)
// counts where the words say nothing.
std::string read_run_options(const arguments& words, run_options& into);

// "--help" among the options: not behind the command, and not as the value of another option.
bool asks_for_run_help(const arguments& words);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_RUN_OPTIONS_HPP
