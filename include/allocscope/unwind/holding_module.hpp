// holding_module.hpp - the module that holds an address, from its ELF header to its end.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   once for each address that is new to the caches of this room
// Threads:  any, lock-free
// Memory:   none
//
// _dl_find_object takes the segments of a program for separate modules when a page between two of
// them is not mapped. The kernel leaves such gaps when it maps the program. The loader, which maps
// libraries, fills them.

#ifndef ALLOCSCOPE_UNWIND_HOLDING_MODULE_HPP
#define ALLOCSCOPE_UNWIND_HOLDING_MODULE_HPP

#include <allocscope/base/compiler.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t

#include <dlfcn.h>     // dl_find_object
#include <elf.h>       // Elf64_Phdr, AT_PHDR, AT_PHNUM, PT_LOAD
#include <link.h>      // _r_debug
#include <sys/auxv.h>  // getauxval

#if defined(DLFO_STRUCT_HAS_EH_DBASE)

extern "C" int _dl_find_object(void* address, struct dl_find_object* result) noexcept
    __attribute__((weak));

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// `found` is one segment of the program, or all of it.
ALLOCSCOPE_INLINE void widen_to_program(struct dl_find_object& found) noexcept {
    constexpr std::uintptr_t page = 4096;
    const auto* const headers = reinterpret_cast<const Elf64_Phdr*>(::getauxval(AT_PHDR));
    const std::size_t count = headers != nullptr ? ::getauxval(AT_PHNUM) : 0;
    const std::uintptr_t base = found.dlfo_link_map->l_addr;
    std::uintptr_t low = ~std::uintptr_t{0};
    std::uintptr_t high = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (headers[i].p_type != PT_LOAD) continue;
        const std::uintptr_t begin = headers[i].p_vaddr & ~(page - 1);
        const std::uintptr_t end = headers[i].p_vaddr + headers[i].p_memsz;
        if (begin < low) low = begin;
        if (end > high) high = end;
    }
    const std::uintptr_t known = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start) - base;
    if (high == 0 || known < low || known >= high) return;
    found.dlfo_map_start = reinterpret_cast<void*>(base + low);
    found.dlfo_map_end = reinterpret_cast<void*>(base + high);
}

// Returns false when no module holds it, or when glibc is older than 2.35.
inline bool find_holding_module(std::uintptr_t address, struct dl_find_object& out) noexcept {
    if (&_dl_find_object == nullptr ||
        _dl_find_object(reinterpret_cast<void*>(address), &out) != 0) {
        return false;
    }
    if (out.dlfo_link_map == _r_debug.r_map && out.dlfo_link_map != nullptr) widen_to_program(out);
    return true;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif

#endif  // ALLOCSCOPE_UNWIND_HOLDING_MODULE_HPP
