// allocation_counts.hpp - the numbers of a window.
//
// Room:     base (floor 0), malloc-safe
// Called:   filled by windows/, handed to the user by measure/scope.hpp and snapshot/
// Threads:  a plain value
// Memory:   48 bytes
//
//     allocscope::allocation_counts now = window.counts();
//     now.allocations;      // 1100
//     now.live_objects();   // 1100 - frees

#ifndef ALLOCSCOPE_BASE_ALLOCATION_COUNTS_HPP
#define ALLOCSCOPE_BASE_ALLOCATION_COUNTS_HPP

#include <allocscope/config.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

// What happened to the objects born in one window. An object that was born before the window
// is in none of these numbers, whenever it dies. Reading them allocates nothing.
struct allocation_counts {
    std::uint64_t allocations = 0;      // objects born in the window
    std::uint64_t frees = 0;            // how many of those have died since, on any thread
    std::uint64_t bytes_allocated = 0;  // their sizes as requested, never rounded up
    std::uint64_t bytes_freed = 0;      // sizes of those that died, as requested
    // The most bytes of this window's objects that were alive at one time. Exact while one thread
    // allocates and frees the window's objects; with n threads within n * 64 KiB of the true
    // number.
    std::uint64_t peak_bytes = 0;
    // Events of the process since the window opened that are missing in some or all of these
    // numbers, because they could not be recorded; info().losses of a snapshot says why. If this is
    // not 0, each number may be too low.
    std::uint64_t lost_events = 0;

    std::uint64_t live_objects() const noexcept { return allocations - frees; }
    std::uint64_t live_bytes() const noexcept { return bytes_allocated - bytes_freed; }
};

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_ALLOCATION_COUNTS_HPP
