// thread_vectors.hpp - what the loader allocates for this library with each new thread.
//
// Called:   while a calloc is recorded
// Threads:  any
// Memory:   none
//
// For each thread, the loader allocates a vector with an entry for every module that has
// thread-local variables. This library is such a module, and without it the vector would have one
// entry less. So that entry is not counted. The loader calls calloc with this element size for
// nothing else.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_THREAD_VECTORS_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_THREAD_VECTORS_HPP

#include <allocscope/hooks/malloc_entry.hpp>
#include <allocscope/unwind/module_identity.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <cstddef>
#include <cstdint>

#include <link.h>

namespace allocscope {
namespace detail {

constexpr std::size_t thread_vector_entry_bytes = 16;  // dtv_t of glibc

inline std::uintptr_t loader_start = 0;
inline std::uintptr_t loader_size = 0;

inline void note_if_loader(const link_map& loaded, const module_identity& found) noexcept {
    if (loaded.l_addr != _r_debug.r_ldbase) return;
    loader_start = found.start;
    loader_size = found.size;
}

std::size_t bytes_for_this_library(std::size_t count, std::size_t bytes,
                                   std::uintptr_t frame) noexcept {
    if (bytes != thread_vector_entry_bytes || count < 2) return 0;
    const std::uintptr_t caller = read_stack_word(frame + sizeof(std::uintptr_t));
    return caller - loader_start < loader_size ? thread_vector_entry_bytes : 0;
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_THREAD_VECTORS_HPP
