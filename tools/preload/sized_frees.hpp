// sized_frees.hpp - free_sized and free_aligned_sized, unless a library has functions of its own
// under these names.
//
// Called:   by the program and its libraries
// Threads:  any
// Memory:   none
//
// C knows them since 2023, glibc since 2.43. A library may have something else under such a name,
// and without us its calls reach that: no library before it has the name. So each call goes on to
// the definition in the caller's module, or else in one that was loaded with the program. Modules
// that define malloc, too, mean what C means: the C library, other allocators, tools that count.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_SIZED_FREES_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_SIZED_FREES_HPP

#include "defined_symbols.hpp"

#include <allocscope/base/atomic.hpp>
#include <allocscope/hooks/unready_blocks.hpp>
#include <allocscope/unwind/holding_module.hpp>

#include <cstddef>
#include <cstdint>

#include <link.h>

// What malloc_definitions.hpp defines gets other names in this library.
extern "C" {
void free_sized(void* block, std::size_t bytes) noexcept __asm__("free_sized_of_malloc");
void free_aligned_sized(void* block, std::size_t alignment, std::size_t bytes) noexcept
    __asm__("free_aligned_sized_of_malloc");
}

namespace allocscope {
namespace detail {

// Null if the module has none, or is one with malloc.
inline std::uintptr_t private_function(const link_map& module, const char* name) noexcept {
    const defined_symbols symbols{module.l_addr, module.l_ld};
    const Elf64_Sym* const found = symbols.find(name);
    if (found == nullptr || symbols.find("malloc") != nullptr) return 0;
    return symbols.address_of(*found);
}

// In the modules that were loaded with the program: up to the loader, they stay.
inline std::uintptr_t private_function_at_start(const char* name) noexcept {
    for (const link_map* each = _r_debug.r_map; each != nullptr; each = each->l_next) {
        if (const std::uintptr_t found = private_function(*each, name)) return found;
        if (each->l_addr == _r_debug.r_ldbase) break;
    }
    return 0;
}

class private_functions {
public:
    explicit constexpr private_functions(const char* name) noexcept : name_(name) {}

    // The one that the caller means; 0: that of malloc.
    std::uintptr_t find(const void* caller) noexcept {
        if (!is_relocated()) return 0;
        if (!is_start_known_.load(memory_order::acquire)) {
            at_start_.store(private_function_at_start(name_), memory_order::relaxed);
            is_start_known_.store(true, memory_order::release);
        }
        const holding_module module = find_holding_module(reinterpret_cast<std::uintptr_t>(caller));
        if (module.loaded != nullptr) {
            const std::uintptr_t found = private_function(*module.loaded, name_);
            if (found != 0) return found;
        }
        return at_start_.load(memory_order::relaxed);
    }

private:
    const char* name_;
    atomic<bool> is_start_known_{false};
    atomic<std::uintptr_t> at_start_{0};
};

inline private_functions private_free_sized{"free_sized"};
inline private_functions private_free_aligned_sized{"free_aligned_sized"};

}  // namespace detail
}  // namespace allocscope

// Arguments and result of a function that we do not know: all that registers for them hold.
using allocscope_unknown_function = long(long, long, long, long, long, long) noexcept;
#define ALLOCSCOPE_PRIVATE_FREE(name)                                                         \
    extern "C" allocscope_unknown_function own_##name __asm__(#name "_of_malloc");            \
    extern "C" __attribute__((visibility("default")))                                         \
    allocscope_unknown_function preload_##name __asm__(#name);                                \
    extern "C" long preload_##name(long a, long b, long c, long d, long e, long f) noexcept { \
        const std::uintptr_t other =                                                          \
            allocscope::detail::private_##name.find(__builtin_return_address(0));             \
        if (other == 0) return own_##name(a, b, c, d, e, f);                                  \
        return reinterpret_cast<allocscope_unknown_function*>(other)(a, b, c, d, e, f);       \
    }
ALLOCSCOPE_PRIVATE_FREE(free_sized)
ALLOCSCOPE_PRIVATE_FREE(free_aligned_sized)
#undef ALLOCSCOPE_PRIVATE_FREE

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_SIZED_FREES_HPP
