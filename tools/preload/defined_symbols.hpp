// defined_symbols.hpp - the entries of a module's symbol table, found as the loader finds them.
//
// Called:   by led_operators.hpp, earlier_definitions.hpp, library_functions.hpp, sized_frees.hpp
// Threads:  any; the module stays mapped: by the loader's lock, because it was loaded with the
//           program, or because it is on the caller's stack
// Memory:   none
//
//     PT_DYNAMIC -> DT_GNU_HASH: name -> index -> DT_SYMTAB -> {value, name, ...}
//
// A module without DT_GNU_HASH has no symbols here. The loader adds the module's base to the value
// of an entry and gets the address that it writes into words of other modules.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_DEFINED_SYMBOLS_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_DEFINED_SYMBOLS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/hooks/module_slots.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <elf.h>
#include <sys/mman.h>

namespace allocscope {
namespace detail {

class defined_symbols {
public:
    ALLOCSCOPE_NOINLINE defined_symbols(std::uintptr_t base, const Elf64_Dyn* dynamic) noexcept
        : base_(base) {
        std::uintptr_t library = 0;
        for (const Elf64_Dyn* each = dynamic; each->d_tag != DT_NULL; ++each) {
            if (each->d_tag == DT_SYMTAB) symbols_ = table_at<Elf64_Sym*>(each->d_un.d_ptr);
            if (each->d_tag == DT_STRTAB) names_ = table_at<const char*>(each->d_un.d_ptr);
            if (each->d_tag == DT_SONAME) library = each->d_un.d_val;
            if (each->d_tag == DT_GNU_HASH) {
                hash_ = table_at<const std::uint32_t*>(each->d_un.d_ptr);
            }
        }
        if (names_ != nullptr) library_ = names_ + library;
    }
    explicit defined_symbols(const loaded_segments& segments) noexcept
        : defined_symbols(segments.base(), dynamic_of(segments)) {}

    // Whether other modules ask for this one under the name.
    bool is_library(const char* name) const noexcept { return std::strcmp(library_, name) == 0; }

    // The entry of a function, or null.
    ALLOCSCOPE_NOINLINE Elf64_Sym* find(const char* name) const noexcept {
        if (symbols_ == nullptr || names_ == nullptr || hash_ == nullptr) return nullptr;
        const std::uint32_t bucket_count = hash_[0];
        const std::uint32_t first = hash_[1];  // earlier entries are not in the table
        const std::uint32_t* const buckets = hash_ + 4 + 2 * std::size_t{hash_[2]};
        const std::uint32_t* const hashes = buckets + bucket_count;
        const std::uint32_t wanted = hash_of(name);
        std::uint32_t index = bucket_count == 0 ? 0 : buckets[wanted % bucket_count];
        if (index < first) return nullptr;
        for (;; ++index) {
            const std::uint32_t hash = hashes[index - first];
            if (((hash ^ wanted) >> 1U) == 0 && is_function(symbols_[index], name)) {
                return &symbols_[index];
            }
            if ((hash & 1U) != 0) return nullptr;  // the last one of this bucket
        }
    }

    std::uintptr_t address_of(const Elf64_Sym& symbol) const noexcept {
        return base_ + symbol.st_value;
    }

    // Makes the loader find another function from now on. Returns false when the kernel refuses.
    bool lead(Elf64_Sym& symbol, std::uintptr_t address,
              const loaded_segments& segments) const noexcept {
        const auto value = reinterpret_cast<std::uintptr_t>(&symbol.st_value);
        const Elf64_Phdr* const holder = segments.holder_of(value, sizeof symbol.st_value);
        if (holder == nullptr) return false;
        void* const page = reinterpret_cast<void*>(value & ~(page_bytes - 1));
        const int usual = allowed_in(*holder);
        if (::mprotect(page, page_bytes, usual | PROT_WRITE) != 0) return false;
        __atomic_store_n(&symbol.st_value, address - base_, __ATOMIC_RELEASE);
        ::mprotect(page, page_bytes, usual);
        return true;
    }

private:
    static const Elf64_Dyn* dynamic_of(const loaded_segments& segments) noexcept {
        static constexpr Elf64_Dyn none = {DT_NULL, {0}};
        const Elf64_Phdr* const dynamic = segments.of_type(PT_DYNAMIC);
        if (dynamic == nullptr) return &none;
        return reinterpret_cast<const Elf64_Dyn*>(segments.base() + dynamic->p_vaddr);
    }

    // In most modules the loader has replaced these values by addresses; in a few they are offsets.
    template <class Pointer>
    Pointer table_at(std::uintptr_t value) const noexcept {
        return reinterpret_cast<Pointer>(value < base_ ? base_ + value : value);
    }

    static std::uint32_t hash_of(const char* name) noexcept {
        std::uint32_t hash = 5381;
        for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
        return hash;
    }

    bool is_function(const Elf64_Sym& symbol, const char* name) const noexcept {
        return symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
               std::strcmp(names_ + symbol.st_name, name) == 0;
    }

    static int allowed_in(const Elf64_Phdr& segment) noexcept {
        return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
               ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
               ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    }

    std::uintptr_t base_;
    Elf64_Sym* symbols_ = nullptr;
    const char* names_ = nullptr;
    const char* library_ = "";
    const std::uint32_t* hash_ = nullptr;
};

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_DEFINED_SYMBOLS_HPP
