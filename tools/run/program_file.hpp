// program_file.hpp - whether the loader will put a library into a program.
#ifndef ALLOCSCOPE_TOOLS_RUN_PROGRAM_FILE_HPP
#define ALLOCSCOPE_TOOLS_RUN_PROGRAM_FILE_HPP

#include <string>

namespace allocscope_tools {

// The file that a command is, along PATH; "" when there is none.
std::string find_program(const std::string& command);

// Why nothing can be preloaded into the program, as half a sentence about it; "" when it can, or
// when that cannot be found out. Of a script its interpreter is what counts.
std::string why_not_preloadable(const std::string& file);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_PROGRAM_FILE_HPP
