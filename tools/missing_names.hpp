// missing_names.hpp - why rows have no line or type, and what would help: a line for each file.
#ifndef ALLOCSCOPE_TOOLS_MISSING_NAMES_HPP
#define ALLOCSCOPE_TOOLS_MISSING_NAMES_HPP

#include <allocscope/report.hpp>

#include <string>

namespace allocscope_tools {

// A line for each program and library with rows that have no line or no type:
//
//     libfoo.so.1: no debug information; the package libfoo1-dbgsym has it
//     server: its debug information is compressed with zstd; ...
//
// Reads the files as they are now. Returns "" if there is nothing to say. If `descriptor` is a
// terminal, lines are as long as it is wide.
std::string what_could_name_rows(const allocscope::snapshot& rows, int descriptor);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_MISSING_NAMES_HPP
