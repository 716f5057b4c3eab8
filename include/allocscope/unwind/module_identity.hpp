// module_identity.hpp - is the module at this address still the one it was?
//
// Room:     unwind (floor 3), malloc-safe
// Called:   by rule_cache.hpp, when it keeps a rule and before it believes a kept one
// Threads:  any, lock-free; the module cannot be unloaded meanwhile: it is on the caller's stack
// Memory:   none
//
// After dlclose another module may be mapped where the old one was, with other unwind tables. The
// loader counts what it unloads, but tells the number only under its lock. So a module that may be
// unloaded is recognised by what it is: its place and its build id.
//
// Most modules need no such check: those loaded with the program stay until its end. They come
// first in the loader's list, up to the loader itself, and that part of the list never changes.
//
//     _r_debug -> program -> libstdc++ -> libc -> ld.so | -> plugin -> plugin
//                 permanent                             |    may_go
//
// A module that stands behind ld.so and came with the program all the same is checked in vain, at
// 30 ns for each walk that meets it.

#ifndef ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP
#define ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/binary/build_id.hpp>
#include <allocscope/unwind/module_segments.hpp>
#include <allocscope/unwind/return_address_check.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint64_t, uintptr_t
#include <cstring>  // memcpy

#include <dlfcn.h>  // dl_find_object
#include <elf.h>    // Elf64_Phdr, PT_NOTE
#include <link.h>   // _r_debug, link_map

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct module_identity {
    std::uintptr_t start = 0;  // of its addresses; 0: no module
    std::uintptr_t size = 0;
    std::uint64_t fingerprint = 0;  // of the build id
    module_life life = module_life::permanent;

    bool is_same(const module_identity& other) const noexcept {
        return start == other.start && size == other.size && fingerprint == other.fingerprint;
    }
    bool overlaps(const module_identity& other) const noexcept {
        return start - other.start < other.size || other.start - start < size;
    }
};

#if defined(DLFO_STRUCT_HAS_EH_DBASE)

// Whether the module was loaded with the program, as far as can be told without a lock.
inline bool is_loaded_with_program(const link_map* module) noexcept {
    const std::uintptr_t loader = _r_debug.r_ldbase;
    if (loader == 0) return false;
    for (const link_map* each = _r_debug.r_map; each != nullptr; each = each->l_next) {
        if (each == module) return true;
        if (each->l_addr == loader) break;
    }
    return false;
}

// The fingerprint of the module's build id; 0 when it has none.
inline std::uint64_t build_id_fingerprint(const module_segments& segments) noexcept {
    for (std::size_t i = 0; i < segments.count; ++i) {
        const Elf64_Phdr& each = segments.first[i];
        if (each.p_type != PT_NOTE) continue;
        const std::uintptr_t notes = segments.base + each.p_vaddr;
        const Elf64_Phdr* const holder = segments.holder_of(notes, PF_R);
        if (holder == nullptr) continue;
        const byte_view bytes{
            reinterpret_cast<const std::uint8_t*>(segments.base + holder->p_vaddr),
            holder->p_filesz};
        const build_id id =
            find_build_id(bytes.part(each.p_vaddr - holder->p_vaddr, each.p_filesz));
        std::uint64_t hash = hash_seed;
        for (std::size_t at = 0; at < id.size; at += sizeof hash) {  // the rest of it is zero
            std::uint64_t word = 0;
            std::memcpy(&word, id.bytes + at, sizeof word);
            hash = hash_step(hash_finish(hash), word);
        }
        if (id.known()) return hash_finish(hash) | 1U;
    }
    return 0;
}

// The module that holds `address`.
ALLOCSCOPE_NOINLINE module_identity identify_module(std::uintptr_t address) noexcept {
    module_identity found;
    struct dl_find_object object;
    if (&_dl_find_object == nullptr ||
        _dl_find_object(reinterpret_cast<void*>(address), &object) != 0) {
        return found;
    }
    found.start = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
    found.size = reinterpret_cast<std::uintptr_t>(object.dlfo_map_end) - found.start;
    if (is_loaded_with_program(object.dlfo_link_map)) return found;
    module_segments segments;
    if (find_module_segments(found.start, segments)) {
        found.fingerprint = build_id_fingerprint(segments);
    }
    found.life = found.fingerprint != 0 ? module_life::may_go : module_life::cannot_tell;
    return found;
}

#else

// Without _dl_find_object no rule is read from a module.
inline module_identity identify_module(std::uintptr_t) noexcept {
    return {};
}

#endif

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP
