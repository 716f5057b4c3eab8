// dwarf_forms.hpp - how one attribute value is stored, read and skipped.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by dwarf_units.hpp, dwarf_lines.hpp, dwarf_ranges.hpp, and the readers of entries in
//           symbols/
// Threads:  any
// Memory:   none
//
// A value is read raw, because most values are never used: an index or an offset stays as it is
// until the text, address or entry that it stands for is needed.

#ifndef ALLOCSCOPE_BINARY_DWARF_FORMS_HPP
#define ALLOCSCOPE_BINARY_DWARF_FORMS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_constants.hpp>

#include <cstdint>  // uint8_t ... uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The sizes that a unit's header decides.
struct dwarf_format {
    std::uint16_t version = 0;
    std::uint8_t address_bytes = 8;
    std::uint8_t offset_bytes = 4;
};

struct dwarf_value {
    std::uint16_t form = 0;      // 0: there is no such attribute
    std::uint64_t number = 0;    // value, offset or index, as stored
    const char* text = nullptr;  // of dwarf::form_string only
    bool exists() const noexcept { return form != 0; }
};

constexpr int dwarf_form_varies = -1;

// The bytes that a value of this form always takes, or dwarf_form_varies.
ALLOCSCOPE_NOINLINE int dwarf_fixed_bytes(std::uint16_t form, const dwarf_format& format) noexcept {
    switch (form) {
        case dwarf::form_flag_present:
        case dwarf::form_implicit_const:
            return 0;
        case dwarf::form_data1:
        case dwarf::form_ref1:
        case dwarf::form_flag:
        case dwarf::form_strx1:
        case dwarf::form_addrx1:
            return 1;
        case dwarf::form_data2:
        case dwarf::form_ref2:
        case dwarf::form_strx2:
        case dwarf::form_addrx2:
            return 2;
        case dwarf::form_strx3:
        case dwarf::form_addrx3:
            return 3;
        case dwarf::form_data4:
        case dwarf::form_ref4:
        case dwarf::form_strx4:
        case dwarf::form_addrx4:
        case dwarf::form_ref_sup4:
            return 4;
        case dwarf::form_data8:
        case dwarf::form_ref8:
        case dwarf::form_ref_sig8:
        case dwarf::form_ref_sup8:
            return 8;
        case dwarf::form_data16:
            return 16;
        case dwarf::form_addr:
            return format.address_bytes;
        case dwarf::form_ref_addr:
            return format.version <= 2 ? format.address_bytes : format.offset_bytes;
        case dwarf::form_strp:
        case dwarf::form_sec_offset:
        case dwarf::form_line_strp:
        case dwarf::form_strp_sup:
        case dwarf::form_gnu_ref_alt:
        case dwarf::form_gnu_strp_alt:
            return format.offset_bytes;
        default:
            return dwarf_form_varies;
    }
}

// Reads one value. An unknown form fails the cursor, because the position of the next value is then
// unknown.
ALLOCSCOPE_NOINLINE dwarf_value read_dwarf_value(byte_cursor& in, std::uint16_t form,
                                                 const dwarf_format& format,
                                                 std::int64_t implicit_value) noexcept {
    if (form == dwarf::form_indirect) {
        form = static_cast<std::uint16_t>(in.uleb() & 0xffff);
        if (form == dwarf::form_indirect || form == dwarf::form_implicit_const) in.fail();
    }
    dwarf_value value;
    value.form = form;
    const int fixed = dwarf_fixed_bytes(form, format);
    if (fixed == 16) {
        in.skip(16);
        return value;
    }
    if (fixed > 0) {
        value.number = in.unsigned_of(static_cast<unsigned>(fixed));
        return value;
    }
    switch (form) {
        case dwarf::form_flag_present:
            value.number = 1;
            break;
        case dwarf::form_implicit_const:
            value.number = static_cast<std::uint64_t>(implicit_value);
            break;
        case dwarf::form_string:
            value.text = in.text();
            break;
        case dwarf::form_sdata:
            value.number = static_cast<std::uint64_t>(in.sleb());
            break;
        case dwarf::form_udata:
        case dwarf::form_ref_udata:
        case dwarf::form_strx:
        case dwarf::form_addrx:
        case dwarf::form_loclistx:
        case dwarf::form_rnglistx:
        case dwarf::form_gnu_addr_index:
        case dwarf::form_gnu_str_index:
            value.number = in.uleb();
            break;
        case dwarf::form_block1:
            in.skip(in.u8());
            break;
        case dwarf::form_block2:
            in.skip(in.u16());
            break;
        case dwarf::form_block4:
            in.skip(in.u32());
            break;
        case dwarf::form_block:
        case dwarf::form_exprloc:
            in.skip(in.uleb());
            break;
        default:
            in.fail();
            break;
    }
    return value;
}

inline bool dwarf_form_is_address(std::uint16_t form) noexcept {
    return form == dwarf::form_addr || form == dwarf::form_addrx ||
           form == dwarf::form_gnu_addr_index ||
           (form >= dwarf::form_addrx1 && form <= dwarf::form_addrx4);
}

ALLOCSCOPE_INLINE bool dwarf_form_is_string_index(std::uint16_t form) noexcept {
    return form == dwarf::form_strx || form == dwarf::form_gnu_str_index ||
           (form >= dwarf::form_strx1 && form <= dwarf::form_strx4);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_BINARY_DWARF_FORMS_HPP
