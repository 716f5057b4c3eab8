// adopted_recording.hpp - makes the recording of another process that of this one.
#ifndef ALLOCSCOPE_TOOLS_RUN_ADOPTED_RECORDING_HPP
#define ALLOCSCOPE_TOOLS_RUN_ADOPTED_RECORDING_HPP

#include "thread_watch.hpp"

#include <allocscope/platform/memory_look.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace allocscope_tools {

// What the memory of a program was made of at some moment.
struct memory_moment {
    bool is_known = false;
    bool is_last = false;  // at the end of the program; otherwise at the moment `at`, from outside
    allocscope::snapshot::moment at{};
    allocscope::detail::memory_look look;
};

// What the recording does not say about its program.
struct program_facts {
    std::string command;  // the words with which it was started
    std::int32_t process_id = 0;
    std::int64_t clock_ahead_ns = 0;                    // of its monotonic clock
    std::uint64_t ended_ns = 0;                         // on our monotonic clock; 0: it runs
    std::vector<allocscope::snapshot::moment> moments;  // what was alive while it ran
    memory_moment memory;                               // when its memory was largest
    names_of_threads threads;
};

// Reads the recording of program `index` in the file, live or ended. The program's tables take the
// place of this process's own, so call it once, in a process that has recorded nothing. The
// addresses of the recording must be free here; if they are not, that is an error which another
// process need not have. `library_frames` are patterns of library code (places/frame_rule.hpp).
// Without `wants_rows` nothing is named, which is most of the work.
allocscope::snapshot adopt_recording(int file, std::uint32_t index, bool wants_rows,
                                     const program_facts& program,
                                     const std::vector<std::string>& library_frames,
                                     std::string& error);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_ADOPTED_RECORDING_HPP
