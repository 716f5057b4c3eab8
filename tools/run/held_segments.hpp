// held_segments.hpp - whether some process still has a segment of the recording in its memory.
//
// A process that shares the memory of the one that made it (clone with CLONE_VM) goes on to record
// in the same segment when its maker has ended. It would find the segment empty.
#ifndef ALLOCSCOPE_TOOLS_RUN_HELD_SEGMENTS_HPP
#define ALLOCSCOPE_TOOLS_RUN_HELD_SEGMENTS_HPP

#include "recording_file.hpp"

#include <cstdint>

namespace allocscope_tools {

// Asks the kernel how many mappings a page has that every event uses. That needs no right to look
// at other processes. True if the kernel does not say.
bool is_held(const recording_file& recording, std::uint32_t index);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_HELD_SEGMENTS_HPP
