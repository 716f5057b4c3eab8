// json_answer.hpp - what show, diff and histogram print as JSON.
#ifndef ALLOCSCOPE_TOOLS_SHOW_JSON_ANSWER_HPP
#define ALLOCSCOPE_TOOLS_SHOW_JSON_ANSWER_HPP

#include "show_request.hpp"

#include <string>

namespace allocscope_tools {

// Prints what was loaded to stdout. Rows are printed as write_json() writes them. Sums have the
// same head, and "by" and "groups" in place of "rows". Returns "", or why that is impossible.
std::string print_json(const show_request& asked, const shown_snapshot& shown);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_SHOW_JSON_ANSWER_HPP
