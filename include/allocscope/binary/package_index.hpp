// package_index.hpp - the pieces of a package file's sections that belong to a unit.
//
// Room:     binary (floor 2), malloc-safe
// Called:   by symbols/package_file.hpp
// Threads:  any
// Memory:   none; the bytes are the caller's
//
// .debug_cu_index of a .dwp file is a hash table of 32-bit words:
//
//     | version, columns, units, slots |
//     | slots x number of a unit | slots x row |     row 0: the slot is free
//     | columns x which section |
//     | units x columns x offset | units x columns x size |
//
// Version 2 is GNU's for DWARF 4, version 5 that of DWARF 5 (section 7.3.5).

#ifndef ALLOCSCOPE_BINARY_PACKAGE_INDEX_HPP
#define ALLOCSCOPE_BINARY_PACKAGE_INDEX_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Where the pieces of a unit are, according to the index.
class package_index {
public:
    struct piece {
        std::uint32_t section = 0;  // DW_SECT_..., which differ between the versions
        std::uint32_t offset = 0;
        std::uint32_t size = 0;
    };
    static constexpr std::uint32_t most_columns = 16;

    package_index() noexcept = default;  // of no unit
    explicit package_index(byte_view bytes) noexcept : bytes_(bytes) {
        byte_cursor in{bytes};
        version_ = in.u32() & 0xffffU;  // version 5 has two bytes, and two unused ones
        columns_ = in.u32();
        units_ = in.u32();
        slots_ = in.u32();
        const bool is_known = in.ok() && (version_ == 2 || version_ == 5);
        const bool is_table = slots_ != 0 && (slots_ & (slots_ - 1)) == 0;
        const std::uint64_t size = pieces_at(0) + std::uint64_t{units_} * columns_ * 8;
        if (!is_known || !is_table || columns_ > most_columns || size > bytes.size) slots_ = 0;
    }

    bool empty() const noexcept { return slots_ == 0; }
    std::uint32_t version() const noexcept { return version_; }

    // The number of pieces of the unit; 0: the unit is not in here.
    std::uint32_t find(std::uint64_t unit, piece (&pieces)[most_columns]) const noexcept {
        const std::uint32_t row = row_of(unit);
        if (row == 0 || row > units_) return 0;
        for (std::uint32_t i = 0; i < columns_; ++i) {
            pieces[i].section = number_at(pieces_at(0) - 4 * columns_ + 4 * i);
            pieces[i].offset = number_at(pieces_at(row - 1) + 4 * i);
            pieces[i].size = number_at(pieces_at(units_ + (row - 1)) + 4 * i);
        }
        return columns_;
    }

private:
    static constexpr std::uint64_t head_bytes = 16;

    std::uint32_t number_at(std::uint64_t offset) const noexcept {
        return byte_cursor{bytes_, offset}.u32();
    }

    // Where line `line` of the two tables of offsets and sizes begins.
    std::uint64_t pieces_at(std::uint64_t line) const noexcept {
        return head_bytes + std::uint64_t{slots_} * 12 + (line + 1) * columns_ * 4;
    }

    std::uint32_t row_of(std::uint64_t unit) const noexcept {
        if (slots_ == 0) return 0;
        const std::uint64_t mask = slots_ - 1;
        const std::uint64_t step = (unit >> 32U & mask) | 1U;
        std::uint64_t at = unit & mask;
        for (std::uint32_t tried = 0; tried < slots_; ++tried, at = (at + step) & mask) {
            const std::uint32_t row = number_at(head_bytes + std::uint64_t{slots_} * 8 + at * 4);
            if (row == 0) return 0;
            if (byte_cursor{bytes_, head_bytes + at * 8}.u64() == unit) return row;
        }
        return 0;
    }

    byte_view bytes_;
    std::uint32_t version_ = 0;
    std::uint32_t columns_ = 0;
    std::uint32_t units_ = 0;
    std::uint32_t slots_ = 0;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_BINARY_PACKAGE_INDEX_HPP
