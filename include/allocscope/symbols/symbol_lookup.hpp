// symbol_lookup.hpp - the function or the object that an address lies in, from the symbol table.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp
// Threads:  one
// Memory:   32 bytes a symbol, and the names as the file has them
//
// Several names often share an address (constructors, aliases, merged functions): the one that
// other files can see is kept. Functions written in assembly have no size: they reach to the next
// symbol of their section.

#ifndef ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP

#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/elf_image.hpp>
#include <allocscope/binary/elf_symbols.hpp>
#include <allocscope/config.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include <algorithm>  // sort, min, max
#include <cstddef>    // size_t
#include <cstdint>    // uint32_t, uint64_t
#include <utility>    // move
#include <vector>     // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct found_symbol {
    const char* name = nullptr;  // mangled; null when there is none; lives as long as the index
    std::uint64_t offset = 0;
};

class symbol_index {
public:
    // Reads .symtab, or .dynsym of a stripped file.
    void build(const object_bytes& object) {
        const char* const names[] = {".symtab", ".dynsym"};
        for (const char* name : names) {
            const detail::elf_section* section = object.find(name);
            if (section == nullptr || section->link >= object.sections().size()) continue;
            const owned_bytes table = object.read(section);
            names_ = object.read(&object.sections()[section->link].section);
            collect(object, table.view());
            if (!functions_.empty() || !objects_.empty()) break;
        }
    }

    found_symbol function_at(std::uint64_t address) const { return find(functions_, address); }
    found_symbol object_at(std::uint64_t address) const { return find(objects_, address); }
    std::size_t bytes() const {
        return names_.size + (functions_.size() + objects_.size()) * sizeof(address_range);
    }

private:
    struct candidate {
        std::uint64_t address;
        std::uint64_t size;
        std::uint64_t section_end;
        std::uint32_t name;
        int rank;
    };

    static int rank_of(const detail::elf_symbol& symbol) {
        int rank = symbol.size != 0 ? 8 : 0;
        if (symbol.kind != detail::elf_symbol_kind::none) rank += 4;
        switch (symbol.binding) {
            case detail::elf_symbol_binding::global:
            case detail::elf_symbol_binding::unique:
                return rank + 2;
            case detail::elf_symbol_binding::weak:
                return rank + 1;
            default:
                return rank;
        }
    }

    void collect(const object_bytes& object, detail::byte_view table) {
        std::vector<candidate> functions;
        std::vector<candidate> objects;
        detail::visit_elf_symbols(table, [&](const detail::elf_symbol& symbol) {
            if (symbol.section >= object.sections().size()) return;
            const detail::elf_section& home = object.sections()[symbol.section].section;
            const std::uint64_t home_end = home.address + home.size;
            if (symbol.address < home.address || symbol.address >= home_end) return;
            const bool is_code = (home.flags & detail::elf_section_executable) != 0;
            const candidate found{symbol.address, symbol.size, home_end, symbol.name,
                                  rank_of(symbol)};
            switch (symbol.kind) {
                case detail::elf_symbol_kind::function:
                case detail::elf_symbol_kind::indirect_function:
                    functions.push_back(found);
                    break;
                case detail::elf_symbol_kind::none:
                    if (is_code) functions.push_back(found);
                    break;
                case detail::elf_symbol_kind::object:
                case detail::elf_symbol_kind::common:
                    if (symbol.size != 0) objects.push_back(found);
                    break;
                default:
                    break;
            }
        });
        fill(functions_, functions);
        fill(objects_, objects);
    }

    static void fill(address_ranges& index, std::vector<candidate>& found) {
        std::sort(found.begin(), found.end(), [](const candidate& a, const candidate& b) {
            if (a.address != b.address) return a.address < b.address;
            if (a.rank != b.rank) return a.rank > b.rank;
            return a.name < b.name;
        });
        for (std::size_t i = 0; i < found.size(); ++i) {
            const candidate& symbol = found[i];
            if (i != 0 && found[i - 1].address == symbol.address) continue;
            std::size_t next = i + 1;
            while (next < found.size() && found[next].address == symbol.address) ++next;
            std::uint64_t end = symbol.section_end;
            if (symbol.size != 0) {
                end = std::min(end, symbol.address + symbol.size);
            } else if (next < found.size()) {
                end = std::min(end, found[next].address);
            }
            index.add(symbol.address, end, symbol.name);
            i = next - 1;
        }
        index.finish();
    }

    found_symbol find(const address_ranges& index, std::uint64_t address) const {
        found_symbol symbol;
        const address_range* range = index.find(address);
        if (range == nullptr) return symbol;
        const char* name = detail::text_at(names_.view(), range->value);
        if (*name == '\0') return symbol;
        symbol.name = name;
        symbol.offset = address - range->low;
        return symbol;
    }

    owned_bytes names_;
    address_ranges functions_;
    address_ranges objects_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP
