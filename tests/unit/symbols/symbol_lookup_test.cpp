// Symbol tables with what assembly code puts into them.

#include "made_elf_file.hpp"

#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/symbol_lookup.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using allocscope::detail::byte_view;
using allocscope::plain::arena;
using allocscope::symbolize::found_symbol;
using allocscope::symbolize::object_bytes;
using allocscope::symbolize::symbol_index;
using made_elf::bytes;
using made_elf::put;

constexpr std::uint64_t code_begin = 0x1000;

enum kind : std::uint8_t { label = 0, function = 2 };

struct symbol {
    std::string name;
    std::uint64_t address;
    std::uint64_t size;
    kind what;
};

// The function at an address: "load+5"; "" if there is none.
std::string function_at(const std::vector<symbol>& symbols, std::uint64_t address) {
    bytes table(24, 0);
    bytes names(1, 0);
    for (const symbol& each : symbols) {
        put(table, names.size(), 4);
        put(table, each.what, 1);
        put(table, 0, 1);
        put(table, 1, 2);
        put(table, each.address, 8);
        put(table, each.size, 8);
        names.insert(names.end(), each.name.begin(), each.name.end());
        names.push_back(0);
    }
    constexpr std::uint64_t executable = 4;
    const bytes file = made_elf::file_of({{".text", bytes(0x100, 0x90), executable, code_begin},
                                          {".symtab", table, 0, 0, 3},
                                          {".strtab", names}});
    arena memory;
    const object_bytes object{memory, byte_view{file.data(), file.size()}};
    const symbol_index index{memory, object};
    const found_symbol found = index.function_at(address);
    if (found.name == nullptr) return {};
    return found.name + ("+" + std::to_string(found.offset));
}

}  // namespace

TEST_CASE("symbol_lookup: functions without a size extend to the next symbol of their section") {
    const std::vector<symbol> symbols = {{"first", 0x1000, 0, function},
                                         {"second", 0x1040, 0, label},
                                         {"third", 0x1080, 0x10, function}};
    CHECK(function_at(symbols, 0x103f) == "first+63");
    CHECK(function_at(symbols, 0x1040) == "second+0");
    CHECK(function_at(symbols, 0x108f) == "third+15");
    CHECK(function_at(symbols, 0x1090).empty());
    CHECK(function_at({{"last", 0x10f0, 0, label}}, 0x10ff) == "last+15");
    CHECK(function_at({{"last", 0x10f0, 0, label}}, 0x1100).empty());
}

TEST_CASE("symbol_lookup: a label inside a function is not another function") {
    const std::vector<symbol> symbols = {{"load", 0x1000, 0x40, function},
                                         {"probe", 0x1010, 0, label},
                                         {"again", 0x1020, 0, label},
                                         {"save", 0x1050, 0x10, function}};
    CHECK(function_at(symbols, 0x100f) == "load+15");
    CHECK(function_at(symbols, 0x1018) == "load+24");
    CHECK(function_at(symbols, 0x103f) == "load+63");
    CHECK(function_at(symbols, 0x1040).empty());
    CHECK(function_at(symbols, 0x1050) == "save+0");
}
