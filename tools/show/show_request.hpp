// show_request.hpp - what show, diff and histogram shall show of saved snapshots.
#ifndef ALLOCSCOPE_TOOLS_SHOW_SHOW_REQUEST_HPP
#define ALLOCSCOPE_TOOLS_SHOW_SHOW_REQUEST_HPP

#include "../verbs.hpp"
#include "row_frames.hpp"

#include <allocscope/report.hpp>

#include <memory>
#include <string>
#include <vector>

namespace allocscope_tools {

enum class shown_as { rows, groups, callees, callers };

struct show_request {
    shown_as as = shown_as::rows;
    allocscope::text_options text;
    allocscope::group_key key = allocscope::group_key::place;
    allocscope::stack_value order = allocscope::stack_value::live_bytes;
    bool has_order = false;
    bool has_two_tables = false;              // two tables were asked for
    std::string frame, type, module, thread;  // parts of names; "": any name
    allocscope::stack_filter filter;          // only its numbers are set
    arguments files;
    bool is_difference = false;  // the second file minus the first
    bool is_histogram = false;   // a table of sums, and nothing else
    bool is_json = false;
    bool has_rows = false;  // --rows was given
};

// What was loaded. The stacks are read one after the other, because a million stacks in memory take
// more than a gigabyte.
struct shown_snapshot {
    allocscope::detail::sourced_snapshot of;
    // The sources of the files' stacks. They must live as long as the stacks are needed.
    std::vector<std::unique_ptr<allocscope::detail::stack_source>> sources;
    std::vector<loaded_file> files;
    allocscope::detail::arena row_frames;  // of the rows that are shown
    std::string note;                      // printed below the rows
};

// Returns "", or what is wrong and how to correct it.
std::string read_show_request(const char* verb, const arguments& words, show_request& into);

// Loads the snapshots of all files as one. Returns "", or why that is impossible.
std::string load_merged(const arguments& files, const allocscope::detail::wanted_parts& wanted,
                        shown_snapshot& into);

// Loads the files: merged, or the second minus the first. Applies the filter. Returns "", or what
// is wrong.
std::string load_what_is_shown(const show_request& asked, shown_snapshot& into);

// A histogram has only what is alive, or has changed.
inline bool is_left_out(const show_request& asked, const allocscope::group& of) {
    return asked.is_histogram && of.objects == 0 && of.bytes == 0;
}

allocscope::snapshot_groups groups_of(const show_request& asked, const shown_snapshot& of);

// Prints what load_what_is_shown() loaded to stdout. Returns "", or why that is impossible.
std::string print_what_is_shown(const show_request& asked, const shown_snapshot& shown);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_SHOW_SHOW_REQUEST_HPP
