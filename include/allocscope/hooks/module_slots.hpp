// module_slots.hpp - the words through which a module calls functions of other modules.
//
// Room:     hooks (floor 6), not for use inside a hook: only while the loader's lock is held
// Called:   by hooks/attached_hooks.hpp for each module, and by the preload library
// Threads:  any; the loader's lock keeps the module mapped
// Memory:   none
//
// The loader writes addresses of functions of other modules into words of this module. The
// relocations of the module say which word gets the address of which function:
//
//     PT_DYNAMIC -> DT_JMPREL, DT_RELA -> {word, kind, symbol} -> DT_SYMTAB -> DT_STRTAB
//
// Nothing is trusted: whatever does not lie in a load segment of the module is skipped.

#ifndef ALLOCSCOPE_HOOKS_MODULE_SLOTS_HPP
#define ALLOCSCOPE_HOOKS_MODULE_SLOTS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, uintptr_t
#include <cstring>  // memcmp, strlen

#include <elf.h>       // Elf64_Dyn, Elf64_Rela, Elf64_Sym, R_X86_64_JUMP_SLOT, ...
#include <link.h>      // dl_phdr_info
#include <sys/mman.h>  // mprotect

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// The segments of a module.
class loaded_segments {
public:
    explicit loaded_segments(const dl_phdr_info& info) noexcept
        : base_(info.dlpi_addr), first_(info.dlpi_phdr), count_(info.dlpi_phnum) {}

    std::uintptr_t base() const noexcept { return base_; }

    // Returns null when there is no segment of this type.
    const Elf64_Phdr* of_type(std::uint32_t type) const noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            if (first_[i].p_type == type) return &first_[i];
        }
        return nullptr;
    }

    // The load segment that holds all of these bytes, or null.
    const Elf64_Phdr* holder_of(std::uintptr_t address, std::size_t bytes) const noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            const Elf64_Phdr& each = first_[i];
            if (each.p_type != PT_LOAD || each.p_memsz < bytes) continue;
            if (address - (base_ + each.p_vaddr) <= each.p_memsz - bytes) return &each;
        }
        return nullptr;
    }
    bool can_read(std::uintptr_t address, std::size_t bytes) const noexcept {
        const Elf64_Phdr* const holder = holder_of(address, bytes);
        return holder != nullptr && (holder->p_flags & PF_R) != 0;
    }
    // Whether a table of 8-byte words can be read there.
    bool can_read_table(std::uintptr_t address, std::size_t bytes) const noexcept {
        return address % 8 == 0 && can_read(address, bytes);
    }

private:
    std::uintptr_t base_;
    const Elf64_Phdr* first_;
    std::size_t count_;
};

// The pages of a module that are read-only once it is relocated. They are made writable for the
// first word that lies there, and read-only again at the end.
class relocated_pages {
public:
    explicit relocated_pages(const loaded_segments& segments) noexcept {
        const Elf64_Phdr* const range = segments.of_type(PT_GNU_RELRO);
        if (range == nullptr) return;
        // Rounded as the loader rounds it.
        begin_ = (segments.base() + range->p_vaddr) & ~(page_bytes - 1);
        end_ = (segments.base() + range->p_vaddr + range->p_memsz) & ~(page_bytes - 1);
    }
    ~relocated_pages() {
        if (is_open_) protect(PROT_READ);
    }
    relocated_pages(const relocated_pages&) = delete;
    relocated_pages& operator=(const relocated_pages&) = delete;

    // Returns false when the kernel refused.
    bool open_for(std::uintptr_t slot) noexcept {
        if (is_open_ || slot < begin_ || slot >= end_) return true;
        is_open_ = protect(PROT_READ | PROT_WRITE);
        return is_open_;
    }

private:
    bool protect(int allowed) noexcept {
        return ::mprotect(reinterpret_cast<void*>(begin_), end_ - begin_, allowed) == 0;
    }

    std::uintptr_t begin_ = 0, end_ = 0;
    bool is_open_ = false;
};

// A word of a module, and the function that the loader was asked for.
struct module_slot {
    std::uintptr_t* word;
    const char* name;    // of the function; the bytes until the end of the table can be read
    std::size_t room;    // how many bytes that is
    std::uintptr_t own;  // where the module itself defines the function; 0: it does not
    bool is_call;        // the word may still lead to the loader, which looks the function up
};

class slots_of_module {
public:
    explicit slots_of_module(const loaded_segments& segments) noexcept : segments_(segments) {
        const Elf64_Phdr* const dynamic = segments.of_type(PT_DYNAMIC);
        if (dynamic == nullptr) return;
        const std::uintptr_t first = segments.base() + dynamic->p_vaddr;
        if (!segments.can_read_table(first, dynamic->p_memsz)) return;
        read_dynamic(reinterpret_cast<const Elf64_Dyn*>(first), dynamic->p_memsz);
    }

    // Calls visit(const module_slot&) for each word into which the loader writes a symbol's
    // address.
    template <class Visitor>
    void for_each(Visitor&& visit) const noexcept {
        if (names_ == 0 || symbols_ == 0 || !segments_.can_read(names_, names_bytes_)) return;
        visit_table(calls_, calls_bytes_, visit);
        visit_table(words_, words_bytes_, visit);
    }

private:
    // In most modules the loader has replaced these values by addresses; in a few they are offsets.
    std::uintptr_t address_of(std::uint64_t value) const noexcept {
        return segments_.holder_of(value, 1) != nullptr ? value : segments_.base() + value;
    }

    void read_dynamic(const Elf64_Dyn* entry, std::size_t bytes) noexcept {
        bool is_rela = true;
        for (std::size_t left = bytes / sizeof(Elf64_Dyn); left > 0; --left, ++entry) {
            const std::uint64_t value = entry->d_un.d_val;
            switch (entry->d_tag) {
                case DT_NULL:
                    left = 1;
                    break;
                case DT_JMPREL:
                    calls_ = address_of(value);
                    break;
                case DT_PLTRELSZ:
                    calls_bytes_ = value;
                    break;
                case DT_PLTREL:
                    is_rela = is_rela && value == DT_RELA;
                    break;
                case DT_RELA:
                    words_ = address_of(value);
                    break;
                case DT_RELASZ:
                    words_bytes_ = value;
                    break;
                case DT_RELAENT:
                    is_rela = is_rela && value == sizeof(Elf64_Rela);
                    break;
                case DT_SYMTAB:
                    symbols_ = address_of(value);
                    break;
                case DT_SYMENT:
                    is_rela = is_rela && value == sizeof(Elf64_Sym);
                    break;
                case DT_STRTAB:
                    names_ = address_of(value);
                    break;
                case DT_STRSZ:
                    names_bytes_ = value;
                    break;
                default:
                    break;
            }
        }
        if (!is_rela) symbols_ = 0;
    }

    template <class Visitor>
    void visit_table(std::uintptr_t table, std::size_t bytes, Visitor&& visit) const noexcept {
        if (table == 0 || !segments_.can_read_table(table, bytes)) return;
        const auto* each = reinterpret_cast<const Elf64_Rela*>(table);
        for (std::size_t left = bytes / sizeof(Elf64_Rela); left > 0; --left, ++each) {
            const std::uint64_t kind = ELF64_R_TYPE(each->r_info);
            const bool is_address = kind == R_X86_64_JUMP_SLOT || kind == R_X86_64_GLOB_DAT ||
                                    (kind == R_X86_64_64 && each->r_addend == 0);
            if (!is_address) continue;
            module_slot found = {};
            if (!find_symbol(ELF64_R_SYM(each->r_info), found)) continue;
            const std::uintptr_t place = segments_.base() + each->r_offset;
            const Elf64_Phdr* const holder = segments_.holder_of(place, sizeof(place));
            if (holder == nullptr || (holder->p_flags & PF_W) == 0) continue;
            if (place % sizeof(place) != 0) continue;
            found.word = reinterpret_cast<std::uintptr_t*>(place);
            found.is_call = kind == R_X86_64_JUMP_SLOT;
            visit(static_cast<const module_slot&>(found));
        }
    }

    bool find_symbol(std::uint64_t index, module_slot& found) const noexcept {
        const std::uintptr_t place = symbols_ + index * sizeof(Elf64_Sym);
        if (index == 0 || !segments_.can_read_table(place, sizeof(Elf64_Sym))) return false;
        const auto& symbol = *reinterpret_cast<const Elf64_Sym*>(place);
        if (symbol.st_name >= names_bytes_) return false;
        found.name = reinterpret_cast<const char*>(names_ + symbol.st_name);
        found.room = names_bytes_ - symbol.st_name;
        found.own = symbol.st_shndx == SHN_UNDEF ? 0 : segments_.base() + symbol.st_value;
        return true;
    }

    const loaded_segments& segments_;
    std::uintptr_t calls_ = 0, words_ = 0, symbols_ = 0, names_ = 0;
    std::size_t calls_bytes_ = 0, words_bytes_ = 0, names_bytes_ = 0;
};

inline bool is_named(const module_slot& slot, const char* name) noexcept {
    const std::size_t bytes = std::strlen(name) + 1;
    return bytes <= slot.room && std::memcmp(slot.name, name, bytes) == 0;
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_MODULE_SLOTS_HPP
