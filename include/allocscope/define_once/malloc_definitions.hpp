// malloc_definitions.hpp - the symbols of malloc and its family, and nothing else.
//
// Room:     define_once (floor 12), malloc-safe
// Called:   by the whole program, its libraries and the C library itself
// Threads:  any
// Memory:   the underlying allocator's (hooks/underlying_allocator.hpp)
//
// This part of malloc_family.hpp compiles without exceptions and RTTI and needs no C++ library.
//
// A sanitizer has its own malloc, which must not be replaced. Then nothing is defined here.

#ifndef ALLOCSCOPE_DEFINE_ONCE_MALLOC_DEFINITIONS_HPP
#define ALLOCSCOPE_DEFINE_ONCE_MALLOC_DEFINITIONS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/hooks/intercepted_functions.hpp>
#include <allocscope/hooks/malloc_entry.hpp>

#include <cstddef>  // size_t
#include <cstdlib>  // malloc, calloc, realloc, free, aligned_alloc, posix_memalign, ...

#include <malloc.h>  // memalign, valloc, pvalloc, malloc_usable_size
#if defined(__clang__) && __has_include(<mm_malloc.h>)
    // Headers of intrinsics include it. It declares posix_memalign without noexcept, which clang
    // takes behind glibc's declaration, but not behind a definition.
    #include <mm_malloc.h>  // posix_memalign
#endif

// Visible to every module, whatever the program is compiled with. noinline, used: as the operators.
#define ALLOCSCOPE_PRIVATE_DEFINE(result, name, parameters, arguments)            \
    extern "C" __attribute__((__visibility__("default"), __noinline__, __used__)) \
    result name parameters noexcept {                                             \
        return allocscope::detail::hooked_##name arguments;                       \
    }

#if !ALLOCSCOPE_ON(MALLOC_OF_SANITIZER)
// The two of C23, which not every <cstdlib> declares.
extern "C" void free_sized(void* block, std::size_t bytes) noexcept;
extern "C" void free_aligned_sized(void* block, std::size_t alignment, std::size_t bytes) noexcept;
ALLOCSCOPE_INTERCEPTED_FUNCTIONS(ALLOCSCOPE_PRIVATE_DEFINE)
#endif

#undef ALLOCSCOPE_PRIVATE_DEFINE

#endif  // ALLOCSCOPE_DEFINE_ONCE_MALLOC_DEFINITIONS_HPP
