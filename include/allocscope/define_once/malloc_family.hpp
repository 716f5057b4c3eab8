// malloc_family.hpp - replaces malloc and its family, too: include it in exactly one .cpp.
//
// Room:     define_once (floor 12), malloc-safe
// Called:   by the whole program, its libraries and the C library itself
// Threads:  any
// Memory:   the C library's allocator, or the one that is linked or preloaded in its place; the
//           library's own memory comes from the kernel
//
//     // main.cpp, or a file of its own:
//     #include <allocscope/define_once/malloc_family.hpp>
//
// This header includes operator_new_delete.hpp with its 20 operators; the same .cpp may include
// that header, too. A window then sees every allocation of the process, including those of C
// libraries and of the C library itself. An allocation by an operator is counted once, as the
// operator's. If a second .cpp includes this header, the linker reports duplicate symbols. It also
// does so in a program that is linked with -static, see docs/limits.md.
//
// Under AddressSanitizer, ThreadSanitizer and similar tools, which have a malloc of their own, only
// the operators are replaced.

#ifndef ALLOCSCOPE_DEFINE_ONCE_MALLOC_FAMILY_HPP
#define ALLOCSCOPE_DEFINE_ONCE_MALLOC_FAMILY_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/define_once/malloc_definitions.hpp>
#include <allocscope/define_once/operator_memory.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>
#include <allocscope/hooks/malloc_entry.hpp>

#include <cstddef>  // size_t

#if !ALLOCSCOPE_ON(MALLOC_OF_SANITIZER)

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

template <>
struct memory_of<the_operators> {
    ALLOCSCOPE_FAST_PATH static void* obtain(std::size_t bytes) noexcept {
        return underlying_malloc(bytes);
    }
    ALLOCSCOPE_FAST_PATH static int obtain_aligned(void** place, std::size_t alignment,
                                                   std::size_t bytes) noexcept {
        return underlying_posix_memalign(place, alignment, bytes);
    }
    ALLOCSCOPE_FAST_PATH static void release(void* block) noexcept { underlying_free(block); }
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_ON(MALLOC_OF_SANITIZER)

#endif  // ALLOCSCOPE_DEFINE_ONCE_MALLOC_FAMILY_HPP
