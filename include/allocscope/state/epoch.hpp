// epoch.hpp - the time between two window boundaries, as one thread sees it.
//
// Room:     state (floor 4), malloc-safe
// Called:   made when a thread records its first allocation after a boundary
// Threads:  made and extended by one thread; read by any under the control lock
// Memory:   64 bytes
//
//     thread's epochs   newest -> older -> older ...
//                         |
//                       cohorts made in it: id -> id -> 0
//
// Windows begin and end at boundaries, so all objects that a thread allocates in one epoch belong
// to the same windows.

#ifndef ALLOCSCOPE_STATE_EPOCH_HPP
#define ALLOCSCOPE_STATE_EPOCH_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/config.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The serial of a thread that is in no epoch yet. Code that remembers an epoch uses 0 for "none",
// so the two are never equal.
constexpr std::uint32_t no_epoch = ~std::uint32_t{0};

struct alignas(64) epoch {
    atomic<std::uint64_t> began_at;  // boundary clock
    atomic<std::uint64_t> instance;  // of the thread, never used twice
    atomic<std::uint64_t> windows;   // slots 0..63 that watched the thread then
    atomic<std::uint32_t> serial;    // never used twice; not 0, not no_epoch
    atomic<std::uint32_t> cohorts;   // first of the list; 0: none
    atomic<epoch*> older;
    atomic<std::uint64_t> sample_bytes;  // mean bytes between samples; 0: every event counts
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_STATE_EPOCH_HPP
