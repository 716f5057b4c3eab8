// adopted_recording.hpp - what another process has recorded becomes what this one has recorded.
#ifndef ALLOCSCOPE_TOOLS_RUN_ADOPTED_RECORDING_HPP
#define ALLOCSCOPE_TOOLS_RUN_ADOPTED_RECORDING_HPP

#include "thread_watch.hpp"

#include <allocscope/platform/memory_look.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace allocscope_tools {

// What the memory of a program was made of when it was looked at.
struct memory_moment {
    bool is_known = false;
    bool is_last = false;  // at its end; else `at`, from outside
    allocscope::snapshot::moment at{};
    allocscope::detail::memory_look look;
};

// Reads the recording of program `index` in the file, live or ended. Once in a process, which has
// recorded nothing itself: the program's tables take the place of its own. The address of the
// recording must be free here; that it is not is an error which another process need not have.
// `library_frames`: patterns of code that no row is to be placed in (types/frame_rule.hpp).
// Without rows nothing is named, which is most of the work.
// What the recording does not know of its program.
struct program_facts {
    std::string command;  // how it was called
    std::int32_t process_id = 0;
    std::vector<allocscope::snapshot::moment> moments;  // what was alive while it ran
    memory_moment memory;                               // when its memory was largest
    names_of_threads threads;
};

allocscope::snapshot adopt_recording(int file, std::uint32_t index, bool wants_rows,
                                     const program_facts& program,
                                     const std::vector<std::string>& library_frames,
                                     std::string& error);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_ADOPTED_RECORDING_HPP
