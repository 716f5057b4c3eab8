// recording_window.hpp - the window that a workload runs under, where there is one.
//
// Two files define it, and a program gets one of them: without_window.cpp for the programs that run
// plain or under another tool, with_window.cpp for those that have allocscope compiled in.

#ifndef ALLOCSCOPE_BENCHMARKS_RECORDING_WINDOW_HPP
#define ALLOCSCOPE_BENCHMARKS_RECORDING_WINDOW_HPP

#include <functional>  // function
#include <string>      // string

namespace benchmarks {

// Opens the window of `mode` and returns what closes it and writes its report to standard error.
// Ends the program with exit code 2 when this program has no such mode.
//
//     none | off | counters | sampled | exact 8 | exact 16 | exact 24
std::function<void()> begin_recording(const std::string& mode);

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_RECORDING_WINDOW_HPP
