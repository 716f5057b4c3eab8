// library_functions.hpp - functions of the C library, found in the C library and nowhere else.
//
// Called:   by everything in this library, under the names of the C library
// Threads:  any; each function is looked up by its first caller, and so may be by several
// Memory:   none
//
// As with system_calls.hpp, the program may have other functions under these names: a plugin
// system its own `dlopen`, a tool for tests a clock of its own. So the functions are in this
// library and hidden, and each goes on to the one in the C library's own table of symbols:
//
//     _r_debug -> program -> this library -> libc.so.6 -> DT_GNU_HASH -> dlsym
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_LIBRARY_FUNCTIONS_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_LIBRARY_FUNCTIONS_HPP

#include "defined_symbols.hpp"

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>

#include <cstdint>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <time.h>

extern "C" int __libc_start_main();

namespace allocscope_tools {

using allocscope::detail::atomic;
using allocscope::detail::defined_symbols;
using allocscope::detail::memory_order;

// A name of that version: with an older C library, the loader says that it does not have it.
__attribute__((used)) static int (*const needs_this_version)() = &__libc_start_main;

// It was loaded with the program, so it stays, and what lies before it in the list as well.
inline const link_map* find_c_library() noexcept {
    static atomic<const link_map*> found{nullptr};
    const link_map* each = found.load(memory_order::relaxed);
    if (each != nullptr) return each;
    each = _r_debug.r_map;
    while (!defined_symbols{each->l_addr, each->l_ld}.is_library("libc.so.6")) each = each->l_next;
    found.store(each, memory_order::relaxed);
    return each;
}

ALLOCSCOPE_NOINLINE std::uintptr_t address_in_c_library(const char* name) noexcept {
    const link_map& library = *find_c_library();
    const defined_symbols symbols{library.l_addr, library.l_ld};
    return symbols.address_of(*symbols.find(name));
}

template <class Function>
Function of_c_library(atomic<Function>& found, const char* name) noexcept {
    Function function = found.load(memory_order::relaxed);
    if (ALLOCSCOPE_LIKELY(function != nullptr)) return function;
    const std::uintptr_t address = address_in_c_library(name);
    std::memcpy(&function, &address, sizeof function);
    found.store(function, memory_order::relaxed);
    return function;
}

}  // namespace allocscope_tools

#define ALLOCSCOPE_PRIVATE_FUNCTION(result, name, parameters, arguments)                        \
    namespace allocscope_tools {                                                                \
    inline atomic<result(*) parameters> found_##name{nullptr};                                  \
    }                                                                                           \
    extern "C" result preload_##name parameters noexcept __asm__(#name);                        \
    extern "C" result preload_##name parameters noexcept {                                      \
        return allocscope_tools::of_c_library(allocscope_tools::found_##name, #name) arguments; \
    }
ALLOCSCOPE_PRIVATE_FUNCTION(int, clock_gettime, (clockid_t clock, timespec* out), (clock, out))
ALLOCSCOPE_PRIVATE_FUNCTION(int, dl_iterate_phdr,
                            (int (*visit)(dl_phdr_info*, size_t, void*), void* data), (visit, data))
ALLOCSCOPE_PRIVATE_FUNCTION(int, dladdr, (const void* address, Dl_info* out), (address, out))
ALLOCSCOPE_PRIVATE_FUNCTION(int, dladdr1,
                            (const void* address, Dl_info* out, void** more, int which),
                            (address, out, more, which))
ALLOCSCOPE_PRIVATE_FUNCTION(void*, dlopen, (const char* name, int how), (name, how))
ALLOCSCOPE_PRIVATE_FUNCTION(void*, dlsym, (void* scope, const char* name), (scope, name))
ALLOCSCOPE_PRIVATE_FUNCTION(void*, dlvsym, (void* scope, const char* name, const char* version),
                            (scope, name, version))
ALLOCSCOPE_PRIVATE_FUNCTION(struct mallinfo2, mallinfo2, (), ())
ALLOCSCOPE_PRIVATE_FUNCTION(int, pthread_getcpuclockid, (pthread_t thread, clockid_t* out),
                            (thread, out))
ALLOCSCOPE_PRIVATE_FUNCTION(int, pthread_key_create, (pthread_key_t * key, void (*end)(void*)),
                            (key, end))
ALLOCSCOPE_PRIVATE_FUNCTION(int, pthread_key_delete, (pthread_key_t key), (key))
ALLOCSCOPE_PRIVATE_FUNCTION(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
ALLOCSCOPE_PRIVATE_FUNCTION(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
ALLOCSCOPE_PRIVATE_FUNCTION(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
ALLOCSCOPE_PRIVATE_FUNCTION(pthread_t, pthread_self, (), ())
ALLOCSCOPE_PRIVATE_FUNCTION(int, pthread_setspecific, (pthread_key_t key, const void* value),
                            (key, value))
#undef ALLOCSCOPE_PRIVATE_FUNCTION

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_LIBRARY_FUNCTIONS_HPP
