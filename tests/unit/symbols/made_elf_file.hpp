// made_elf_file.hpp - ELF files with the sections that a test wants.
//
// Room:     tests/unit/symbols
// Called:   by tests of files that no compiler writes for a small program
// Threads:  any
// Memory:   of the vectors
//
//     const bytes file = file_of({{".debug_info", info}, {".debug_abbrev", abbreviations}});

#ifndef ALLOCSCOPE_TESTS_UNIT_SYMBOLS_MADE_ELF_FILE_HPP
#define ALLOCSCOPE_TESTS_UNIT_SYMBOLS_MADE_ELF_FILE_HPP

#include <allocscope/binary/elf_image.hpp>

#include <cstdint>  // uint8_t ... uint64_t
#include <string>   // string
#include <vector>   // vector

namespace made_elf {

using bytes = std::vector<std::uint8_t>;

inline void put(bytes& to, std::uint64_t number, unsigned width) {
    for (; width != 0; --width, number >>= 8) to.push_back(static_cast<std::uint8_t>(number));
}

inline void put_uleb(bytes& to, std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) to.push_back(static_cast<std::uint8_t>(number | 0x80));
    to.push_back(static_cast<std::uint8_t>(number));
}

inline void append(bytes& to, const bytes& more) {
    to.insert(to.end(), more.begin(), more.end());
}

// An abbreviation of debug entries.
inline void put_shape(bytes& table, unsigned code, unsigned tag, bool has_children,
                      const bytes& names_and_forms) {
    put_uleb(table, code);
    put_uleb(table, tag);
    put(table, has_children ? 1 : 0, 1);
    append(table, names_and_forms);
    put(table, 0, 2);
}

struct section {
    std::string name;
    bytes content;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::uint32_t link = 0;  // the number of another section; the first of the list is 1
};

// The sections are in the order of the list; the one with their names comes last.
inline bytes file_of(std::vector<section> sections) {
    constexpr std::uint64_t header_bytes = allocscope::detail::elf_header_bytes;
    constexpr std::uint64_t entry_bytes = allocscope::detail::elf_section_bytes;
    bytes names(1, 0);
    sections.push_back({".shstrtab", {}});
    for (const section& each : sections) {
        names.insert(names.end(), each.name.begin(), each.name.end());
        names.push_back(0);
    }
    sections.back().content = names;
    bytes table(entry_bytes, 0);
    bytes contents;
    std::uint64_t name = 1;
    for (const section& each : sections) {
        put(table, name, 4);
        name += each.name.size() + 1;
        put(table, 1, 4);  // has bytes in the file
        put(table, each.flags, 8);
        put(table, each.address, 8);
        put(table, header_bytes + contents.size(), 8);
        put(table, each.content.size(), 8);
        put(table, each.link, 4);
        put(table, 0, 4 + 8 + 8);
        append(contents, each.content);
    }
    bytes file = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0};
    file.resize(16);
    put(file, 3, 2);
    put(file, 62, 2);
    put(file, 1, 4);
    put(file, 0, 8 + 8);
    put(file, header_bytes + contents.size(), 8);
    put(file, 0, 4);
    put(file, header_bytes, 2);
    put(file, 0, 2 + 2);
    put(file, entry_bytes, 2);
    put(file, sections.size() + 1, 2);
    put(file, sections.size(), 2);
    append(file, contents);
    append(file, table);
    return file;
}

}  // namespace made_elf

#endif  // ALLOCSCOPE_TESTS_UNIT_SYMBOLS_MADE_ELF_FILE_HPP
