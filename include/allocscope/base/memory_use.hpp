// memory_use.hpp - the parts of a process's resident memory, which add up to it.
//
// Room:     base (floor 0), malloc-safe
// Called:   filled by report/explain_memory.hpp; carried by snapshots; read by users and writers
// Threads:  a plain value
// Memory:   120 bytes
//
//     allocscope::memory_use now = allocscope::explain_memory();
//     now.resident_bytes;                            // as the kernel counts it
//     now[allocscope::memory_part::free_blocks];     // of that: freed, and kept by malloc
//
// Every resident page is in exactly one part, so the parts always add up to resident_bytes.

#ifndef ALLOCSCOPE_BASE_MEMORY_USE_HPP
#define ALLOCSCOPE_BASE_MEMORY_USE_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

enum class memory_part : std::uint32_t {
    recorded,      // objects alive in the window, as requested
    rounding,      // what malloc adds to them: headers, sizes rounded up. Computed from their sizes
    other_blocks,  // other blocks in use, as malloc counts: not of the window, thread caches
    free_blocks,   // freed, or never used, and kept by malloc
    heap_rest,     // in malloc's heap and not recorded, where its own numbers are not known
    allocscope,    // tables, names, snapshots
    program,       // the program and its libraries: code, constants, variables
    files,         // other files that are mapped
    shared,        // memory shared with other processes: shm, memfd, System V
    stacks,        // of all threads, and memory that is guarded like a stack
    anonymous,     // other memory from mmap, or of a malloc that cannot be told from it
    unexplained    // of devices, and what the kernel counts but no part above contains
};
constexpr std::size_t memory_part_count = 12;

struct memory_use {
    std::uint64_t resident_bytes = 0;  // the sum of the parts; 0: it could not be read
    std::uint64_t swapped_bytes = 0;   // written out by the kernel, and in no part
    std::uint64_t at_ns = 0;           // since the window began; 0 without a window
    std::uint64_t parts[memory_part_count] = {};

    std::uint64_t& operator[](memory_part part) noexcept {
        return parts[static_cast<std::size_t>(part)];
    }
    std::uint64_t operator[](memory_part part) const noexcept {
        return parts[static_cast<std::size_t>(part)];
    }
};

// The name of a part in JSON and in saved snapshots; never changed.
constexpr const char* name_of(memory_part part) noexcept {
    constexpr const char* names[memory_part_count] = {
        "recorded", "rounding", "other_blocks", "free_blocks", "heap_rest", "allocscope",
        "program",  "files",    "shared",       "stacks",      "anonymous", "unexplained"};
    return names[static_cast<std::size_t>(part)];
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_MEMORY_USE_HPP
