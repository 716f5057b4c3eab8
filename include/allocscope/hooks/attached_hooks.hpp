// attached_hooks.hpp - changes the words through which modules call malloc, and restores them.
//
// Room:     hooks (floor 6), not for use inside a hook: takes the loader's lock
// Called:   by hooks/attach_hooks.hpp; by the engine and dlsym while hooks are attached
// Threads:  any; everything here happens under the loader's lock, and under no lock of our own.
//           Forks wait for it: hooks/walks_and_forks.hpp
// Memory:   hooks/changed_slots.hpp
//
// The loader's lock is the one that dl_iterate_phdr takes. While it is held, no module is added to
// the loader's list or unmapped. No other lock is taken, so none can be taken in the wrong order.
//
// A module that another thread is still loading is in the list before it is relocated. Until then
// the loader itself writes the module's words. So the module is left alone until _dl_find_object
// knows it, which comes after the relocation.
//
// A word is changed when it holds what the loader wrote: the function of the underlying allocator,
// or the way to the loader's lookup. A word that holds anything else belongs to another tool, or to
// a library with a malloc of its own, and stays as it is.

#ifndef ALLOCSCOPE_HOOKS_ATTACHED_HOOKS_HPP
#define ALLOCSCOPE_HOOKS_ATTACHED_HOOKS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/hooks/attached_functions.hpp>
#include <allocscope/hooks/changed_slots.hpp>
#include <allocscope/hooks/module_slots.hpp>
#include <allocscope/hooks/operator_calls.hpp>
#include <allocscope/hooks/walks_and_forks.hpp>
#include <allocscope/platform/find_object.hpp>
#include <allocscope/state/process_state.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

#include <link.h>      // dl_iterate_phdr, dl_phdr_info
#include <sys/auxv.h>  // getauxval

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// Read and written under the loader's lock.
struct attached_state {
    bool is_attached;
    std::uint64_t loads, unloads;  // the loader's counts when all modules were last walked through
    std::uint64_t walk;
    std::size_t changed;      // words that lead to us
    std::size_t of_others;    // words that hold something else, as the last walk found
    std::size_t not_written;  // the kernel refused, or there was no memory to remember the word
    std::uintptr_t program_begin, program_end;
    changed_slots remembered;
};

ALLOCSCOPE_HIDDEN inline attached_state attached{};

inline bool is_relocated(const loaded_segments& segments) noexcept {
    if (!can_tell_modules()) return true;
    const Elf64_Phdr* const dynamic = segments.of_type(PT_DYNAMIC);
    if (dynamic == nullptr) return false;
    struct dl_find_object found;
    return ::_dl_find_object(reinterpret_cast<void*>(segments.base() + dynamic->p_vaddr), &found) ==
           0;
}

inline bool is_own_word(const std::uintptr_t* word) noexcept {
    return reinterpret_cast<std::uintptr_t>(word) -
               reinterpret_cast<std::uintptr_t>(&calls_of_operators) <
           sizeof(calls_of_operators);
}

inline std::uintptr_t read_word(const std::uintptr_t* word) noexcept {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

// Returns false when the loader's lookup has written another value meanwhile.
inline bool replace_word(std::uintptr_t* word, std::uintptr_t from, std::uintptr_t to) noexcept {
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

// --- one module ---

class module_walk {
public:
    explicit module_walk(const dl_phdr_info& info) noexcept
        : segments_(info), pages_(segments_), slots_(segments_) {}

    bool is_ready() const noexcept { return is_relocated(segments_); }

    void change() noexcept {
        slots_.for_each([this](const module_slot& slot) { change(slot); });
    }
    void put_back() noexcept {
        slots_.for_each([this](const module_slot& slot) { put_back(slot); });
    }

private:
    static std::uintptr_t address_of(const std::uintptr_t* word) noexcept {
        return reinterpret_cast<std::uintptr_t>(word);
    }

    void change(const module_slot& slot) noexcept {
        for (std::uint32_t i = 0; i < attached_function_count; ++i) {
            if (attached_functions[i].next == 0 || !is_named(slot, attached_functions[i].name)) {
                continue;
            }
            if (!is_own_word(slot.word)) change(slot, i);
            return;
        }
    }

    void change(const module_slot& slot, std::uint32_t number) noexcept {
        const attached_function& function = attached_functions[number];
        for (std::uintptr_t held = read_word(slot.word); held != 0; held = read_word(slot.word)) {
            if (held != function.hook && !leads_to(slot, held, function)) {
                ++attached.of_others;
                note_of_other(slot, held, number);
                return;
            }
            if (!remember(slot, held, number)) {
                ++attached.not_written;
                return;
            }
            if (held == function.hook || replace_word(slot.word, held, function.hook)) {
                ++attached.changed;
                return;
            }
        }
    }

    // Remembers another tool's word, so that a later walk sees when that tool ends. Without memory
    // for the entry, only the walk after the next module is loaded or unloaded sees it.
    void note_of_other(const module_slot& slot, std::uintptr_t held,
                       std::uint32_t number) noexcept {
        changed_slots::entry* const entry = entry_of(slot);
        if (entry == nullptr) return;
        entry->original = held;
        entry->function = number;
        entry->is_of_other = 1;
        entry->walk = attached.walk;
    }

    // The entries of the previous walk are kept, too, because this walk has not yet met all words.
    static changed_slots::entry* entry_of(const module_slot& slot) noexcept {
        return attached.remembered.find_or_add(slot.word, attached.walk - 1);
    }

    // Returns false when the word cannot be remembered, or cannot be written.
    bool remember(const module_slot& slot, std::uintptr_t held, std::uint32_t number) noexcept {
        if (!pages_.open_for(address_of(slot.word))) return false;
        changed_slots::entry* const entry = entry_of(slot);
        if (entry == nullptr) return false;
        const attached_function& function = attached_functions[number];
        if (held != function.hook) {
            entry->original = held;
        } else if (entry->original == 0 || entry->is_of_other != 0) {
            entry->original = function.next;  // another tool put back what it had found
        }
        entry->is_of_other = 0;
        entry->function = number;
        entry->walk = attached.walk;
        return true;
    }

    // Whether the loader wrote `held`, and a call through it ends in the underlying function.
    bool leads_to(const module_slot& slot, std::uintptr_t held,
                  const attached_function& function) const noexcept {
        if (held == function.next) return true;
        if (slot.own != 0 && slot.own != function.next && !is_libc()) return false;
        if (slot.is_call && held != slot.own && segments_.holder_of(held, 1) != nullptr)
            return true;
        // In a program at a fixed place, the address of a function is that of a jump in the
        // program.
        return held - attached.program_begin < attached.program_end - attached.program_begin;
    }

    // The C library calls malloc through a word like any other module, although it defines malloc.
    bool is_libc() const noexcept { return segments_.holder_of(address_in_libc, 1) != nullptr; }

    void put_back(const module_slot& slot) noexcept {
        changed_slots::entry* const entry = attached.remembered.find(slot.word);
        if (entry == nullptr || entry->is_of_other != 0) return;
        const std::uintptr_t hook = attached_functions[entry->function].hook;
        if (read_word(slot.word) != hook || !pages_.open_for(address_of(slot.word))) return;
        replace_word(slot.word, hook, entry->original);
    }

    loaded_segments segments_;
    relocated_pages pages_;
    slots_of_module slots_;
};

// --- all modules, under the loader's lock ---

inline bool is_loader(const dl_phdr_info& info) noexcept {
    return info.dlpi_addr != 0 && info.dlpi_addr == ::getauxval(AT_BASE);
}

// One walk through all modules. The lock is held from the first module to the last.
struct walk_request {
    enum class purpose { attach, look, detach, forget } wanted;
    bool is_begun;
    bool has_walked;  // false: all words were as they should be
    bool is_detached;
    std::size_t changed, of_others, not_written;
};

inline void begin_walk(const dl_phdr_info& program) noexcept {
    attached.loads = program.dlpi_adds;
    attached.unloads = program.dlpi_subs;
    ++attached.walk;
    attached.changed = 0;
    attached.of_others = 0;
    attached.not_written = 0;
    attached.program_begin = 0;
    attached.program_end = 0;
    if (program.dlpi_addr != 0) return;  // other modules do not use the addresses of its jumps
    for (std::size_t i = 0; i < program.dlpi_phnum; ++i) {
        const Elf64_Phdr& each = program.dlpi_phdr[i];
        if (each.p_type != PT_LOAD) continue;
        if (attached.program_end == 0) attached.program_begin = each.p_vaddr;
        attached.program_end = each.p_vaddr + each.p_memsz;
    }
}

// Whether nothing has changed since the last walk: no module was loaded or unloaded, and no word
// was written by a lookup of the loader that was slower than the walk, or by another tool. All
// modules of the last walk are still there, so the words can be read.
inline bool is_all_as_before(const dl_phdr_info& info) noexcept {
    if (attached.loads != info.dlpi_adds || attached.unloads != info.dlpi_subs) return false;
    bool is_same = true;
    attached.remembered.for_each([&is_same](const changed_slots::entry& each) {
        if (each.walk != attached.walk) return;
        const std::uintptr_t left =
            each.is_of_other != 0 ? each.original : attached_functions[each.function].hook;
        is_same = is_same && read_word(each.word) == left;
    });
    return is_same;
}

inline void tell_numbers(walk_request& request) noexcept {
    request.changed = attached.changed;
    request.of_others = attached.of_others;
    request.not_written = attached.not_written;
}

// Returns false when there is nothing to do.
inline bool begin_request(walk_request& request, const dl_phdr_info& program) noexcept {
    using purpose = walk_request::purpose;
    request.is_begun = true;
    if (request.wanted == purpose::forget) {
        if (!attached.is_attached) attached.remembered.clear();
        return false;
    }
    if (request.wanted == purpose::attach && !attached.is_attached) {
        attached.is_attached = true;
        attached.loads = 0;  // the loader never has this count, so all modules are visited
    }
    if (!attached.is_attached) return false;
    if (request.wanted == purpose::detach) {
        attached.is_attached = false;
        request.is_detached = true;
        return true;
    }
    tell_numbers(request);
    if (is_all_as_before(program)) return false;
    request.has_walked = true;
    begin_walk(program);
    return true;
}

inline int walk_module(dl_phdr_info* info, std::size_t, void* given) noexcept {
    auto& request = *static_cast<walk_request*>(given);
    if (!request.is_begun && !begin_request(request, *info)) return 1;
    if (is_loader(*info)) return 0;
    module_walk module{*info};
    if (!module.is_ready()) {
        attached.loads = 0;  // visit all modules again next time
    } else if (request.wanted == walk_request::purpose::detach) {
        module.put_back();
    } else {
        module.change();
        tell_numbers(request);
    }
    return 0;
}

inline walk_request walk_modules(walk_request::purpose wanted) noexcept {
    const int saved_errno = errno;
    walk_request request{wanted, false, false, false, 0, 0, 0};
    const walk_permit walk;
    if (walk.is_granted()) ::dl_iterate_phdr(&walk_module, &request);
    errno = saved_errno;
    return request;
}

inline void look_for_modules_now() noexcept {
    walk_modules(walk_request::purpose::look);
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_ATTACHED_HOOKS_HPP
