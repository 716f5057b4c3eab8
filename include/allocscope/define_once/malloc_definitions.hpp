// malloc_definitions.hpp - the symbols of malloc and its family, and nothing else.
//
// Room:     define_once (floor 11), malloc-safe
// Called:   by the whole program, its libraries and the C library itself
// Threads:  any
// Memory:   the underlying allocator's (hooks/underlying_allocator.hpp)
//
// A part of malloc_family.hpp that compiles without exceptions and RTTI and needs no C++ library.
//
// A sanitizer brings a malloc of its own, which must not be replaced: then nothing is defined.

#ifndef ALLOCSCOPE_DEFINE_ONCE_MALLOC_DEFINITIONS_HPP
#define ALLOCSCOPE_DEFINE_ONCE_MALLOC_DEFINITIONS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/hooks/intercepted_functions.hpp>
#include <allocscope/hooks/malloc_entry.hpp>
#include <allocscope/hooks/unready_blocks.hpp>

#include <cstddef>  // size_t
#include <cstdlib>  // malloc, calloc, realloc, free, aligned_alloc, posix_memalign, ...

#include <malloc.h>  // memalign, valloc, pvalloc, malloc_usable_size

// The first event begins the recording, if the library is ready for it. Its stack begins with the
// caller of malloc, because the call is malloc's last act: clang has to be told without -O.
#if defined(__clang__)
    #define ALLOCSCOPE_PRIVATE_TAIL __attribute__((musttail))
#else
    #define ALLOCSCOPE_PRIVATE_TAIL
#endif
#if ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT
ALLOCSCOPE_NAMESPACE_BEGIN
namespace detail {
    #define ALLOCSCOPE_PRIVATE_FIRST_EVENT(result, name, parameters, arguments) \
        ALLOCSCOPE_NOINLINE result first_event_##name parameters noexcept {     \
            const void* const caller = __builtin_return_address(0);             \
            if (!begin_if_ready(caller)) return unready_##name arguments;       \
            return hooked_##name arguments;                                     \
        }
ALLOCSCOPE_INTERCEPTED_FUNCTIONS(ALLOCSCOPE_PRIVATE_FIRST_EVENT)
    #undef ALLOCSCOPE_PRIVATE_FIRST_EVENT
}  // namespace detail
ALLOCSCOPE_NAMESPACE_END
    #define ALLOCSCOPE_PRIVATE_BEGIN(name, arguments)                              \
        if (ALLOCSCOPE_UNLIKELY(allocscope::detail::process.entry.is_untouched())) \
            ALLOCSCOPE_PRIVATE_TAIL return allocscope::detail::first_event_##name arguments;
#else
    #define ALLOCSCOPE_PRIVATE_BEGIN(name, arguments)
#endif

// Seen from every module, whatever the program is compiled with. noinline, used: as the operators.
#define ALLOCSCOPE_PRIVATE_DEFINE(result, name, parameters, arguments) \
    extern "C" __attribute__((visibility("default"), noinline, used))  \
    result name parameters noexcept {                                  \
        ALLOCSCOPE_PRIVATE_BEGIN(name, arguments)                      \
        return allocscope::detail::hooked_##name arguments;            \
    }

#if !ALLOCSCOPE_ON(MALLOC_OF_SANITIZER)
ALLOCSCOPE_INTERCEPTED_FUNCTIONS(ALLOCSCOPE_PRIVATE_DEFINE)
#endif

#undef ALLOCSCOPE_PRIVATE_DEFINE
#undef ALLOCSCOPE_PRIVATE_BEGIN
#undef ALLOCSCOPE_PRIVATE_TAIL

#endif  // ALLOCSCOPE_DEFINE_ONCE_MALLOC_DEFINITIONS_HPP
