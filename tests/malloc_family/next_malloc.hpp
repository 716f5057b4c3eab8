// next_malloc.hpp - the functions that the program would call if the hooks were not there.
//
// Room:     tests/malloc_family
// Called:   by tests that compare with them
// Threads:  any
// Memory:   the next allocator's in the search order: glibc's, unless another one is preloaded

#ifndef ALLOCSCOPE_TESTS_MALLOC_FAMILY_NEXT_MALLOC_HPP
#define ALLOCSCOPE_TESTS_MALLOC_FAMILY_NEXT_MALLOC_HPP

#include <allocscope/hooks/intercepted_functions.hpp>

#include <dlfcn.h>  // dlsym, dladdr
#include <cstring>  // strstr

namespace next_malloc {

template <class Function>
Function find(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
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
    return dladdr(dlsym(RTLD_NEXT, "malloc"), &found) != 0 &&
           (std::strstr(found.dli_fname, "libc.so") != nullptr ||
            std::strstr(found.dli_fname, "libc_malloc_debug.so") != nullptr);
}

}  // namespace next_malloc

#endif  // ALLOCSCOPE_TESTS_MALLOC_FAMILY_NEXT_MALLOC_HPP
