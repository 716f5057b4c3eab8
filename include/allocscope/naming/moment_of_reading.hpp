// moment_of_reading.hpp - the moment that a snapshot shows: now, or the end of another program.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   when a window is read
// Threads:  any
// Memory:   none
//
// The command that records another process reads its window when that has ended, or long after
// it has executed another program in its place. What a snapshot says about time (how long the
// window was open, how old the objects are) is then true of the end of the program.

#ifndef ALLOCSCOPE_NAMING_MOMENT_OF_READING_HPP
#define ALLOCSCOPE_NAMING_MOMENT_OF_READING_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/clocks.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// When the program that is read from outside ended, on the monotonic clock; 0: it runs, or is this
// one.
ALLOCSCOPE_HIDDEN inline std::uint64_t end_of_program_ns = 0;

inline std::uint64_t moment_of_reading_ns() noexcept {
    return end_of_program_ns != 0 ? end_of_program_ns : monotonic_ns();
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_MOMENT_OF_READING_HPP
