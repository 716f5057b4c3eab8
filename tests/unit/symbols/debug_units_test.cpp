// Units of debug information in forms that no compiler writes for a small program.

#include "made_elf_file.hpp"

#include <allocscope/binary/elf_image.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

using allocscope::detail::byte_view;
using allocscope::plain::arena;
using allocscope::symbolize::debug_unit;
using allocscope::symbolize::debug_units;
using allocscope::symbolize::object_bytes;
using made_elf::bytes;
using made_elf::file_of;
using made_elf::put;
using made_elf::put_uleb;

constexpr unsigned other_shapes = 200;
constexpr std::uint64_t unit_bytes = 16;

// Abbreviations that units do not begin with, and behind them that of a compilation unit.
bytes abbreviations_of_all() {
    bytes table;
    for (unsigned code = 1; code <= other_shapes; ++code) {
        put_uleb(table, code);
        put_uleb(table, 0x34);  // a variable
        table.push_back(0);
        for (const unsigned attribute : {0x03U, 0x49U, 0x3bU}) {  // its name, type and line
            put_uleb(table, attribute);
            put_uleb(table, 0x0b);
        }
        put(table, 0, 2);
    }
    put_uleb(table, other_shapes + 1);
    put_uleb(table, 0x11);  // a compilation unit
    table.push_back(0);
    put_uleb(table, 0x11);  // the lowest address
    put_uleb(table, 0x01);
    put_uleb(table, 0x12);  // the highest, as a distance
    put_uleb(table, 0x0b);
    put(table, 0, 3);
    return table;
}

std::uint64_t address_of(std::uint64_t unit) {
    return 0x1000 + unit * unit_bytes;
}

// DWARF 4; all units have the same abbreviations.
bytes units_of(std::uint64_t count) {
    bytes info;
    for (std::uint64_t i = 0; i < count; ++i) {
        bytes unit;
        put(unit, 4, 2);
        put(unit, 0, 4);
        put(unit, 8, 1);
        put_uleb(unit, other_shapes + 1);
        put(unit, address_of(i), 8);
        put(unit, unit_bytes, 1);
        put(info, unit.size(), 4);
        info.insert(info.end(), unit.begin(), unit.end());
    }
    return info;
}

}  // namespace

TEST_CASE("debug_units: hundreds of units with one table of abbreviations are all known") {
    constexpr std::uint64_t count = 1000;
    const bytes file =
        file_of({{".debug_info", units_of(count)}, {".debug_abbrev", abbreviations_of_all()}});
    arena memory;
    const object_bytes object{memory, byte_view{file.data(), file.size()}};
    debug_units units{memory, object};
    const std::size_t before = memory.mapped_bytes();
    for (std::uint64_t i = 0; i < count; ++i) {
        CAPTURE(i);
        const debug_unit* unit = units.unit_at(address_of(i) + 5);
        REQUIRE(unit != nullptr);
        CHECK(unit->header.low_address == address_of(i));
    }
    // Their common abbreviations are in memory once.
    CHECK(memory.mapped_bytes() - before < (std::size_t{1} << 20));
}

namespace {

// A file with a section of three gigabytes, of which only the end is on the disk.
class huge_file {
public:
    static constexpr std::uint64_t section_bytes = std::uint64_t{3} << 30;

    // The last of the sections gets that size and ends with the text.
    huge_file(bytes file, std::uint64_t number, const std::string& text) {
        std::uint64_t table = 0;
        std::memcpy(&table, &file[40], sizeof table);
        const std::uint64_t entry = table + number * allocscope::detail::elf_section_bytes;
        const std::uint64_t offset = file.size();
        std::memcpy(&file[entry + 24], &offset, sizeof offset);
        std::memcpy(&file[entry + 32], &section_bytes, sizeof section_bytes);
        char name[] = "/tmp/allocscope_huge_XXXXXX";
        const int descriptor = ::mkstemp(name);
        path_ = name;
        const auto end = static_cast<off_t>(offset + section_bytes);
        const auto at = end - static_cast<off_t>(text.size()) - 1;
        is_there_ =
            ::ftruncate(descriptor, end) == 0 &&
            ::pwrite(descriptor, file.data(), file.size(), 0) ==
                static_cast<ssize_t>(file.size()) &&
            ::pwrite(descriptor, text.data(), text.size(), at) == static_cast<ssize_t>(text.size());
        ::close(descriptor);
    }
    ~huge_file() { ::unlink(path_.c_str()); }
    huge_file(const huge_file&) = delete;
    huge_file& operator=(const huge_file&) = delete;

    bool is_there() const { return is_there_; }
    const char* path() const { return path_.c_str(); }

private:
    std::string path_;
    bool is_there_ = false;
};

}  // namespace

TEST_CASE("debug_units: what is needed of a file of gigabytes is read") {
    const std::string folder = "/home/me/shop";
    bytes abbreviations = {1, 0x11, 0};                                     // a compilation unit
    for (const int part : {0x1b, 0x0e, 0x11, 0x01, 0x12, 0x0b, 0, 0, 0}) {  // folder, addresses
        put_uleb(abbreviations, static_cast<unsigned>(part));
    }
    bytes unit;
    put(unit, 4, 2);
    put(unit, 0, 4);
    put(unit, 8, 1);
    put_uleb(unit, 1);
    put(unit, huge_file::section_bytes - folder.size() - 1, 4);
    put(unit, 0x1000, 8);
    put(unit, unit_bytes, 1);
    bytes info;
    put(info, unit.size(), 4);
    info.insert(info.end(), unit.begin(), unit.end());
    const huge_file file{
        file_of({{".debug_info", info}, {".debug_abbrev", abbreviations}, {".debug_str", {}}}), 3,
        folder};
    if (!file.is_there()) return;  // such files are not allowed here
    arena memory;
    const object_bytes object{memory, file.path()};
    REQUIRE(object.is_readable());
    debug_units units{memory, object};
    const debug_unit* found = units.unit_at(0x1005);
    REQUIRE(found != nullptr);
    CHECK(std::string{found->directory} == folder);
}
