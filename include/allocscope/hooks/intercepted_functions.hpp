// intercepted_functions.hpp - the one list of the functions that hand out and take back memory.
//
// Room:     hooks (floor 6), malloc-safe
// Called:   by the preprocessor only
// Threads:  any
// Memory:   none
//
// A list is a macro that applies another macro to each function:
//
//     ACTION(result, name, parameters, arguments)
//
// The list generates the table of the underlying functions (hooks/underlying_allocator.hpp) and the
// symbols that replace them (define_once/malloc_definitions.hpp). The hook of a function has the
// function's name with `hooked_` before it (hooks/malloc_entry.hpp).
//
//     births       malloc calloc posix_memalign aligned_alloc memalign valloc pvalloc
//     deaths       free free_sized free_aligned_sized
//     both         realloc reallocarray: a death and a birth
//     neither      malloc_usable_size

#ifndef ALLOCSCOPE_HOOKS_INTERCEPTED_FUNCTIONS_HPP
#define ALLOCSCOPE_HOOKS_INTERCEPTED_FUNCTIONS_HPP

#include <cstddef>  // size_t

// Functions that every C library and every other malloc defines.
#define ALLOCSCOPE_UNDERLYING_FUNCTIONS(ACTION)                                                  \
    ACTION(void*, malloc, (std::size_t bytes), (bytes))                                          \
    ACTION(void*, calloc, (std::size_t count, std::size_t bytes), (count, bytes))                \
    ACTION(void*, realloc, (void* block, std::size_t bytes), (block, bytes))                     \
    ACTION(void, free, (void* block), (block))                                                   \
    ACTION(int, posix_memalign, (void** place, std::size_t alignment, std::size_t bytes),        \
           (place, alignment, bytes))                                                            \
    ACTION(void*, aligned_alloc, (std::size_t alignment, std::size_t bytes), (alignment, bytes)) \
    ACTION(void*, memalign, (std::size_t alignment, std::size_t bytes), (alignment, bytes))      \
    ACTION(void*, valloc, (std::size_t bytes), (bytes))                                          \
    ACTION(void*, pvalloc, (std::size_t bytes), (bytes))                                         \
    ACTION(std::size_t, malloc_usable_size, (void* block), (block))

// Functions that can be written with those above. Not all C libraries have them: C23 added two, and
// glibc's version of the third calls realloc by its name, which is ours.
#define ALLOCSCOPE_DERIVED_FUNCTIONS(ACTION)                                                  \
    ACTION(void*, reallocarray, (void* block, std::size_t count, std::size_t bytes),          \
           (block, count, bytes))                                                             \
    ACTION(void, free_sized, (void* block, std::size_t bytes), (block, bytes))                \
    ACTION(void, free_aligned_sized, (void* block, std::size_t alignment, std::size_t bytes), \
           (block, alignment, bytes))

#define ALLOCSCOPE_INTERCEPTED_FUNCTIONS(ACTION) \
    ALLOCSCOPE_UNDERLYING_FUNCTIONS(ACTION)      \
    ALLOCSCOPE_DERIVED_FUNCTIONS(ACTION)

#endif  // ALLOCSCOPE_HOOKS_INTERCEPTED_FUNCTIONS_HPP
