// dwarf_units.hpp - the units of .debug_info, their abbreviations, and what their values stand for.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by the readers of debug information in symbols/
// Threads:  any
// Memory:   none
//
//     .debug_info:  | header | entry | entry | ... | header | entry | ...
//                     unit 0                         unit 1
//     entry:        | code | value | value | ...     `code` names an abbreviation: a tag, and for
//                                                    each value an attribute and a form

#ifndef ALLOCSCOPE_BINARY_DWARF_UNITS_HPP
#define ALLOCSCOPE_BINARY_DWARF_UNITS_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_forms.hpp>
#include <allocscope/binary/late_bytes.hpp>

#include <cstdint>  // uint8_t ... uint64_t
#include <cstring>  // strnlen

ALLOCSCOPE_COOL_BEGIN

namespace detail {

struct dwarf_sections {
    byte_view info, abbreviations, strings, lines, line_strings;
    byte_view ranges, range_lists, addresses, string_offsets;
    byte_view supplement_strings;  // of the supplementary file
    // For sections that are read only where needed; null: the whole section has been read.
    late_bytes* late_info = nullptr;
    late_bytes* late_strings = nullptr;
    late_bytes* late_lines = nullptr;
};

// A supplementary file holds what several files share. References to its entries have this bit, in
// whichever file they are.
constexpr std::uint64_t dwarf_in_supplement = std::uint64_t{1} << 63U;

// One unit. The bases and the low address come from its first entry.
struct dwarf_unit {
    std::uint64_t offset = 0;  // of the header in .debug_info
    std::uint64_t end = 0;     // where the next unit begins
    std::uint64_t first_entry = 0;
    std::uint64_t abbreviations = 0;
    dwarf_format format;
    std::uint8_t type = 0;         // DWARF 5 only
    std::uint64_t signature = 0;   // of a unit that describes one type, DWARF 5
    std::uint64_t type_entry = 0;  // of that type
    std::uint64_t split_id = 0;    // tells which skeleton belongs to which split unit; 0: none
    std::uint64_t string_offsets_base = 0;
    std::uint64_t addresses_base = 0;
    std::uint64_t range_lists_base = 0;  // DWARF 5
    std::uint64_t ranges_base = 0;       // split DWARF 4
    std::uint64_t low_address = 0;
    std::uint64_t file = 0;  // dwarf_in_supplement: of a supplementary file
};

// Reads the header at `offset`. Returns false if the section ends or cannot be read from there on.
// A unit of an unknown version is returned with first_entry == end, so that the next one can be
// found.
ALLOCSCOPE_NOINLINE bool read_dwarf_unit(byte_view info, std::uint64_t offset,
                                         dwarf_unit& unit) noexcept {
    unit = dwarf_unit{};
    unit.offset = offset;
    byte_cursor in{info, offset};
    std::uint64_t length = in.u32();
    if (length == 0xffffffffU) {
        length = in.u64();
        unit.format.offset_bytes = 8;
    } else if (length >= 0xfffffff0U) {
        return false;
    }
    if (!in.ok() || length == 0 || length > in.remaining()) return false;
    unit.end = in.at() + length;
    unit.format.version = in.u16();
    if (unit.format.version >= 5) {
        unit.type = in.u8();
        unit.format.address_bytes = in.u8();
        unit.abbreviations = in.unsigned_of(unit.format.offset_bytes);
        if (unit.type == dwarf::unit_skeleton || unit.type == dwarf::unit_split_compile) {
            unit.split_id = in.u64();
        } else if (unit.type == dwarf::unit_type_type || unit.type == dwarf::unit_split_type) {
            unit.signature = in.u64();
            unit.type_entry = offset + in.unsigned_of(unit.format.offset_bytes);
        }
    } else {
        unit.abbreviations = in.unsigned_of(unit.format.offset_bytes);
        unit.format.address_bytes = in.u8();
    }
    const bool is_readable = in.ok() && unit.format.version >= 2 && unit.format.version <= 5 &&
                             (unit.format.address_bytes == 8 || unit.format.address_bytes == 4) &&
                             in.at() <= unit.end && unit.type_entry < unit.end;
    unit.first_entry = is_readable ? in.at() : unit.end;
    unit.string_offsets_base = unit.format.version >= 5 ? unit.format.offset_bytes * 2U : 0;
    unit.addresses_base = unit.format.version >= 5 ? 8 : 0;
    unit.range_lists_base = unit.format.offset_bytes == 8 ? 20 : 12;
    return true;
}

struct dwarf_attribute {
    std::uint16_t name = 0;
    std::uint16_t form = 0;
    std::int64_t implicit_value = 0;
};

// Loops over one abbreviation table. The visitor has
//     bool begin(std::uint64_t code, std::uint16_t tag, bool has_children);
//     bool attribute(const dwarf_attribute&);
//     bool finish();
// each of which returns false to stop the loop.
template <class Visitor>
inline void visit_dwarf_abbreviations(byte_view section, std::uint64_t offset, Visitor&& visit) {
    byte_cursor in{section, offset};
    while (in.ok()) {
        const std::uint64_t code = in.uleb();
        if (code == 0) return;
        const std::uint64_t tag = in.uleb();
        const bool has_children = in.u8() != 0;
        if (!in.ok() || !visit.begin(code, static_cast<std::uint16_t>(tag & 0xffff), has_children))
            return;
        for (;;) {
            const std::uint64_t name = in.uleb();
            const std::uint64_t form = in.uleb();
            dwarf_attribute attribute;
            attribute.name =
                name > 0xffff ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(name);
            attribute.form =
                form > 0xffff ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(form);
            if (form == dwarf::form_implicit_const) attribute.implicit_value = in.sleb();
            if (!in.ok()) return;
            if (name == 0 && form == 0) break;
            if (!visit.attribute(attribute)) return;
        }
        if (!visit.finish()) return;
    }
}

// Reads entry `index` of a table of fixed-size numbers. False when it lies outside.
ALLOCSCOPE_NOINLINE bool read_dwarf_table(byte_view section, std::uint64_t base,
                                          std::uint64_t index, unsigned width,
                                          std::uint64_t& number) noexcept {
    if (index > section.size) return false;  // keeps the product below from wrapping
    byte_cursor in{section, base};
    in.skip(index * width);
    number = in.unsigned_of(width);
    return in.ok();
}

// The text that a value stands for; "" if there is none, or if it is in another file.
ALLOCSCOPE_NOINLINE const char* dwarf_text(const dwarf_sections& sections, const dwarf_unit& unit,
                                           const dwarf_value& value) noexcept {
    if (value.form == dwarf::form_string) {
        return ::strnlen(value.text, longest_text) < longest_text ? value.text : "";
    }
    if (value.form == dwarf::form_strp) {
        want_text(sections.late_strings, sections.strings, value.number, longest_text);
        return text_at(sections.strings, value.number);
    }
    if (value.form == dwarf::form_line_strp) return text_at(sections.line_strings, value.number);
    if (value.form == dwarf::form_gnu_strp_alt || value.form == dwarf::form_strp_sup) {
        return text_at(sections.supplement_strings, value.number);
    }
    if (!dwarf_form_is_string_index(value.form)) return "";
    std::uint64_t offset = 0;
    if (!read_dwarf_table(sections.string_offsets, unit.string_offsets_base, value.number,
                          unit.format.offset_bytes, offset)) {
        return "";
    }
    want_text(sections.late_strings, sections.strings, offset, longest_text);
    return text_at(sections.strings, offset);
}

ALLOCSCOPE_NOINLINE bool dwarf_address(const dwarf_sections& sections, const dwarf_unit& unit,
                                       const dwarf_value& value, std::uint64_t& address) noexcept {
    if (value.form == dwarf::form_addr) {
        address = value.number;
        return true;
    }
    return dwarf_form_is_address(value.form) &&
           read_dwarf_table(sections.addresses, unit.addresses_base, value.number,
                            unit.format.address_bytes, address);
}

// The .debug_info offset of the entry to which a value refers, with dwarf_in_supplement if it is in
// a supplementary file; 0 (never an entry) if the value is not a reference.
ALLOCSCOPE_NOINLINE std::uint64_t dwarf_reference(const dwarf_unit& unit,
                                                  const dwarf_value& value) noexcept {
    switch (value.form) {
        case dwarf::form_ref_addr:
            return value.number | unit.file;
        case dwarf::form_gnu_ref_alt:
        case dwarf::form_ref_sup4:
        case dwarf::form_ref_sup8:
            return value.number | dwarf_in_supplement;
        case dwarf::form_ref1:
        case dwarf::form_ref2:
        case dwarf::form_ref4:
        case dwarf::form_ref8:
        case dwarf::form_ref_udata:
            if (value.number >= unit.end - unit.offset) return 0;
            return (unit.offset + value.number) | unit.file;
        default:
            return 0;
    }
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_BINARY_DWARF_UNITS_HPP
