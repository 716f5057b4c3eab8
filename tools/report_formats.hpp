// report_formats.hpp - the formats of reports. Their writers are compiled once for all verbs.
#ifndef ALLOCSCOPE_TOOLS_REPORT_FORMATS_HPP
#define ALLOCSCOPE_TOOLS_REPORT_FORMATS_HPP

#include <allocscope/report.hpp>

#include <string>

namespace allocscope_tools {

// One of allocscope::detail::file_formats.
using report_format = allocscope::detail::file_format;

// Null if there is none; `error` then says which endings there are.
const report_format* format_named(const std::string& name);
const report_format* format_of_path(const std::string& path);
const report_format* format_of_path(const std::string& path, std::string& error);

// "text, html, json or csv", and the same for the endings.
std::string format_names();
std::string format_endings();

// Writes a saved snapshot in the format that the ending of `out` asks for. Returns "", or what is
// wrong.
std::string convert_snapshot(const std::string& in, const std::string& out);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_REPORT_FORMATS_HPP
