// nameless_wrappers.hpp - which functions of a stripped program only return what malloc returned.
#ifndef ALLOCSCOPE_TOOLS_NAMELESS_WRAPPERS_HPP
#define ALLOCSCOPE_TOOLS_NAMELESS_WRAPPERS_HPP

namespace allocscope_tools {

// From now on, rows are not placed in functions without a name that only return what they
// allocated, but in their callers. One thread.
void pass_over_nameless_wrappers();

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_NAMELESS_WRAPPERS_HPP
