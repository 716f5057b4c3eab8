// nameless_wrappers.hpp - which functions of a stripped program only return what malloc returned.
#ifndef ALLOCSCOPE_TOOLS_NAMELESS_WRAPPERS_HPP
#define ALLOCSCOPE_TOOLS_NAMELESS_WRAPPERS_HPP

#include <allocscope/symbols/machine_code.hpp>

#include <cstdint>

namespace allocscope_tools {

// Whether the function around a call returns the block of memory that the call returned, and does
// nothing else with it. The return address is a linked one.
bool hands_on_block(const allocscope::symbolize::machine_code& code, std::uint64_t return_address);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_NAMELESS_WRAPPERS_HPP
