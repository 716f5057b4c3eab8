// shown_memory.hpp - which snapshots show where the resident memory is, and in which words.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by the writers of text, JSON, pages and saved snapshots
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_SNAPSHOT_SHOWN_MEMORY_HPP
#define ALLOCSCOPE_SNAPSHOT_SHOWN_MEMORY_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/memory_use.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Null for a difference, and for a snapshot without the parts of the memory.
inline const memory_use* shown_memory(const snapshot::window_info& info) noexcept {
    return info.is_difference ? nullptr : info.memory;
}

struct memory_words {
    const char* name;
    const char* meaning;
};

// In the order of memory_part.
ALLOCSCOPE_HIDDEN inline constexpr memory_words words_of_parts[memory_part_count] = {
    {"recorded objects", "alive in this window, as requested"},
    {"rounding, headers", "what malloc adds to them; computed from their sizes"},
    {"other blocks in use", "not of this window, or in malloc's thread caches"},
    {"free, kept by malloc", "freed or never used, and not given back to the kernel"},
    {"rest of malloc's heap", "free, or in use and not recorded; malloc was not asked"},
    {"allocscope", "its tables, names and snapshots"},
    {"program and libraries", "code, constants and variables"},
    {"other files", "mapped into memory"},
    {"shared memory", "shm, memfd, System V"},
    {"stacks", "of all threads"},
    {"other anonymous memory", "from mmap, or of a malloc that cannot be told from it"},
    {"unexplained", "devices, and what no other part holds"}};

inline const memory_words& words_of(memory_part part) noexcept {
    return words_of_parts[static_cast<std::size_t>(part)];
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_SHOWN_MEMORY_HPP
