// program_file.hpp - whether the loader will put a library into a program.
#ifndef ALLOCSCOPE_TOOLS_RUN_PROGRAM_FILE_HPP
#define ALLOCSCOPE_TOOLS_RUN_PROGRAM_FILE_HPP

#include <string>

namespace allocscope_tools {

// The file that a command runs, found along $PATH; "" if there is none.
std::string find_program(const std::string& command);

// Why no library can be preloaded into the program, as the second half of a sentence; "" if one
// can, or if that is unknown. For a script, its interpreter is looked at.
std::string why_not_preloadable(const std::string& file);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_PROGRAM_FILE_HPP
