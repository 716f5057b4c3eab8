// linked_functions.hpp - which function a call reaches through what the linker put in between.
#ifndef ALLOCSCOPE_TOOLS_LINKED_FUNCTIONS_HPP
#define ALLOCSCOPE_TOOLS_LINKED_FUNCTIONS_HPP

namespace allocscope_tools {

// From now on, reports about another process know where calls through a stub of the linker (.plt)
// or a word of its tables (.got) lead. One thread.
void follow_links();

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_LINKED_FUNCTIONS_HPP
