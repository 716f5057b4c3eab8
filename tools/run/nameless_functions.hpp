// nameless_functions.hpp - names for the functions of stripped modules, and which are library code.
#ifndef ALLOCSCOPE_TOOLS_NAMELESS_FUNCTIONS_HPP
#define ALLOCSCOPE_TOOLS_NAMELESS_FUNCTIONS_HPP

#include <string>
#include <vector>

namespace allocscope_tools {

// A pattern of --library-frames, such as "git+0x2898a0": the function without a name around that
// number in the module. A '!' before it makes the function the user's.
enum class numbered_pattern { valid, invalid, none };
numbered_pattern read_numbered_pattern(const std::string& text);

// From now on a function without a name is called by where it begins. Rows are not placed in those
// that a pattern declares to be library code, nor in those that only return what they allocated.
// Other patterns are passed over. One thread.
void name_nameless_functions(const std::vector<std::string>& patterns);

// Says which of these patterns no frame fits, though the program has frames in their modules: the
// numbers may be those of another build. One line for each, or "".
std::string remark_on_unmet_numbers();

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_NAMELESS_FUNCTIONS_HPP
