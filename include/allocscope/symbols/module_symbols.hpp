// module_symbols.hpp - the functions and objects of one module, from all its symbol tables.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/object_contents.hpp
// Threads:  one
// Memory:   of the given arena
//
// Some distributions strip their programs of everything but .gnu_debugdata. This section contains
// an ELF file, compressed by xz, whose symbol table has the functions that .dynsym lacks. Each of
// the two tables may have a function before an address; the nearer one is the right one.

#ifndef ALLOCSCOPE_SYMBOLS_MODULE_SYMBOLS_HPP
#define ALLOCSCOPE_SYMBOLS_MODULE_SYMBOLS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/rare_forms.hpp>
#include <allocscope/symbols/symbol_lookup.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class module_symbols {
public:
    // Reads the symbols from `separate` if the module's own file has been stripped.
    module_symbols(arena& memory, const object_bytes& own, const object_bytes& separate)
        : told_(memory, is_stripped(own) && !is_stripped(separate) ? separate : own) {
        const auto unpack = readers_of_rare_forms.unpack_symbols;
        if (unpack == nullptr || !is_stripped(own) || !is_stripped(separate)) return;
        const detail::byte_view compressed = own.read(memory, own.find(".gnu_debugdata"));
        const object_bytes* hidden = compressed.empty() ? nullptr : unpack(memory, compressed);
        if (hidden != nullptr) hidden_ = memory.make<symbol_index>(memory, *hidden);
    }

    found_symbol function_at(std::uint64_t address) const {
        const found_symbol told = told_.function_at(address);
        if (hidden_ == nullptr) return told;
        const found_symbol hidden = hidden_->function_at(address);
        if (hidden.name == nullptr) return told;
        return told.name == nullptr || hidden.offset < told.offset ? hidden : told;
    }

    // The linked address; 0 if no function has this name. Reads all names.
    ALLOCSCOPE_INLINE std::uint64_t address_of(const text& function) const {
        const std::uint64_t told = told_.address_of(function);
        return told == 0 && hidden_ != nullptr ? hidden_->address_of(function) : told;
    }

    ALLOCSCOPE_INLINE std::uint64_t member_behind(std::uint64_t address,
                                                  const text& mangled) const {
        return told_.member_behind(address, mangled);
    }

    ALLOCSCOPE_INLINE found_symbol object_at(std::uint64_t address) const {
        return told_.object_at(address);
    }

private:
    static ALLOCSCOPE_INLINE bool is_stripped(const object_bytes& file) {
        return !file.has(".symtab");
    }

    symbol_index told_;
    symbol_index* hidden_ = nullptr;  // null: there is no .gnu_debugdata, or no reader for it
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_MODULE_SYMBOLS_HPP
