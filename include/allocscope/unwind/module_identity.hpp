// module_identity.hpp - whether the module at an address is still the one it was.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   by rule_cache.hpp, when it keeps a rule and before it uses a kept one; by
//           remembered_chain.hpp before a remembered stack through such a module is used
// Threads:  any, lock-free; the module cannot be unloaded meanwhile: it is on the caller's stack
// Memory:   none
//
// After dlclose another module may be mapped where the old one was, with other unwind tables. The
// loader counts its unloads, but the count can be read only under its lock. So a module that may be
// unloaded is recognised by its place and its fingerprint, which is that of its build id or,
// without a build id, that of its first page.
//
// Most modules need no such check, because modules that were loaded with the program stay until its
// end. They come first in the loader's list, up to the loader itself, and that part of the list
// never changes.
//
//     _r_debug -> program -> libstdc++ -> libc -> ld.so | -> plugin -> plugin
//                 permanent                             |    may_go
//
// If a module after ld.so was loaded with the program, it is checked needlessly, which takes 30 ns
// in each walk that meets it.

#ifndef ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP
#define ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/build_id.hpp>
#include <allocscope/binary/module_fingerprint.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/unwind/holding_module.hpp>
#include <allocscope/unwind/module_segments.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint64_t, uintptr_t

#include <elf.h>   // Elf64_Phdr, PT_NOTE
#include <link.h>  // _r_debug, link_map

ALLOCSCOPE_COOL_BEGIN

namespace detail {

struct module_identity {
    std::uintptr_t start = 0;  // of its addresses; 0: no module
    std::uintptr_t size = 0;
    std::uint64_t fingerprint = 0;  // 0: not computed, or there is nothing to compute it from
    module_life life = module_life::permanent;
    const link_map* loaded = nullptr;  // valid while the module is on the caller's stack

    ALLOCSCOPE_INLINE bool is_same(const module_identity& other) const noexcept {
        return start == other.start && size == other.size && fingerprint == other.fingerprint;
    }
    bool holds(std::uintptr_t address) const noexcept { return address - start < size; }
    ALLOCSCOPE_INLINE std::uint64_t tag() const noexcept { return module_tag(start, fingerprint); }
    ALLOCSCOPE_INLINE bool overlaps(const module_identity& other) const noexcept {
        return start - other.start < other.size || other.start - start < size;
    }
};

// Whether the module was loaded with the program, as far as this can be told without a lock.
ALLOCSCOPE_INLINE bool is_loaded_with_program(const link_map* module) noexcept {
    const std::uintptr_t loader = _r_debug.r_ldbase;
    if (loader == 0) return false;
    for (const link_map* each = _r_debug.r_map; each != nullptr; each = each->l_next) {
        if (each == module) return true;
        if (each->l_addr == loader) break;
    }
    return false;
}

// The build id of the module, if it has one.
inline build_id build_id_in(const module_segments& segments) noexcept {
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
        if (id.known()) return id;
    }
    return {};
}

// Reads the lifetime and the fingerprint of the module at `found`, which may be unloaded.
ALLOCSCOPE_INLINE void read_fingerprint(module_identity& found) noexcept {
    found.life = module_life::cannot_tell;
    module_segments segments;
    if (!find_module_segments(found.start, segments)) return;
    const build_id id = build_id_in(segments);
    if (id.known()) {
        found.fingerprint = fingerprint_of(id);
        found.life = module_life::may_go;
        return;
    }
    // The page is mapped. It is the same as in the file if it is not writable.
    const Elf64_Phdr* const first = segments.holder_of(found.start, PF_R);
    if (first == nullptr || (first->p_flags & PF_W) != 0) return;
    found.fingerprint =
        fingerprint_of(reinterpret_cast<const void*>(found.start), found.loaded->l_name);
}

ALLOCSCOPE_NOINLINE module_identity identify(const holding_module& module) noexcept {
    module_identity found;
    if (module.start == 0) return found;
    found.start = module.start;
    found.size = module.end - module.start;
    found.loaded = module.loaded;
    if (!is_loaded_with_program(found.loaded)) read_fingerprint(found);
    return found;
}

// The module that holds `address`.
ALLOCSCOPE_NOINLINE module_identity identify_module(std::uintptr_t address) noexcept {
    return identify(find_holding_module(address));
}

// Keeps for good what reports will have to know of a module that may be unloaded. Not called in a
// walk, because the table of modules is written with locked instructions.
ALLOCSCOPE_NOINLINE void note_module(const module_identity& seen) noexcept {
    met_module met{};
    met.start = seen.start;
    met.size = seen.size;
    met.base = seen.loaded->l_addr;
    met.fingerprint = seen.fingerprint;
    met.path = seen.loaded->l_name;
    met.has_build_id = seen.life == module_life::may_go;
    modules_met.note(met);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_UNWIND_MODULE_IDENTITY_HPP
