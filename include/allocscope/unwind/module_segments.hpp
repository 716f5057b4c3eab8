// module_segments.hpp - the segments of a loaded module, read from its ELF header in memory.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   before anything is read in a module that _dl_find_object found
// Threads:  any, as long as the module stays loaded
// Memory:   none
//
// A module's map begins with its ELF header, and the list of segments follows directly. There are
// two exceptions. In a statically linked program the reported map begins with the code; but then
// there is only this one module, and the linker knows where its header is. And tools that edit
// files may move the list elsewhere. So the list is used only if it lies in the header's page,
// because any other page may not be mapped.
//
//     module_segments segments;
//     if (find_module_segments(map_start, segments)) ...

#ifndef ALLOCSCOPE_UNWIND_MODULE_SEGMENTS_HPP
#define ALLOCSCOPE_UNWIND_MODULE_SEGMENTS_HPP

#include <allocscope/base/compiler.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t
#include <cstring>  // memcmp

#include <elf.h>  // Elf64_Phdr

// Defined by the linker: the ELF header of the module that this code is compiled into.
extern "C" const char __ehdr_start[] __attribute__((__weak__, __visibility__("hidden")));

ALLOCSCOPE_COOL_BEGIN

namespace detail {

struct module_segments {
    const Elf64_Phdr* first = nullptr;
    std::size_t count = 0;
    std::uintptr_t base = 0;  // what is added to the addresses in the list

    // The loaded segment that has all of `flags` and holds `address` in the part that comes from
    // the file.
    const Elf64_Phdr* holder_of(std::uintptr_t address, unsigned flags) const noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            const Elf64_Phdr& each = first[i];
            if (each.p_type != PT_LOAD || (each.p_flags & flags) != flags) continue;
            if (address - (base + each.p_vaddr) < each.p_filesz) return &each;
        }
        return nullptr;
    }
};

// `start` is where the map of the module begins; that page must be readable.
inline bool find_module_segments(std::uintptr_t start, module_segments& out) noexcept {
    constexpr std::size_t page = 4096;
    const auto has_header = [](std::uintptr_t at) noexcept {
        return std::memcmp(reinterpret_cast<const void*>(at), ELFMAG, SELFMAG) == 0;
    };
    if (!has_header(start)) {
        const auto own = reinterpret_cast<std::uintptr_t>(&__ehdr_start[0]);
        if (own == 0 || own > start || own % page != 0 || !has_header(own)) return false;
        start = own;
    }
    const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(start);
    if (header.e_phoff > page || header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phnum > (page - header.e_phoff) / sizeof(Elf64_Phdr)) {
        return false;
    }
    out.first = reinterpret_cast<const Elf64_Phdr*>(start + header.e_phoff);
    out.count = header.e_phnum;
    for (std::size_t i = 0; i < out.count; ++i) {
        if (out.first[i].p_type != PT_LOAD) continue;
        out.base = start - (out.first[i].p_vaddr & ~(page - 1));
        return true;
    }
    return false;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_UNWIND_MODULE_SEGMENTS_HPP
