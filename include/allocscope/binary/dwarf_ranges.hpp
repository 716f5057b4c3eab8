// dwarf_ranges.hpp - the address ranges of an entry: low/high, .debug_ranges or .debug_rnglists.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by symbols/ for units, functions and inlined calls
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_BINARY_DWARF_RANGES_HPP
#define ALLOCSCOPE_BINARY_DWARF_RANGES_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_forms.hpp>
#include <allocscope/binary/dwarf_units.hpp>

#include <cstdint>  // uint8_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The three attributes that say where an entry's code is.
struct dwarf_extent {
    dwarf_value low, high, ranges;

    ALLOCSCOPE_INLINE void take(std::uint16_t name, const dwarf_value& value) noexcept {
        if (name == dwarf::at_low_pc) low = value;
        if (name == dwarf::at_high_pc) high = value;
        if (name == dwarf::at_ranges) ranges = value;
    }
};

// DWARF 2 to 4: pairs of addresses relative to a base. `visit(low, high)` returns false to stop.
template <class Visitor>
inline void visit_old_ranges(byte_view section, std::uint64_t offset, const dwarf_unit& unit,
                             Visitor&& visit) {
    const unsigned width = unit.format.address_bytes;
    const std::uint64_t change_base = width == 8 ? ~std::uint64_t{0} : 0xffffffffU;
    std::uint64_t base = unit.low_address;
    byte_cursor in{section, offset};
    for (;;) {
        const std::uint64_t low = in.unsigned_of(width);
        const std::uint64_t high = in.unsigned_of(width);
        if (!in.ok() || (low == 0 && high == 0)) return;
        if (low == change_base) {
            base = high;
        } else if (low < high) {
            if (!visit(base + low, base + high)) return;
        } else if (!visit(0, 0)) {
            return;  // an empty range also counts as a step
        }
    }
}

// DWARF 5: a small program of entries.
template <class Visitor>
inline void visit_range_list(const dwarf_sections& sections, std::uint64_t offset,
                             const dwarf_unit& unit, Visitor&& visit) {
    const unsigned width = unit.format.address_bytes;
    std::uint64_t base = unit.low_address;
    byte_cursor in{sections.range_lists, offset};
    const auto indexed = [&](std::uint64_t index) {
        std::uint64_t address = 0;
        read_dwarf_table(sections.addresses, unit.addresses_base, index, width, address);
        return address;
    };
    for (;;) {
        const std::uint8_t kind = in.u8();
        std::uint64_t low = 0;
        std::uint64_t high = 0;
        switch (kind) {
            case dwarf::range_base_addressx:
                base = indexed(in.uleb());
                break;
            case dwarf::range_base_address:
                base = in.unsigned_of(width);
                break;
            case dwarf::range_startx_endx:
                low = indexed(in.uleb());
                high = indexed(in.uleb());
                break;
            case dwarf::range_startx_length:
                low = indexed(in.uleb());
                high = low + in.uleb();
                break;
            case dwarf::range_offset_pair:
                low = base + in.uleb();
                high = base + in.uleb();
                break;
            case dwarf::range_start_end:
                low = in.unsigned_of(width);
                high = in.unsigned_of(width);
                break;
            case dwarf::range_start_length:
                low = in.unsigned_of(width);
                high = low + in.uleb();
                break;
            default:
                return;  // the end, or an entry of unknown length
        }
        if (!in.ok()) return;
        if (low >= high) low = high = 0;
        if (!visit(low, high)) return;
    }
}

// Calls `visit(low, high)` for every piece of the extent, high exclusive, until it returns false.
// An entry that covers nothing is reported as (0, 0), so that the visitor can count its steps.
template <class Visitor>
inline void visit_dwarf_extent(const dwarf_sections& sections, const dwarf_unit& unit,
                               const dwarf_extent& extent, Visitor&& visit) {
    if (extent.ranges.exists()) {
        std::uint64_t offset = extent.ranges.number;
        if (unit.format.version < 5) {
            visit_old_ranges(sections.ranges, offset + unit.ranges_base, unit, visit);
            return;
        }
        if (extent.ranges.form == dwarf::form_rnglistx) {
            if (!read_dwarf_table(sections.range_lists, unit.range_lists_base, offset,
                                  unit.format.offset_bytes, offset)) {
                return;
            }
            offset += unit.range_lists_base;
        }
        visit_range_list(sections, offset, unit, visit);
        return;
    }
    std::uint64_t low = 0;
    if (!dwarf_address(sections, unit, extent.low, low) || !extent.high.exists()) return;
    std::uint64_t high = 0;
    if (!dwarf_form_is_address(extent.high.form)) {
        high = low + extent.high.number;
    } else if (!dwarf_address(sections, unit, extent.high, high)) {
        return;
    }
    if (low < high) visit(low, high);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_BINARY_DWARF_RANGES_HPP
