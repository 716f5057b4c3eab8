// malloc_numbers.hpp - what the malloc of this process says about itself.
//
// Room:     platform (floor 1), not for use inside a hook: takes the locks of all arenas
// Called:   by platform/memory_look.hpp and report/explain_memory.hpp
// Threads:  any
// Memory:   none
//
// glibc's own numbers (mallinfo2, for all arenas together), those of jemalloc (mallctl) or of
// tcmalloc (MallocExtension). For any other malloc nothing is known.

#ifndef ALLOCSCOPE_PLATFORM_MALLOC_NUMBERS_HPP
#define ALLOCSCOPE_PLATFORM_MALLOC_NUMBERS_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

#include <dlfcn.h>   // dlsym
#include <malloc.h>  // mallinfo2

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

enum class malloc_kind { unknown, glibc, other };

struct malloc_numbers {
    malloc_kind kind = malloc_kind::unknown;
    std::uint64_t heap_bytes = 0;    // what it has from the kernel, without `mapped_bytes`
    std::uint64_t in_use_bytes = 0;  // of heap_bytes: handed out, with headers and thread caches
    std::uint64_t mapped_bytes = 0;  // glibc: large blocks, each in a mapping of its own
};

template <class Function>
Function* function_named(const char* name) noexcept {
    return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

inline bool read_jemalloc_numbers(malloc_numbers& into) noexcept {
    const auto ask =
        function_named<int(const char*, void*, std::size_t*, void*, std::size_t)>("mallctl");
    if (ask == nullptr) return false;
    std::uint64_t epoch = 1;
    std::size_t bytes = sizeof epoch;
    ask("epoch", &epoch, &bytes, &epoch, bytes);  // its numbers are those of the last epoch
    std::size_t allocated = 0;
    std::size_t resident = 0;
    bytes = sizeof allocated;
    const bool is_known = ask("stats.allocated", &allocated, &bytes, nullptr, 0) == 0 &&
                          ask("stats.resident", &resident, &bytes, nullptr, 0) == 0;
    if (is_known) into = {malloc_kind::other, resident, allocated, 0};
    return true;
}

inline bool read_tcmalloc_numbers(malloc_numbers& into) noexcept {
    const auto ask =
        function_named<int(const char*, std::size_t*)>("MallocExtension_GetNumericProperty");
    if (ask == nullptr) return false;
    std::size_t heap = 0;
    std::size_t unmapped = 0;
    std::size_t allocated = 0;
    const bool is_known = ask("generic.heap_size", &heap) != 0 &&
                          ask("tcmalloc.pageheap_unmapped_bytes", &unmapped) != 0 &&
                          ask("generic.current_allocated_bytes", &allocated) != 0;
    if (is_known && unmapped <= heap) into = {malloc_kind::other, heap - unmapped, allocated, 0};
    return true;
}

inline malloc_numbers read_malloc_numbers() noexcept {
    malloc_numbers known;
    if (read_jemalloc_numbers(known) || read_tcmalloc_numbers(known)) return known;
    if (::dlsym(RTLD_DEFAULT, "mi_version") != nullptr) return known;  // mimalloc has none
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 all = ::mallinfo2();
    // All are 0 when another malloc is in use, as under a sanitizer.
    if (all.arena == 0 && all.hblkhd == 0) return known;
    known = {malloc_kind::glibc, all.arena, all.uordblks, all.hblkhd};
#endif
    return known;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_MALLOC_NUMBERS_HPP
