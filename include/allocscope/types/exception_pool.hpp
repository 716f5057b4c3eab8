// exception_pool.hpp - recognises the memory that libstdc++ keeps for exceptions.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by naming/stack_namer.hpp, for the direct caller of malloc
// Threads:  any
// Memory:   none
//
// When it is loaded, libstdc++ asks malloc for 71 KiB, so that exceptions can be thrown when there
// is no memory left. Every C++ program has this block, and never frees it. The function has no name
// in the library itself, which calls malloc nowhere else while the loader runs its initialisers; in
// a program that libstdc++ is linked into, it is named after its source, eh_alloc.cc.

#ifndef ALLOCSCOPE_TYPES_EXCEPTION_POOL_HPP
#define ALLOCSCOPE_TYPES_EXCEPTION_POOL_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

constexpr text exception_pool = "pool for exceptions";

// `function` is the caller of malloc, `module` its file, `caller` the file of the code that called
// this function.
inline bool is_exception_pool(const text& function, const text& module,
                              const text& caller) noexcept {
    if (function == "_GLOBAL__sub_I_eh_alloc.cc") return true;
    return function.empty() && file_name_of(module).starts_with("libstdc++.so.") &&
           file_name_of(caller).starts_with("ld-linux");
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_EXCEPTION_POOL_HPP
