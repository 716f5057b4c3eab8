// Forms, units, ranges and line programs, of bytes written here.

#include <allocscope/binary/dwarf_lines.hpp>
#include <allocscope/binary/dwarf_ranges.hpp>
#include <allocscope/binary/dwarf_units.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace dwarf = allocscope::detail::dwarf;
using allocscope::detail::byte_cursor;
using allocscope::detail::byte_view;
using allocscope::detail::dwarf_extent;
using allocscope::detail::dwarf_format;
using allocscope::detail::dwarf_sections;
using allocscope::detail::dwarf_unit;
using allocscope::detail::dwarf_value;

using byte_list = std::vector<std::uint8_t>;

byte_list of(std::initializer_list<int> values) {
    byte_list bytes;
    for (const int value : values) bytes.push_back(static_cast<std::uint8_t>(value));
    return bytes;
}
byte_view view(const byte_list& bytes) {
    return byte_view{bytes.data(), bytes.size()};
}

dwarf_value read(std::uint16_t form, const byte_list& bytes, const dwarf_format& format,
                 std::size_t expected_size) {
    byte_cursor in{view(bytes)};
    const dwarf_value value = allocscope::detail::read_dwarf_value(in, form, format, -3);
    CHECK(in.ok());
    CHECK(in.at() == expected_size);
    return value;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_of(const dwarf_sections& sections,
                                                               const dwarf_unit& unit,
                                                               const dwarf_extent& extent) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    allocscope::detail::visit_dwarf_extent(sections, unit, extent,
                                           [&](std::uint64_t low, std::uint64_t high) {
                                               if (low < high) all.emplace_back(low, high);
                                               return true;
                                           });
    return all;
}

dwarf_value value_of(std::uint16_t form, std::uint64_t number) {
    dwarf_value value;
    value.form = form;
    value.number = number;
    return value;
}

}  // namespace

TEST_CASE("dwarf_forms: every form takes its own number of bytes") {
    const byte_list bytes = of({3, 'a', 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17});
    const byte_list word = of({'h', 'i', 0});
    const dwarf_format narrow{5, 8, 4};
    const dwarf_format wide{5, 8, 8};
    CHECK(read(dwarf::form_data1, bytes, narrow, 1).number == 3);
    CHECK(read(dwarf::form_strx3, bytes, narrow, 3).number == 0x006103);
    CHECK(read(dwarf::form_addr, bytes, narrow, 8).number == 0x0807060504006103);
    CHECK(read(dwarf::form_strp, bytes, narrow, 4).number == 0x04006103);
    CHECK(read(dwarf::form_line_strp, bytes, wide, 8).number == 0x0807060504006103);
    CHECK(read(dwarf::form_udata, bytes, narrow, 1).number == 3);
    CHECK(read(dwarf::form_rnglistx, bytes, narrow, 1).number == 3);
    CHECK(read(dwarf::form_flag_present, bytes, narrow, 0).number == 1);
    CHECK(read(dwarf::form_implicit_const, bytes, narrow, 0).number ==
          static_cast<std::uint64_t>(-3));
    CHECK(read(dwarf::form_exprloc, bytes, narrow, 4).form == dwarf::form_exprloc);
    CHECK(read(dwarf::form_block1, bytes, narrow, 4).form == dwarf::form_block1);
    CHECK(read(dwarf::form_data16, bytes, narrow, 16).form == dwarf::form_data16);
    CHECK(read(dwarf::form_gnu_ref_alt, bytes, wide, 8).form == dwarf::form_gnu_ref_alt);
    CHECK(read(dwarf::form_ref_addr, bytes, dwarf_format{2, 8, 4}, 8).number != 0);
    CHECK(std::string(read(dwarf::form_string, word, narrow, 3).text) == "hi");
    CHECK(read(dwarf::form_indirect, of({dwarf::form_data2, 1, 2}), narrow, 3).number == 0x0201);
}

TEST_CASE("dwarf_forms: unknown forms and forms that lead in circles fail the cursor") {
    const dwarf_format format{5, 8, 4};
    const byte_list bytes = of({dwarf::form_indirect, dwarf::form_indirect, 1, 1, 1, 1, 1});
    for (const std::uint16_t form :
         {std::uint16_t{0x7f}, std::uint16_t{0xffff}, std::uint16_t{0x02}, dwarf::form_indirect}) {
        byte_cursor in{view(bytes)};
        allocscope::detail::read_dwarf_value(in, form, format, 0);
        CHECK_FALSE(in.ok());
    }
    const byte_list too_long = of({0xff, 0xff, 0xff, 0xff, 1});
    byte_cursor in{view(too_long)};
    allocscope::detail::read_dwarf_value(in, dwarf::form_block4, format, 0);
    CHECK_FALSE(in.ok());
}

TEST_CASE("dwarf_units: headers of version 4 and 5, and of units of a type") {
    dwarf_unit unit;
    const byte_list four = of({8, 0, 0, 0, 4, 0, 0x10, 0, 0, 0, 8, 1});
    REQUIRE(allocscope::detail::read_dwarf_unit(view(four), 0, unit));
    CHECK(unit.format.version == 4);
    CHECK(unit.abbreviations == 0x10);
    CHECK(unit.first_entry == 11);
    CHECK(unit.end == 12);
    const byte_list five = of({9, 0, 0, 0, 5, 0, 1, 8, 0x20, 0, 0, 0, 1});
    REQUIRE(allocscope::detail::read_dwarf_unit(view(five), 0, unit));
    CHECK(unit.abbreviations == 0x20);
    CHECK(unit.first_entry == 12);
    const byte_list type =
        of({22, 0, 0, 0, 5, 0, 2, 8, 0x20, 0, 0, 0, 1, 2, 3, 4, 0x15, 0, 0, 0, 24, 0, 0, 0, 1, 0});
    REQUIRE(allocscope::detail::read_dwarf_unit(view(type), 0, unit));
    CHECK(unit.signature == 0x1504030201ULL);
    CHECK(unit.type_entry == 24);
    CHECK(unit.first_entry == 24);
    byte_list outside = type;
    outside[20] = 26;
    REQUIRE(allocscope::detail::read_dwarf_unit(view(outside), 0, unit));
    CHECK(unit.first_entry == unit.end);
    const byte_list cut = of({9, 0, 0, 0, 5, 0, 2, 8, 0x20, 0, 0, 0, 1});
    REQUIRE(allocscope::detail::read_dwarf_unit(view(cut), 0, unit));
    CHECK(unit.first_entry == unit.end);
    const byte_list newer = of({9, 0, 0, 0, 6, 0, 1, 8, 0x20, 0, 0, 0, 1});
    REQUIRE(allocscope::detail::read_dwarf_unit(view(newer), 0, unit));
    CHECK(unit.first_entry == unit.end);
    CHECK_FALSE(allocscope::detail::read_dwarf_unit(view(of({9, 0, 0, 0, 5, 0, 1})), 0, unit));
    CHECK_FALSE(allocscope::detail::read_dwarf_unit(view(of({0, 0, 0, 0, 5, 0, 1})), 0, unit));
    CHECK_FALSE(allocscope::detail::read_dwarf_unit(view(four), 12, unit));
    CHECK_FALSE(allocscope::detail::read_dwarf_unit(
        view(of({0xff, 0xff, 0xff, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 5, 0})), 0, unit));
}

TEST_CASE("dwarf_units: a reference stays inside its unit") {
    dwarf_unit unit;
    unit.offset = 100;
    unit.end = 200;
    CHECK(allocscope::detail::dwarf_reference(unit, value_of(dwarf::form_ref4, 20)) == 120);
    CHECK(allocscope::detail::dwarf_reference(unit, value_of(dwarf::form_ref4, 100)) == 0);
    CHECK(allocscope::detail::dwarf_reference(unit, value_of(dwarf::form_ref8, ~0ULL)) == 0);
    CHECK(allocscope::detail::dwarf_reference(unit, value_of(dwarf::form_ref_addr, 7)) == 7);
    CHECK(allocscope::detail::dwarf_reference(unit, value_of(dwarf::form_ref_sig8, 7)) == 0);
}

TEST_CASE("dwarf_units: a reference says whether it leads into the supplementary file") {
    using allocscope::detail::dwarf_in_supplement;
    using allocscope::detail::dwarf_reference;
    dwarf_unit unit;
    unit.offset = 100;
    unit.end = 200;
    for (const std::uint16_t form :
         {dwarf::form_gnu_ref_alt, dwarf::form_ref_sup4, dwarf::form_ref_sup8}) {
        CHECK(dwarf_reference(unit, value_of(form, 7)) == (dwarf_in_supplement | 7));
    }
    unit.file = dwarf_in_supplement;  // what is in there refers to its own entries
    CHECK(dwarf_reference(unit, value_of(dwarf::form_ref4, 20)) == (dwarf_in_supplement | 120));
    CHECK(dwarf_reference(unit, value_of(dwarf::form_ref4, 100)) == 0);
    CHECK(dwarf_reference(unit, value_of(dwarf::form_ref_addr, 7)) == (dwarf_in_supplement | 7));
}

TEST_CASE("dwarf_units: a text of the supplementary file is not one of the program's own") {
    const byte_list own{'o', 'w', 'n', 0};
    const byte_list shared{'s', 'h', 'a', 'r', 'e', 'd', 0};
    dwarf_sections sections;
    sections.strings = view(own);
    const dwarf_unit unit;
    for (const std::uint16_t form : {dwarf::form_gnu_strp_alt, dwarf::form_strp_sup}) {
        sections.supplement_strings = {};
        CHECK(std::string{allocscope::detail::dwarf_text(sections, unit, value_of(form, 0))} == "");
        sections.supplement_strings = view(shared);
        CHECK(std::string{allocscope::detail::dwarf_text(sections, unit, value_of(form, 0))} ==
              "shared");
    }
}

TEST_CASE("dwarf_ranges: a low and a high address, the high one absolute or as a length") {
    const dwarf_sections sections;
    dwarf_unit unit;
    unit.format = dwarf_format{4, 8, 4};
    dwarf_extent extent;
    CHECK(ranges_of(sections, unit, extent).empty());
    extent.low = value_of(dwarf::form_addr, 0x1000);
    CHECK(ranges_of(sections, unit, extent).empty());
    extent.high = value_of(dwarf::form_data4, 0x20);
    REQUIRE(ranges_of(sections, unit, extent).size() == 1);
    CHECK(ranges_of(sections, unit, extent)[0].second == 0x1020);
    extent.high = value_of(dwarf::form_addr, 0x1800);
    CHECK(ranges_of(sections, unit, extent)[0].second == 0x1800);
    extent.high = value_of(dwarf::form_addr, 0x800);
    CHECK(ranges_of(sections, unit, extent).empty());
}

TEST_CASE("dwarf_ranges: every entry of a DWARF 5 list") {
    const byte_list addresses = of({0,    0,    0, 0, 0, 0, 0, 0, 0x00, 0x10, 0, 0, 0, 0, 0, 0,  //
                                    0x00, 0x20, 0, 0, 0, 0, 0, 0});
    const byte_list list = of({1, 0,                             // base: address 0 = 0x1000
                               4, 0x10, 0x20,                    // [0x1010, 0x1020)
                               2, 0,    1,                       // [0x1000, 0x2000)
                               3, 1,    0x30,                    // [0x2000, 0x2030)
                               5, 0,    0x30, 0, 0, 0, 0, 0, 0,  // base: 0x3000
                               4, 1,    2,                       // [0x3001, 0x3002)
                               4, 2,    1,                       // the wrong way round: nothing
                               6, 1,    0,    0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0,  // [1, 5)
                               7, 7,    0,    0, 0, 0, 0, 0, 0, 2,                       // [7, 9)
                               0, 4,    1,    2});
    dwarf_sections sections;
    sections.addresses = view(addresses);
    sections.range_lists = view(list);
    dwarf_unit unit;
    unit.format = dwarf_format{5, 8, 4};
    unit.addresses_base = 8;
    dwarf_extent extent;
    extent.ranges = value_of(dwarf::form_sec_offset, 0);
    const auto all = ranges_of(sections, unit, extent);
    REQUIRE(all.size() == 6);
    CHECK(all[0] == std::make_pair(std::uint64_t{0x1010}, std::uint64_t{0x1020}));
    CHECK(all[1] == std::make_pair(std::uint64_t{0x1000}, std::uint64_t{0x2000}));
    CHECK(all[2] == std::make_pair(std::uint64_t{0x2000}, std::uint64_t{0x2030}));
    CHECK(all[3] == std::make_pair(std::uint64_t{0x3001}, std::uint64_t{0x3002}));
    CHECK(all[4] == std::make_pair(std::uint64_t{1}, std::uint64_t{5}));
    CHECK(all[5] == std::make_pair(std::uint64_t{7}, std::uint64_t{9}));
}

TEST_CASE("dwarf_ranges: a list by number is found through the offsets at its base") {
    byte_list lists(12, 0);                             // the header
    const byte_list rest = of({8, 0, 0, 0, 9, 0, 0, 0,  // two offsets from here
                               0, 7, 4, 0, 0, 0, 0, 0, 0, 0, 2, 0});
    lists.insert(lists.end(), rest.begin(), rest.end());
    dwarf_sections sections;
    sections.range_lists = view(lists);
    dwarf_unit unit;
    unit.format = dwarf_format{5, 8, 4};
    unit.range_lists_base = 12;
    dwarf_extent extent;
    extent.ranges = value_of(dwarf::form_rnglistx, 1);
    REQUIRE(ranges_of(sections, unit, extent).size() == 1);
    CHECK(ranges_of(sections, unit, extent)[0].first == 4);
    extent.ranges = value_of(dwarf::form_rnglistx, ~std::uint64_t{0});
    CHECK(ranges_of(sections, unit, extent).empty());
}

TEST_CASE("dwarf_ranges: DWARF 4 pairs are relative to a base that may change") {
    byte_list list;
    const auto add = [&](std::uint64_t value) {
        for (unsigned i = 0; i < 8; ++i)
            list.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    };
    for (const std::uint64_t value : {0x10ULL, 0x20ULL, ~0ULL, 0x5000ULL, 1ULL, 2ULL, 0ULL, 0ULL}) {
        add(value);
    }
    dwarf_sections sections;
    sections.ranges = view(list);
    dwarf_unit unit;
    unit.format = dwarf_format{4, 8, 4};
    unit.low_address = 0x1000;
    dwarf_extent extent;
    extent.ranges = value_of(dwarf::form_sec_offset, 0);
    const auto all = ranges_of(sections, unit, extent);
    REQUIRE(all.size() == 2);
    CHECK(all[0].first == 0x1010);
    CHECK(all[1].first == 0x5001);
}

TEST_CASE("dwarf_lines: a program of every kind of operation") {
    const byte_list program = of({
        0,
        0,
        0,
        0,
        4,
        0,
        0,
        0,
        0,
        0,
        1,
        1,
        1,
        0xfb,
        14,
        13,  // lengths are filled in
        0,
        1,
        1,
        1,
        1,
        0,
        0,
        0,
        1,
        0,
        0,
        1,  // operand counts
        'd',
        0,
        0,
        'a',
        '.',
        'c',
        0,
        1,
        0,
        0,
        'b',
        '.',
        'c',
        0,
        0,
        0,
        0,
        0,  // tables
        0,
        9,
        2,
        0x00,
        0x10,
        0,
        0,
        0,
        0,
        0,
        0,  // address 0x1000
        5,
        3,                // column 3
        1,                // row: line 1
        13 + 14 * 4 + 7,  // row: address + 4, line + 2
        3,
        0x7f,  // line - 1
        4,
        2,  // file 2
        8,  // address + (255 - 13) / 14
        1,  // row
        2,
        0x10,  // address + 16
        0,
        3,
        0x80,
        1,
        2,  // unknown, passed over
        0,
        1,
        1,  // end
    });
    byte_list whole = program;
    whole[0] = static_cast<std::uint8_t>(program.size() - 4);
    const std::size_t first_operation = 16 + 12 + 18;
    whole[6] = static_cast<std::uint8_t>(first_operation - 10);
    dwarf_sections sections;
    sections.lines = view(whole);
    allocscope::detail::dwarf_line_header header;
    REQUIRE(allocscope::detail::read_dwarf_line_header(sections.lines, 0, header));

    struct collector {
        std::vector<std::string> directories, files;
        void directory(const char* name) { directories.push_back(name == nullptr ? "-" : name); }
        void file(const char* name, std::uint64_t directory) {
            files.push_back((name == nullptr ? "-" : name) + std::to_string(directory));
        }
    } tables;
    allocscope::detail::visit_dwarf_line_tables(sections, dwarf_unit{}, header, tables);
    CHECK(tables.directories == std::vector<std::string>{"-", "d"});
    CHECK(tables.files == std::vector<std::string>{"-0", "a.c1", "b.c0"});

    std::vector<allocscope::detail::dwarf_line_row> rows;
    allocscope::detail::visit_dwarf_lines(
        sections.lines, header,
        [&](const allocscope::detail::dwarf_line_row& row) { rows.push_back(row); });
    REQUIRE(rows.size() == 4);
    CHECK(rows[0].address == 0x1000);
    CHECK(rows[0].line == 1);
    CHECK(rows[0].column == 3);
    CHECK(rows[1].address == 0x1004);
    CHECK(rows[1].line == 3);
    CHECK(rows[2].address == 0x1004 + 17);
    CHECK(rows[2].line == 2);
    CHECK(rows[2].file == 2);
    CHECK(rows[3].ends_sequence);
    CHECK(rows[3].address == 0x1004 + 33);

    for (std::size_t size = 0; size < whole.size(); ++size) {
        CHECK_FALSE(
            allocscope::detail::read_dwarf_line_header(sections.lines.part(0, size), 0, header));
    }
    whole[14] = 0;  // steps of zero lines would divide by zero
    CHECK_FALSE(allocscope::detail::read_dwarf_line_header(sections.lines, 0, header));
}

TEST_CASE("dwarf_lines: tables whose entries take no bytes are not believed") {
    const byte_list table = of({1, dwarf::line_content_path, dwarf::form_flag_present,  //
                                0xff, 0xff, 0xff, 0xff, 0x0f});
    byte_cursor in{view(table)};
    std::size_t count = 0;
    allocscope::detail::dwarf_line_tables::visit_new(in, dwarf_sections{}, dwarf_unit{},
                                                     dwarf_format{5, 8, 4},
                                                     [&](const char*, std::uint64_t) { ++count; });
    CHECK(count == 0);
    CHECK_FALSE(in.ok());
}
