// counted_bytes.hpp - how many bytes an object counts when samples are drawn.
//
// Room:     sampling (floor 2), malloc-safe
// Called:   for each allocation while a sampled window is open, and for each sample
// Threads:  any
// Memory:   none
//
// Each object counts 16 bytes more than were requested: about what an allocator stores beside a
// block. So an object is sampled with a probability of never much less than 16 / mean, and no
// sample stands for many more than mean / 16 objects. If only requested bytes counted, an object of
// 1 byte would stand for `mean` objects and one of 0 bytes for any number, and the number of
// objects in a window could not be bounded.

#ifndef ALLOCSCOPE_SAMPLING_COUNTED_BYTES_HPP
#define ALLOCSCOPE_SAMPLING_COUNTED_BYTES_HPP

#include <allocscope/config.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::uint64_t bytes_beside_each_object = 16;

// Wraps around only for requests that no allocator grants, and those are never samples.
constexpr std::uint64_t bytes_to_count(std::uint64_t requested) noexcept {
    return requested + bytes_beside_each_object;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAMPLING_COUNTED_BYTES_HPP
