// thread_watch.hpp - the names that the threads of the recorded programs had while they ran.
#ifndef ALLOCSCOPE_TOOLS_RUN_THREAD_WATCH_HPP
#define ALLOCSCOPE_TOOLS_RUN_THREAD_WATCH_HPP

#include "recording_file.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace allocscope_tools {

// The names, by the instance of the thread (state/thread_state.hpp).
using names_of_threads = std::map<std::uint32_t, std::string>;

// The recorded program makes no system call for this. The recording lists its threads, and the
// command reads their names in /proc now and then. A thread that has ended keeps the last name that
// was seen; one that ended before it was seen has none. A thread that was never named has the name
// of the program, which says nothing and is left out.
class thread_watch {
public:
    // Looks at the threads of a program that may still run.
    void look(const recording_file& file, std::uint32_t index);
    void forget(std::uint32_t index) { of_program_.erase(index); }
    const names_of_threads& of(std::uint32_t index) { return of_program_[index]; }

    // Seconds until the next look: soon after the start, later once a second.
    double pause();

private:
    std::map<std::uint32_t, names_of_threads> of_program_;
    double pause_ = 0.005;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_THREAD_WATCH_HPP
