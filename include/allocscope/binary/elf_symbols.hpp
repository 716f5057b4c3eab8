// elf_symbols.hpp - the entries of a symbol table (.symtab or .dynsym), one after the other.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by symbols/symbol_lookup.hpp and tools/
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_BINARY_ELF_SYMBOLS_HPP
#define ALLOCSCOPE_BINARY_ELF_SYMBOLS_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t ... uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

enum class elf_symbol_kind : std::uint8_t {
    none = 0,
    object = 1,
    function = 2,
    common = 5,
    indirect_function = 10
};
enum class elf_symbol_binding : std::uint8_t { local = 0, global = 1, weak = 2, unique = 10 };

struct elf_symbol {
    std::uint32_t name = 0;  // offset in the table's string section
    elf_symbol_kind kind = elf_symbol_kind::none;
    elf_symbol_binding binding = elf_symbol_binding::local;
    std::uint16_t section = 0;  // 0: not defined here
    std::uint64_t address = 0;  // as linked
    std::uint64_t size = 0;
};

constexpr std::size_t elf_symbol_bytes = 24;

// Reads the next entry that names a place in this file. Returns false if there is none.
ALLOCSCOPE_NOINLINE bool next_elf_symbol(byte_cursor& in, elf_symbol& symbol) noexcept {
    while (in.remaining() >= elf_symbol_bytes) {
        symbol.name = in.u32();
        const std::uint8_t info = in.u8();
        in.skip(1);  // visibility
        symbol.section = in.u16();
        symbol.address = in.u64();
        symbol.size = in.u64();
        symbol.kind = static_cast<elf_symbol_kind>(info & 0xf);
        symbol.binding = static_cast<elf_symbol_binding>(info >> 4);
        if (symbol.section != 0 && symbol.name != 0) return true;
    }
    return false;
}

// Calls `visit(const elf_symbol&)` for each of them.
template <class Visitor>
inline void visit_elf_symbols(byte_view table, Visitor&& visit) {
    byte_cursor in{table};
    elf_symbol symbol;
    while (next_elf_symbol(in, symbol)) visit(symbol);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_BINARY_ELF_SYMBOLS_HPP
