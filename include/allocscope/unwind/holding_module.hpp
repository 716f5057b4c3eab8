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
#include <allocscope/platform/find_object.hpp>
#include <allocscope/unwind/module_segments.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t

#include <elf.h>       // Elf64_Phdr, AT_PHDR, AT_PHNUM, PT_GNU_EH_FRAME, PT_LOAD
#include <link.h>      // _r_debug, link_map
#include <sys/auxv.h>  // getauxval

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Where the module lies, and what the loader knows of it.
struct holding_module {
    std::uintptr_t start = 0;  // of its ELF header; 0: no module
    std::uintptr_t end = 0;
    std::uintptr_t index = 0;  // of .eh_frame_hdr; 0: it has none
    const link_map* loaded = nullptr;
};

// The segments of the program itself, which the kernel has mapped.
inline module_segments segments_of_program(const link_map& program) noexcept {
    module_segments found;
    found.first = reinterpret_cast<const Elf64_Phdr*>(::getauxval(AT_PHDR));
    found.count = found.first != nullptr ? ::getauxval(AT_PHNUM) : 0;
    found.base = program.l_addr;
    return found;
}

// Whether the module holds the address. `out` then says where the module and its index lie.
ALLOCSCOPE_NOINLINE bool describe_if_holds(const module_segments& module, std::uintptr_t address,
                                           holding_module& out) noexcept {
    constexpr std::uintptr_t page = 4096;
    std::uintptr_t low = ~std::uintptr_t{0};
    std::uintptr_t high = 0;
    std::uintptr_t index = 0;
    for (std::size_t i = 0; i < module.count; ++i) {
        const Elf64_Phdr& each = module.first[i];
        const std::uintptr_t begin = module.base + each.p_vaddr;
        if (each.p_type == PT_GNU_EH_FRAME) index = begin;
        if (each.p_type != PT_LOAD) continue;
        if ((begin & ~(page - 1)) < low) low = begin & ~(page - 1);
        if (begin + each.p_memsz > high) high = begin + each.p_memsz;
    }
    if (address < low || address >= high) return false;
    out.start = low;
    out.end = high;
    out.index = index;
    return true;
}

// For glibc before 2.35. Finds only modules that were loaded with the program: they stay until its
// end, and their part of the loader's list, up to the loader itself, never changes.
ALLOCSCOPE_NOINLINE holding_module find_start_module(std::uintptr_t address) noexcept {
    holding_module found;
    const link_map* each = _r_debug.r_map;
    if (each == nullptr) return found;
    module_segments module = segments_of_program(*each);
    while (!describe_if_holds(module, address, found)) {
        if (each->l_addr == _r_debug.r_ldbase || each->l_next == nullptr) return found;
        each = each->l_next;
        module = {};
        find_module_segments(each->l_addr, module);
    }
    found.loaded = each;
    return found;
}

// Finds none when no module holds the address or, before glibc 2.35, none that was loaded with the
// program. Not inlined, because the loader's answer takes 100 bytes of stack.
ALLOCSCOPE_NOINLINE holding_module find_holding_module(std::uintptr_t address) noexcept {
    if (!can_tell_modules()) return find_start_module(address);
    holding_module found;
    struct dl_find_object answer;
    if (_dl_find_object(reinterpret_cast<void*>(address), &answer) != 0) return found;
    found.start = reinterpret_cast<std::uintptr_t>(answer.dlfo_map_start);
    found.end = reinterpret_cast<std::uintptr_t>(answer.dlfo_map_end);
    found.index = reinterpret_cast<std::uintptr_t>(answer.dlfo_eh_frame);
    found.loaded = answer.dlfo_link_map;
    if (found.loaded == _r_debug.r_map && found.loaded != nullptr) {
        describe_if_holds(segments_of_program(*found.loaded), address, found);
    }
    return found;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_UNWIND_HOLDING_MODULE_HPP
