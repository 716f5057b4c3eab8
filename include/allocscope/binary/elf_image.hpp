// elf_image.hpp - reads the header of an ELF file and its table of sections.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by everything that opens a program or a library to find a section in it
// Threads:  any
// Memory:   none
//
// Only 64-bit little-endian files are read. Each function takes the bytes of the one table that it
// decodes, so the caller decides how to read the file: as a whole, or table by table.
//
//     file:  | header, 64 bytes | segments, code, data, ... | sections, count x 64 bytes |

#ifndef ALLOCSCOPE_BINARY_ELF_IMAGE_HPP
#define ALLOCSCOPE_BINARY_ELF_IMAGE_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint16_t ... uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr std::size_t elf_header_bytes = 64;
constexpr std::size_t elf_section_bytes = 64;

constexpr std::uint32_t elf_section_notes = 7;     // SHT_NOTE
constexpr std::uint32_t elf_section_no_bytes = 8;  // SHT_NOBITS
constexpr std::uint64_t elf_section_executable = 4;
constexpr std::uint64_t elf_section_compressed = 0x800;

struct elf_header {
    bool is_valid = false;
    std::uint16_t type = 0;
    std::uint64_t sections_offset = 0;
    std::uint16_t section_bytes = 0;
    // 0 and 0xffff mean that the true number is in section 0 (its size and its link).
    std::uint64_t section_count = 0;
    std::uint64_t names_section = 0;
};

struct elf_section {
    std::uint32_t name = 0;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t link = 0;
    std::uint64_t entry_bytes = 0;
};

inline elf_header read_elf_header(byte_view bytes) noexcept {
    elf_header header;
    byte_cursor in{bytes};
    const std::uint32_t magic = in.u32();
    const std::uint8_t word_class = in.u8();
    const std::uint8_t byte_order = in.u8();
    if (magic != 0x464c457fU || word_class != 2 || byte_order != 1) return header;
    in.seek(16);
    header.type = in.u16();
    in.skip(2 + 4 + 8);  // machine, version, entry
    in.skip(8);          // where the segments are
    header.sections_offset = in.u64();
    in.skip(4 + 2);  // flags, size of this header
    in.skip(2 + 2);  // segments
    header.section_bytes = in.u16();
    header.section_count = in.u16();
    header.names_section = in.u16();
    header.is_valid = in.ok() && header.section_bytes >= elf_section_bytes;
    return header;
}

// Reads entry `index` of a section table with entries `stride` bytes apart; all zero if it is
// outside.
inline elf_section read_elf_section(byte_view table, std::uint64_t index,
                                    std::uint16_t stride) noexcept {
    elf_section section;
    if (stride < elf_section_bytes || index >= table.size / stride) return section;
    byte_cursor in{table, index * stride};
    section.name = in.u32();
    section.type = in.u32();
    section.flags = in.u64();
    section.address = in.u64();
    section.offset = in.u64();
    section.size = in.u64();
    section.link = in.u32();
    in.skip(4 + 8);  // info, alignment
    section.entry_bytes = in.u64();
    return section;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_BINARY_ELF_IMAGE_HPP
