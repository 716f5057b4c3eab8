// next_malloc.hpp - the functions that the program would call if the hooks were not there.
//
// Room:     tests/malloc_family
// Called:   by tests that compare with them
// Threads:  any
// Memory:   the next allocator's in the search order: glibc's, unless another one is preloaded

#ifndef ALLOCSCOPE_TESTS_MALLOC_FAMILY_NEXT_MALLOC_HPP
#define ALLOCSCOPE_TESTS_MALLOC_FAMILY_NEXT_MALLOC_HPP

#include <allocscope/hooks/intercepted_functions.hpp>

#include <dlfcn.h>  // dlsym, dlvsym, dladdr
#include <cstring>  // strcmp, strstr

namespace next_malloc {

// The functions of libc_malloc_debug.so are found with their version alone, as programs find them.
inline void* checking(const char* name) {
    const bool is_younger = std::strcmp(name, "aligned_alloc") == 0;
    void* const found = dlvsym(RTLD_NEXT, name, is_younger ? "GLIBC_2.16" : "GLIBC_2.2.5");
    Dl_info about = {};
    const bool is_checking = dladdr(found, &about) != 0 &&
                             std::strstr(about.dli_fname, "libc_malloc_debug.so") != nullptr;
    return is_checking ? found : nullptr;
}

template <class Function>
Function find(const char* name) {
    void* const found = checking(name);
    return reinterpret_cast<Function>(found != nullptr ? found : dlsym(RTLD_NEXT, name));
}

#define ALLOCSCOPE_TEST_NEXT(result, name, parameters, arguments)                \
    inline result name parameters {                                              \
        static const auto function = find<result(*) parameters noexcept>(#name); \
        return function arguments;                                               \
    }
ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_TEST_NEXT)
#undef ALLOCSCOPE_TEST_NEXT

inline bool is_glibc() {
    Dl_info found = {};
    return checking("malloc") != nullptr || (dladdr(dlsym(RTLD_NEXT, "malloc"), &found) != 0 &&
                                             std::strstr(found.dli_fname, "libc.so") != nullptr);
}

}  // namespace next_malloc

#endif  // ALLOCSCOPE_TESTS_MALLOC_FAMILY_NEXT_MALLOC_HPP
