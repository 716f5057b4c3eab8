// Headers, sections, symbols and notes, of files written here byte by byte.

#include <allocscope/binary/build_id.hpp>
#include <allocscope/binary/elf_image.hpp>
#include <allocscope/binary/elf_symbols.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

using allocscope::detail::byte_view;

struct writer {
    std::vector<std::uint8_t> bytes;
    writer& number(std::uint64_t value, unsigned width) {
        for (unsigned i = 0; i < width; ++i) {
            bytes.push_back(i < 8 ? static_cast<std::uint8_t>(value >> (8 * i)) : std::uint8_t{0});
        }
        return *this;
    }
    writer& text(const char* value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) number(static_cast<unsigned char>(value[i]), 1);
        return *this;
    }
    byte_view view() const { return byte_view{bytes.data(), bytes.size()}; }
};

writer header_with(std::uint16_t section_bytes) {
    writer out;
    out.text("\177ELF\2\1\1", 7).number(0, 9);
    out.number(3, 2).number(62, 2).number(1, 4).number(0x1000, 8);   // type .. entry
    out.number(64, 8).number(0x2000, 8).number(0, 4).number(64, 2);  // offsets .. header bytes
    out.number(56, 2).number(9, 2).number(section_bytes, 2).number(30, 2).number(29, 2);
    return out;
}

}  // namespace

TEST_CASE("elf_image: a header says where its sections are") {
    const auto header = allocscope::detail::read_elf_header(header_with(64).view());
    CHECK(header.is_valid);
    CHECK(header.type == 3);
    CHECK(header.sections_offset == 0x2000);
    CHECK(header.section_bytes == 64);
    CHECK(header.section_count == 30);
    CHECK(header.names_section == 29);
}

TEST_CASE("elf_image: what is no 64-bit little-endian ELF file is refused") {
    using allocscope::detail::read_elf_header;
    CHECK_FALSE(read_elf_header(byte_view{}).is_valid);
    CHECK_FALSE(read_elf_header(header_with(64).view().part(0, 63)).is_valid);
    CHECK_FALSE(read_elf_header(header_with(0).view()).is_valid);
    CHECK_FALSE(read_elf_header(header_with(63).view()).is_valid);
    for (const std::size_t at : {0U, 3U, 4U, 5U}) {
        writer broken = header_with(64);
        broken.bytes[at] = static_cast<std::uint8_t>(broken.bytes[at] + 1);
        CHECK_FALSE(read_elf_header(broken.view()).is_valid);
    }
}

TEST_CASE("elf_image: a section outside its table is all zero") {
    writer table;
    table.number(0, 32).number(0, 32);
    table.number(7, 4).number(1, 4).number(6, 8).number(0x1000, 8).number(0x300, 8);
    table.number(0x55, 8).number(2, 4).number(0, 4).number(16, 8).number(24, 8);
    const auto section = allocscope::detail::read_elf_section(table.view(), 1, 64);
    CHECK(section.name == 7);
    CHECK(section.flags == 6);
    CHECK(section.address == 0x1000);
    CHECK(section.offset == 0x300);
    CHECK(section.size == 0x55);
    CHECK(section.link == 2);
    CHECK(section.entry_bytes == 24);
    CHECK(allocscope::detail::read_elf_section(table.view(), 2, 64).size == 0);
    CHECK(allocscope::detail::read_elf_section(table.view(), 1, 32).size == 0);
    CHECK(allocscope::detail::read_elf_section(table.view(), ~std::uint64_t{0}, 64).size == 0);
}

TEST_CASE("elf_symbols: defined symbols are visited, imported and nameless ones are not") {
    writer table;
    table.number(0, 24);  // the first
    table.number(5, 4).number(0x12, 1).number(0, 1).number(3, 2).number(0x40, 8).number(9, 8);
    table.number(9, 4).number(0x12, 1).number(0, 1).number(0, 2).number(0, 8).number(0, 8);
    table.number(0, 4).number(0x03, 1).number(0, 1).number(1, 2).number(0, 8).number(0, 8);
    table.number(8, 4).number(0x21, 1).number(0, 1).number(4, 2).number(0x80, 8).number(1, 8);
    table.number(8, 4);  // cut off
    std::vector<allocscope::detail::elf_symbol> found;
    allocscope::detail::visit_elf_symbols(
        table.view(), [&](const allocscope::detail::elf_symbol& one) { found.push_back(one); });
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == 5);
    CHECK(found[0].kind == allocscope::detail::elf_symbol_kind::function);
    CHECK(found[0].binding == allocscope::detail::elf_symbol_binding::global);
    CHECK(found[0].address == 0x40);
    CHECK(found[0].size == 9);
    CHECK(found[1].kind == allocscope::detail::elf_symbol_kind::object);
    CHECK(found[1].binding == allocscope::detail::elf_symbol_binding::weak);
}

TEST_CASE("build_id: found among other notes") {
    using allocscope::detail::build_id;
    using allocscope::detail::find_build_id;
    writer notes;
    notes.number(4, 4).number(5, 4).number(1, 4).text("GNU", 4).text("abcde", 5).number(0, 3);
    notes.number(4, 4).number(4, 4).number(3, 4).text("ABC", 4).text("1234", 4);
    notes.number(4, 4).number(20, 4).number(3, 4).text("GNU", 4);
    notes.text("0123456789abcdefghij", 20);
    const build_id id = find_build_id(notes.view());
    REQUIRE(id.size == 20);
    CHECK(std::memcmp(id.bytes, "0123456789abcdefghij", 20) == 0);
    for (std::size_t size = 0; size < notes.bytes.size(); ++size) {
        CHECK_FALSE(find_build_id(notes.view().part(0, size)).known());
    }

    build_id other = id;
    CHECK(id.equals(other));
    other.bytes[19] = 0;
    CHECK_FALSE(id.equals(other));
    CHECK_FALSE(id.equals(build_id{}));
}

TEST_CASE("build_id: one that is empty or longer than any is none") {
    writer empty;
    empty.number(4, 4).number(0, 4).number(3, 4).text("GNU", 4);
    CHECK_FALSE(allocscope::detail::find_build_id(empty.view()).known());
    writer huge;
    huge.number(4, 4).number(65, 4).number(3, 4).text("GNU", 4).number(1, 68);
    CHECK_FALSE(allocscope::detail::find_build_id(huge.view()).known());
    writer lying;
    lying.number(0xffffffff, 4).number(0xffffffff, 4).number(3, 4).text("GNU", 4);
    CHECK_FALSE(allocscope::detail::find_build_id(lying.view()).known());
}
