// clocks.hpp - the time in nanoseconds: monotonic, and since 1970.
//
// Room:     platform (floor 1), malloc-safe
// Called:   when a window opens, is marked or is read; while a fork waits; and for numbers and
//           names that must differ from call to call
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_PLATFORM_CLOCKS_HPP
#define ALLOCSCOPE_PLATFORM_CLOCKS_HPP

#include <allocscope/base/compiler.hpp>

#include <cstdint>  // int64_t, uint64_t

#include <time.h>  // clock_gettime

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// 0 when there is no clock. A difference of two readings is then 0, and nothing divides by it.
ALLOCSCOPE_NOINLINE std::uint64_t clock_ns(clockid_t clock) noexcept {
    struct timespec now;
    if (::clock_gettime(clock, &now) != 0) return 0;
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

// Never goes back.
ALLOCSCOPE_INLINE std::uint64_t monotonic_ns() noexcept {
    return clock_ns(CLOCK_MONOTONIC);
}

// Since 1970 (UTC), as the system's clock has it now.
ALLOCSCOPE_INLINE std::int64_t unix_time_ns() noexcept {
    return static_cast<std::int64_t>(clock_ns(CLOCK_REALTIME));
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLATFORM_CLOCKS_HPP
