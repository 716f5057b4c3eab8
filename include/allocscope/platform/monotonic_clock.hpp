// monotonic_clock.hpp - nanoseconds that never go back.
//
// Room:     platform (floor 1), malloc-safe
// Called:   when a window opens and when it is reported
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_PLATFORM_MONOTONIC_CLOCK_HPP
#define ALLOCSCOPE_PLATFORM_MONOTONIC_CLOCK_HPP

#include <allocscope/config.hpp>

#include <cstdint>  // uint64_t

#include <time.h>  // clock_gettime

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// 0 when there is no clock; a difference of two readings is then 0 and nothing divides by it.
inline std::uint64_t monotonic_ns() noexcept {
    struct timespec now;
    if (::clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_MONOTONIC_CLOCK_HPP
