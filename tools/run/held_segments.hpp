// held_segments.hpp - the segments of a recording that some process still has in its memory.
//
// A process that shares the memory of the one that made it (clone with CLONE_VM) goes on to record
// in the same segment when its maker has ended. It would find the segment empty.
#ifndef ALLOCSCOPE_TOOLS_RUN_HELD_SEGMENTS_HPP
#define ALLOCSCOPE_TOOLS_RUN_HELD_SEGMENTS_HPP

#include "recording_file.hpp"

#include <cstdint>
#include <set>
#include <string>

namespace allocscope_tools {

// Looks at all processes that execute one of these files: who shares memory shares the file, too.
std::set<std::uint32_t> held_segments(const recording_file& recording,
                                      const std::set<std::string>& executed);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_HELD_SEGMENTS_HPP
