// program_file.hpp - whether a program can be recorded, from its file.
#ifndef ALLOCSCOPE_TOOLS_RUN_PROGRAM_FILE_HPP
#define ALLOCSCOPE_TOOLS_RUN_PROGRAM_FILE_HPP

#include <string>

namespace allocscope_tools {

// The file that a command runs, found along $PATH; "" if there is none.
std::string find_program(const std::string& command);

// Why the loader puts no library into the program, as the second half of a sentence; "" if it does,
// or if that is unknown. For a script, its interpreter is looked at.
std::string why_not_loadable(const std::string& file);

// The same, or why the library would not replace its malloc: a sanitizer has its own.
std::string why_not_preloadable(const std::string& file);

// Whether nothing can be loaded into the program because it has no loader. It hands LD_PRELOAD on
// to the programs that it starts.
bool is_static(const std::string& file);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_PROGRAM_FILE_HPP
