// missing_names.hpp - why rows have no line or type, and what would help: a line for each file.
#ifndef ALLOCSCOPE_TOOLS_MISSING_NAMES_HPP
#define ALLOCSCOPE_TOOLS_MISSING_NAMES_HPP

#include <allocscope/report.hpp>

#include <string>

namespace allocscope_tools {

// For each program and library that a row without a line or a type lies in, once:
//
//     libfoo.so.1: no debug information; the package libfoo1-dbgsym has it
//     server: its debug information is compressed with zstd; ...
//
// Reads the files as they are now. "" when there is nothing to say. Lines have as many columns as
// the terminal of `descriptor`, if it is one.
std::string what_could_name_rows(const allocscope::snapshot& rows, int descriptor);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_MISSING_NAMES_HPP
