// dwarf_lines.hpp - reads one line number program: its directories and files, and its rows.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by symbols/line_lookup.hpp
// Threads:  any
// Memory:   none
//
//     program:  | header: directories, files | operations ... |
//     rows:     address 0x1000 file 1 line 5 column 3
//               address 0x1008 file 2 line 91 column 7
//               address 0x1010 end of sequence

#ifndef ALLOCSCOPE_BINARY_DWARF_LINES_HPP
#define ALLOCSCOPE_BINARY_DWARF_LINES_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_forms.hpp>
#include <allocscope/binary/dwarf_units.hpp>

#include <cstdint>  // uint8_t ... uint64_t

ALLOCSCOPE_WARM_BEGIN

namespace detail {

struct dwarf_line_header {
    dwarf_format format;
    std::uint64_t tables = 0;      // where the descriptions of directories and files begin
    std::uint64_t operations = 0;  // where the program begins
    std::uint64_t end = 0;
    std::uint8_t least_instruction_bytes = 1;
    std::int8_t line_base = 0;
    std::uint8_t line_range = 1;
    std::uint8_t first_special = 10;
    std::uint8_t operand_counts[256] = {};
};

struct dwarf_line_row {
    std::uint64_t address = 0;
    std::uint32_t file = 1;
    std::uint32_t line = 1;
    std::uint32_t column = 0;
    bool ends_sequence = false;
};

ALLOCSCOPE_SLOW_PATH bool read_dwarf_line_header(byte_view section, std::uint64_t offset,
                                                 dwarf_line_header& header) noexcept {
    header = dwarf_line_header{};
    byte_cursor in{section, offset};
    std::uint64_t length = in.u32();
    if (length == 0xffffffffU) {
        length = in.u64();
        header.format.offset_bytes = 8;
    }
    if (!in.ok() || length > in.remaining()) return false;
    header.end = in.at() + length;
    header.format.version = in.u16();
    if (header.format.version < 2 || header.format.version > 5) return false;
    if (header.format.version >= 5) {
        header.format.address_bytes = in.u8();
        in.skip(1);  // segment selectors
    }
    const std::uint64_t header_bytes = in.unsigned_of(header.format.offset_bytes);
    if (!in.ok() || header_bytes > in.remaining()) return false;
    header.operations = in.at() + header_bytes;
    header.least_instruction_bytes = in.u8();
    if (header.format.version >= 4) in.skip(1);  // operations per VLIW instruction
    in.skip(1);                                  // is_stmt at the start
    header.line_base = static_cast<std::int8_t>(in.u8());
    header.line_range = in.u8();
    header.first_special = in.u8();
    for (unsigned code = 1; code < header.first_special; ++code) {
        header.operand_counts[code] = in.u8();
    }
    header.tables = in.at();
    return in.ok() && header.line_range != 0 && header.operations <= header.end;
}

namespace dwarf_line_tables {

// DWARF 2 to 4: directories until an empty text, then files until an empty one. They begin at 1.
template <class Visitor>
inline void visit_old(byte_cursor& in, Visitor& visit) {
    visit.directory(nullptr);  // number 0 is the compilation directory
    for (;;) {
        const char* name = in.text();
        if (!in.ok() || *name == '\0') break;
        visit.directory(name);
    }
    visit.file(nullptr, 0);
    while (in.ok()) {
        const char* name = in.text();
        if (!in.ok() || *name == '\0') break;
        const std::uint64_t directory = in.uleb();
        in.uleb();  // time
        in.uleb();  // size
        visit.file(name, directory);
    }
}

// DWARF 5: each table begins with the forms of its entries.
template <class Report>
inline void visit_new(byte_cursor& in, const dwarf_sections& sections, const dwarf_unit& unit,
                      const dwarf_format& format, Report&& report) {
    constexpr unsigned most_fields = 16;
    std::uint16_t contents[most_fields] = {};
    std::uint16_t forms[most_fields] = {};
    const unsigned field_count = in.u8();
    if (field_count > most_fields) return in.fail();
    for (unsigned i = 0; i < field_count; ++i) {
        contents[i] = static_cast<std::uint16_t>(in.uleb() & 0xffff);
        forms[i] = static_cast<std::uint16_t>(in.uleb() & 0xffff);
    }
    const std::uint64_t count = in.uleb();
    for (std::uint64_t entry = 0; entry < count && in.ok(); ++entry) {
        const std::size_t before = in.at();
        const char* path = "";
        std::uint64_t directory = 0;
        for (unsigned i = 0; i < field_count; ++i) {
            const dwarf_value value = read_dwarf_value(in, forms[i], format, 0);
            if (contents[i] == dwarf::line_content_path) path = dwarf_text(sections, unit, value);
            if (contents[i] == dwarf::line_content_directory) directory = value.number;
        }
        if (in.at() == before) return in.fail();  // entries without bytes would never end
        if (in.ok()) report(path, directory);
    }
}

}  // namespace dwarf_line_tables

// Calls `visit.directory(const char* or null)` for each directory in order, then
// `visit.file(const char* or null, directory number)` for each file. Null: there is no such entry.
template <class Visitor>
inline void visit_dwarf_line_tables(const dwarf_sections& sections, const dwarf_unit& unit,
                                    const dwarf_line_header& header, Visitor&& visit) {
    byte_cursor in{sections.lines.part(0, header.end), header.tables};
    if (header.format.version < 5) {
        dwarf_line_tables::visit_old(in, visit);
        return;
    }
    dwarf_line_tables::visit_new(in, sections, unit, header.format,
                                 [&](const char* path, std::uint64_t) { visit.directory(path); });
    dwarf_line_tables::visit_new(
        in, sections, unit, header.format,
        [&](const char* path, std::uint64_t directory) { visit.file(path, directory); });
}

// Runs the program and calls `visit(const dwarf_line_row&)` for every row. Each operation takes at
// least one byte and makes at most one row, so the work is bounded by the length of the section.
template <class Visitor>
class dwarf_line_machine {
public:
    dwarf_line_machine(byte_view section, const dwarf_line_header& header, Visitor& visit) noexcept
        : header_(header), in_(section.part(0, header.end), header.operations), visit_(visit) {}

    void run() {
        while (!in_.at_end()) {
            const std::uint8_t code = in_.next();
            if (code >= header_.first_special) {
                special(static_cast<std::uint8_t>(code - header_.first_special));
            } else if (code == 0) {
                extended();
            } else {
                standard(code);
            }
        }
    }

private:
    void visit_row() {
        if (in_.ok()) visit_(static_cast<const dwarf_line_row&>(row_));
    }
    void advance(std::uint64_t operations) {
        row_.address += operations * header_.least_instruction_bytes;
    }
    void add_lines(std::int64_t lines) {
        row_.line += static_cast<std::uint32_t>(static_cast<std::uint64_t>(lines));
    }

    void special(std::uint8_t code) {
        advance(code / header_.line_range);
        add_lines(header_.line_base + code % header_.line_range);
        visit_row();
    }

    void extended() {
        const std::uint64_t length = in_.uleb();
        const std::size_t start = in_.at();
        if (length == 0 || length > in_.remaining()) return in_.fail();
        const std::uint8_t code = in_.u8();
        if (code == dwarf::line_end_sequence) {
            row_.ends_sequence = true;
            visit_row();
            row_ = dwarf_line_row{};
        } else if (code == dwarf::line_set_address && (length == 9 || length == 5)) {
            row_.address = in_.unsigned_of(static_cast<unsigned>(length - 1));
        }
        in_.seek(start + length);
    }

    void standard(std::uint8_t code) {
        switch (code) {
            case dwarf::line_copy:
                visit_row();
                break;
            case dwarf::line_advance_pc:
                advance(in_.uleb());
                break;
            case dwarf::line_advance_line:
                add_lines(in_.sleb());
                break;
            case dwarf::line_set_file:
                row_.file = static_cast<std::uint32_t>(in_.uleb());
                break;
            case dwarf::line_set_column:
                row_.column = static_cast<std::uint32_t>(in_.uleb());
                break;
            case dwarf::line_const_add_pc:
                advance((255U - header_.first_special) / header_.line_range);
                break;
            case dwarf::line_fixed_advance_pc:
                row_.address += in_.u16();
                break;
            default:
                for (unsigned i = 0; i < header_.operand_counts[code]; ++i) in_.uleb();
                break;
        }
    }

    const dwarf_line_header& header_;
    byte_cursor in_;
    Visitor& visit_;
    dwarf_line_row row_;
};

template <class Visitor>
inline void visit_dwarf_lines(byte_view section, const dwarf_line_header& header, Visitor&& visit) {
    dwarf_line_machine<Visitor> machine{section, header, visit};
    machine.run();
}

}  // namespace detail

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_BINARY_DWARF_LINES_HPP
