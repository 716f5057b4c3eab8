// misspelled_variables.hpp - variables of the environment whose names are nearly those of options.
#ifndef ALLOCSCOPE_TOOLS_RUN_MISSPELLED_VARIABLES_HPP
#define ALLOCSCOPE_TOOLS_RUN_MISSPELLED_VARIABLES_HPP

#include <string>
#include <vector>

namespace allocscope_tools {

// A sentence for each variable that nobody reads, if a letter or two make it one of `names`. Other
// variables that begin with ALLOCSCOPE_ belong to the program or to a build.
std::vector<std::string> misspelled_variables(const char* const* environment,
                                              const std::vector<std::string>& names);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_MISSPELLED_VARIABLES_HPP
