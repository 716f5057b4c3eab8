// run_options.hpp - the options of `allocscope run`.
#ifndef ALLOCSCOPE_TOOLS_RUN_RUN_OPTIONS_HPP
#define ALLOCSCOPE_TOOLS_RUN_RUN_OPTIONS_HPP

#include "../report_formats.hpp"
#include "../verbs.hpp"

#include <allocscope/base/options.hpp>

#include <string>
#include <vector>

namespace allocscope_tools {

struct named_signal {
    int number = 0;  // 0: none
    const char* name = "";
};

struct run_options {
    allocscope::options record;
    bool follows_children = false;
    std::string output;  // "" means the text on stderr; %p, %n and %% as in run_help
    const report_format* format = format_named("text");
    bool is_by_bytes = false;  // the rows of the text
    bool is_summary = false;
    bool explains_memory = false;
    bool includes_arguments = false;  // the report has the whole command line
    bool is_live = false;             // show a screen while it runs, instead of reports
    double every_seconds = -1;        // < 0: only at the end
    named_signal report_signal;
    std::string file;          // the file to execute; "": command[0] along $PATH
    arguments library_frames;  // patterns: see places/frame_rule.hpp
    arguments command;
};

// Returns "", or what is wrong and how to correct it. A variable (ALLOCSCOPE_RECORD and the like)
// counts if the words do not have the option.
std::string read_run_options(const arguments& words, run_options& into);

// The variables that are read: those above, and those that recorded programs read.
std::vector<std::string> variables_of_run();

// Whether --help is among the options: not after the command, and not the value of another option.
bool asks_for_run_help(const arguments& words);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_RUN_OPTIONS_HPP
