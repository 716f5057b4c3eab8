// show_request.hpp - what is to be shown of saved snapshots, for show, diff and histogram.
#ifndef ALLOCSCOPE_TOOLS_SHOW_SHOW_REQUEST_HPP
#define ALLOCSCOPE_TOOLS_SHOW_SHOW_REQUEST_HPP

#include "../verbs.hpp"

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
    bool has_two_tables = false;              // were asked for
    std::string frame, type, module, thread;  // parts of names; "" is any
    allocscope::stack_filter filter;          // the numbers of it
    arguments files;
    bool is_difference = false;  // of two files, what the second has more
    bool is_histogram = false;   // a table of sums, and nothing else
};

// What was loaded. The stacks come one after the other: laid out, a million of them take more than
// a gigabyte.
struct shown_snapshot {
    allocscope::detail::sourced_snapshot of;
    // Of the files, while something needs their stacks.
    std::vector<std::unique_ptr<allocscope::detail::stack_source>> sources;
    std::string note;  // what is to be said below the rows
};

// "" or what is wrong, with the remedy.
std::string read_show_request(const char* verb, const arguments& words, show_request& into);

// The snapshots of all files as one. "" or why that cannot be.
std::string load_merged(const arguments& files, const allocscope::detail::wanted_parts& wanted,
                        shown_snapshot& into);

// The snapshots of the files, merged, or what is more in the second than in the first; filtered.
std::string load_what_is_shown(const show_request& asked, shown_snapshot& into);

allocscope::snapshot_groups groups_of(const show_request& asked, const shown_snapshot& of);

// Of load_what_is_shown() to stdout.
void print_what_is_shown(const show_request& asked, const shown_snapshot& shown);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_SHOW_SHOW_REQUEST_HPP
