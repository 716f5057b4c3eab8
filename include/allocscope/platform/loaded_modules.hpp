// loaded_modules.hpp - the programs and libraries in this process, as the loader lists them.
//
// Room:     platform (floor 1), not for use inside a hook: takes the loader's lock
// Called:   by symbols/module_list.hpp when a report is made, and by verdict/expected_leaks.hpp
// Threads:  any; the loader's lock is held while the visitor runs
// Memory:   none
//
// What the visitor gets is valid only during its call, because the library may be unloaded later.
//
// A forked child in which nobody can take the loader's lock any more sees no modules.

#ifndef ALLOCSCOPE_PLATFORM_LOADED_MODULES_HPP
#define ALLOCSCOPE_PLATFORM_LOADED_MODULES_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/loader_lock.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint64_t

#include <link.h>  // dl_iterate_phdr

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Changes whenever a library is loaded or unloaded.
struct module_generation {
    std::uint64_t loads = 0;
    std::uint64_t unloads = 0;
    bool is_known = false;
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool equals(const module_generation& other) const noexcept {
        return loads == other.loads && unloads == other.unloads;
    }
};

struct module_facts {
    const char* path = "";             // "" for the main program
    std::uint64_t base = 0;            // run-time address minus linked address
    std::uint64_t low = 0, high = 0;   // the addresses between the first and the last byte
    bool is_first = false;             // the main program
    byte_view notes;                   // of one note segment, see visit_loaded_modules()
    const void* first_page = nullptr;  // as in the file; null when it may have been written to
};

namespace loaded_modules_detail {

// A note segment is read only where a readable load segment holds all of it.
inline byte_view notes_in_memory(const dl_phdr_info& info, const ElfW(Phdr) & note) noexcept {
    for (std::size_t i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr)& load = info.dlpi_phdr[i];
        if (load.p_type != PT_LOAD || (load.p_flags & PF_R) == 0) continue;
        if (note.p_vaddr < load.p_vaddr || note.p_memsz > load.p_filesz) continue;
        if (note.p_vaddr - load.p_vaddr > load.p_filesz - note.p_memsz) continue;
        return byte_view{reinterpret_cast<const std::uint8_t*>(info.dlpi_addr + note.p_vaddr),
                         static_cast<std::size_t>(note.p_memsz)};
    }
    return byte_view{};
}

template <class Visitor>
struct visit_state {
    Visitor* visit;
    bool is_first = true;
};

template <class Visitor>
inline int visit_one(dl_phdr_info* info, std::size_t, void* state_address) {
    auto& state = *static_cast<visit_state<Visitor>*>(state_address);
    module_facts facts;
    facts.path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    facts.base = info->dlpi_addr;
    facts.is_first = state.is_first;
    facts.low = ~std::uint64_t{0};
    state.is_first = false;
    for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
        const std::uint64_t low = facts.base + segment.p_vaddr;
        const std::uint64_t high = low + segment.p_memsz;
        if (low < facts.low) {
            facts.low = low;
            const bool is_as_in_file = segment.p_offset == 0 && (segment.p_flags & PF_R) != 0 &&
                                       (segment.p_flags & PF_W) == 0;
            facts.first_page = is_as_in_file ? reinterpret_cast<const void*>(low) : nullptr;
        }
        if (high > facts.high) facts.high = high;
    }
    if (facts.low >= facts.high) return 0;
    // A module usually has several note segments. The visitor is called once for each, with the
    // same base.
    bool has_notes = false;
    for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_NOTE) continue;
        facts.notes = notes_in_memory(*info, segment);
        has_notes = true;
        (*state.visit)(static_cast<const module_facts&>(facts));
    }
    if (!has_notes) (*state.visit)(static_cast<const module_facts&>(facts));
    return 0;
}

}  // namespace loaded_modules_detail

// Calls `visit(const module_facts&)` for one module after the other, once for each of its note
// segments (at least once).
template <class Visitor>
inline void visit_loaded_modules(Visitor&& visit) {
    using plain = typename loaded_modules_detail::visit_state<Visitor>;
    plain state{&visit};
    if (!is_loader_lock_lost())
        ::dl_iterate_phdr(&loaded_modules_detail::visit_one<Visitor>, &state);
}

inline module_generation current_module_generation() noexcept {
    module_generation now;
    if (is_loader_lock_lost()) return now;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* answer) {
            auto& generation = *static_cast<module_generation*>(answer);
            generation.loads = info->dlpi_adds;
            generation.unloads = info->dlpi_subs;
            generation.is_known = true;
            return 1;  // every module carries the same two numbers
        },
        &now);
    return now;
}

// Runs `work`, which must not throw, while no library can be loaded or unloaded.
template <class Work>
inline void while_modules_stay(const Work& work) noexcept {
    const auto run = [](dl_phdr_info*, std::size_t, void* given) {
        (*static_cast<const Work*>(given))();
        return 1;  // once
    };
    if (is_loader_lock_lost()) return work();
    ::dl_iterate_phdr(run, const_cast<Work*>(&work));
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_LOADED_MODULES_HPP
