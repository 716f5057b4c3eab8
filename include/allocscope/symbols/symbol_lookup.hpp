// symbol_lookup.hpp - finds the function or object at an address in the symbol table.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/module_symbols.hpp and debug_object.hpp
// Threads:  one
// Memory:   32 bytes for each symbol, and the names as in the file, in the given arena
//
// Several names often share an address (constructors, aliases, merged functions); the index keeps
// one that is visible to other files. Functions in assembly often have no size; they extend to the
// next symbol of their section.

#ifndef ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/elf_image.hpp>
#include <allocscope/binary/elf_symbols.hpp>
#include <allocscope/binary/late_bytes.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace symbolize {

enum class symbol_kind { function, data };

struct found_symbol {
    const char* name = nullptr;  // mangled; null when there is none; lives as long as the index
    std::uint64_t offset = 0;
};

class symbol_index {
public:
    // Reads .symtab, or .dynsym of a stripped file.
    symbol_index(arena& memory, const object_bytes& object);

    ALLOCSCOPE_INLINE found_symbol function_at(std::uint64_t address) const {
        return find(functions_, address);
    }
    // The linked address; 0 if no function has this name. Reads all names.
    std::uint64_t address_of(const text& function) const;
    // The first function of a class that begins behind a linked address; 0: none. `mangled` is the
    // name of the class without "_ZN". Reads all names.
    std::uint64_t member_behind(std::uint64_t address, const text& mangled) const;
    ALLOCSCOPE_INLINE found_symbol object_at(std::uint64_t address) const {
        return find(objects_, address);
    }

private:
    struct candidate {
        std::uint64_t address;
        std::uint64_t size;
        std::uint64_t section_end;
        std::uint32_t name;
        int rank;

        bool operator<(const candidate& other) const noexcept {
            if (address != other.address) return address < other.address;
            if (rank != other.rank) return rank > other.rank;
            return name < other.name;
        }
    };

    static ALLOCSCOPE_INLINE int rank_of(const detail::elf_symbol& symbol) noexcept {
        int rank = symbol.size != 0 ? 8 : 0;
        if (symbol.kind != detail::elf_symbol_kind::none) rank += 4;
        using binding = detail::elf_symbol_binding;
        if (symbol.binding == binding::weak) return rank + 1;
        const bool is_global =
            symbol.binding == binding::global || symbol.binding == binding::unique;
        return is_global ? rank + 2 : rank;
    }

    void collect(const object_bytes& object, detail::byte_view table);
    static void fill(address_ranges& index, list<candidate>& found);
    found_symbol find(const address_ranges& index, std::uint64_t address) const;

    detail::byte_view names_;
    detail::late_bytes* late_names_ = nullptr;
    address_ranges functions_;
    address_ranges objects_;
};

ALLOCSCOPE_NOINLINE symbol_index::symbol_index(arena& memory, const object_bytes& object)
    : functions_(memory), objects_(memory) {
    for (int i = 0; i < 2 && functions_.empty() && objects_.empty(); ++i) {
        const detail::elf_section* section = object.find(i == 0 ? ".symtab" : ".dynsym");
        if (section == nullptr || section->link >= object.sections().size()) continue;
        arena scratch;
        collect(object, object.read(scratch, section));
        late_names_ = nullptr;
        names_ = object.read(memory, &object.sections()[section->link].section,
                             object_bytes::largest_read, &late_names_);
    }
}

ALLOCSCOPE_NOINLINE void symbol_index::collect(const object_bytes& object,
                                               detail::byte_view table) {
    arena scratch;
    list<candidate> functions{scratch};
    arena more_scratch;
    list<candidate> objects{more_scratch};
    detail::visit_elf_symbols(table, [&](const detail::elf_symbol& symbol) {
        if (symbol.section >= object.sections().size()) return;
        const detail::elf_section& home = object.sections()[symbol.section].section;
        const std::uint64_t home_end = home.address + home.size;
        if (symbol.address < home.address || symbol.address >= home_end) return;
        const bool is_code = (home.flags & detail::elf_section_executable) != 0;
        const candidate found{symbol.address, symbol.size, home_end, symbol.name, rank_of(symbol)};
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

// Adds one range for each address. A symbol without a size ends where the next one begins. Inside a
// symbol that has a size, it is only a label of that function.
ALLOCSCOPE_NOINLINE void symbol_index::fill(address_ranges& index, list<candidate>& found) {
    sort(found, [](const candidate& a, const candidate& b) { return a < b; });
    std::size_t next = 0;
    std::uint64_t covered = 0;  // where the symbols with a size end that were seen so far
    for (std::size_t i = 0; i < found.size(); i = next) {
        const candidate& symbol = found[i];
        next = i + 1;
        while (next < found.size() && found[next].address == symbol.address) ++next;
        std::uint64_t end = symbol.section_end;
        std::uint64_t limit = end;
        if (symbol.size != 0) {
            limit = symbol.address + symbol.size;
        } else if (next < found.size()) {
            limit = found[next].address;
        }
        if (limit < end) end = limit;
        if (symbol.size == 0 && symbol.address < covered) continue;
        if (symbol.size != 0 && end > covered) covered = end;
        index.add(symbol.address, end, symbol.name);
    }
    index.finish();
}

ALLOCSCOPE_NOINLINE found_symbol symbol_index::find(const address_ranges& index,
                                                    std::uint64_t address) const {
    const address_range* range = index.find(address);
    if (range == nullptr) return {};
    detail::want_text(late_names_, names_, range->value, detail::longest_text);
    const char* name = detail::text_at(names_, range->value);
    if (*name == '\0') return {};
    return {name, address - range->low};
}

ALLOCSCOPE_NOINLINE std::uint64_t symbol_index::address_of(const text& function) const {
    detail::want(late_names_, 0, names_.size);
    for (const address_range& range : functions_.all()) {
        if (function == detail::text_at(names_, range.value)) return range.low;
    }
    return 0;
}

ALLOCSCOPE_NOINLINE std::uint64_t symbol_index::member_behind(std::uint64_t address,
                                                              const text& mangled) const {
    detail::want(late_names_, 0, names_.size);
    for (std::size_t i = functions_.walk_to(address).next; i < functions_.all().size(); ++i) {
        const address_range& range = functions_.all()[i];
        const text name = detail::text_at(names_, range.value);
        if (!name.starts_with("_ZN")) continue;
        const std::size_t begin = name[3] == 'K' ? 4 : 3;
        if (name.substr(begin).starts_with(mangled)) return range.low;
    }
    return 0;
}

}  // namespace symbolize

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SYMBOLS_SYMBOL_LOOKUP_HPP
