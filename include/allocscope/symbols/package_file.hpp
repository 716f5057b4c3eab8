// package_file.hpp - the file into which the .dwo files of a program were put together.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/split_unit.hpp through rare_forms.hpp; by tools/missing_names.cpp
// Threads:  one
// Memory:   of the given arena: the index, all texts once, and what is asked for of each unit
//
// `dwp -e prog -o prog.dwp` strings the sections of all .dwo files together. An index tells which
// piece of each section belongs to the unit of which number:
//
//     .debug_cu_index:  | version, columns, units, slots |
//                       | slots x number of a unit | slots x row |     a hash table; row 0: free
//                       | columns x which section |
//                       | units x columns x offset | units x columns x size |
//
// Version 2 is GNU's for DWARF 4, version 5 that of DWARF 5. A unit is believed when it has the
// number that the program notes, as one of a .dwo file is. Types in units of their own
// (-fdebug-types-section, .debug_tu_index) are not read, nor are they anywhere else.

#ifndef ALLOCSCOPE_SYMBOLS_PACKAGE_FILE_HPP
#define ALLOCSCOPE_SYMBOLS_PACKAGE_FILE_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/binary/elf_image.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/debug_file.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/rare_forms.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Where the pieces of a unit are, by what the index says.
class package_index {
public:
    struct piece {
        std::uint32_t section = 0;  // DW_SECT_..., which differ between the versions
        std::uint32_t offset = 0;
        std::uint32_t size = 0;
    };
    static constexpr std::uint32_t most_columns = 16;

    package_index() noexcept = default;  // of no unit
    explicit package_index(detail::byte_view bytes) noexcept : bytes_(bytes) {
        detail::byte_cursor in{bytes};
        version_ = in.u32() & 0xffffU;  // version 5 has two bytes, and two of no meaning
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

    // The number of pieces of the unit; 0: it is not in here.
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
        return detail::byte_cursor{bytes_, offset}.u32();
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
            if (detail::byte_cursor{bytes_, head_bytes + at * 8}.u64() == unit) return row;
        }
        return 0;
    }

    detail::byte_view bytes_;
    std::uint32_t version_ = 0;
    std::uint32_t columns_ = 0;
    std::uint32_t units_ = 0;
    std::uint32_t slots_ = 0;
};

class debug_package {
public:
    // The path must stay.
    debug_package(arena& memory, const char* path)
        : memory_(memory),
          object_(memory, path),
          index_(object_.read(memory, object_.find(".debug_cu_index"))) {
        if (!index_.empty()) texts_ = object_.read(memory, object_.find(".debug_str.dwo"));
    }

    bool is_readable() const noexcept { return !index_.empty(); }

    // The sections of a unit as its .dwo file had them. False: it is not in here.
    bool find(std::uint64_t unit, detail::dwarf_sections& into) {
        constexpr std::uint32_t info = 1;
        constexpr std::uint32_t abbreviations = 3;
        constexpr std::uint32_t string_offsets = 6;
        constexpr std::uint32_t range_lists = 8;  // of version 5
        package_index::piece pieces[package_index::most_columns];
        const std::uint32_t count = index_.find(unit, pieces);
        for (std::uint32_t i = 0; i < count; ++i) {
            const package_index::piece& piece = pieces[i];
            if (piece.section == info) {
                into.info = read(0, ".debug_info.dwo", piece);
            } else if (piece.section == abbreviations) {
                into.abbreviations = read(1, ".debug_abbrev.dwo", piece);
            } else if (piece.section == string_offsets) {
                into.string_offsets = read(2, ".debug_str_offsets.dwo", piece);
            } else if (piece.section == range_lists && index_.version() == 5) {
                into.range_lists = read(3, ".debug_rnglists.dwo", piece);
            }
        }
        into.strings = texts_;
        return count != 0;
    }

private:
    // A section is read piece by piece; but one that is compressed is unpacked once, as a whole.
    detail::byte_view read(int which, const char* name, const package_index::piece& piece) {
        const detail::elf_section* section = object_.find(name);
        if (section == nullptr) return {};
        if ((section->flags & detail::elf_section_compressed) != 0) {
            if (unpacked_[which].empty()) unpacked_[which] = object_.read(memory_, section);
            return unpacked_[which].part(piece.offset, piece.size);
        }
        detail::elf_section part = *section;
        if (piece.offset > part.size || piece.size > part.size - piece.offset) return {};
        part.offset += piece.offset;
        part.size = piece.size;
        return object_.read(memory_, &part);
    }

    arena& memory_;
    object_bytes object_;
    package_index index_;
    detail::byte_view texts_;
    detail::byte_view unpacked_[4];
};

// Beside the program, or beside the file that has its debug information. Null: there is none.
inline debug_package* find_package(arena& memory, const object_bytes& program,
                                   const object_bytes& debug) {
    const object_bytes* const files[] = {&program, &debug};
    for (const object_bytes* file : files) {
        const real_path beside{file->path()};
        if (beside.path().empty()) continue;
        auto* found =
            memory.make<debug_package>(memory, joined(memory, beside.path(), ".dwp").data());
        if (found->is_readable()) return found;
    }
    return nullptr;
}

inline bool read_packaged_unit(arena& memory, package_place& place, std::uint64_t unit,
                               detail::dwarf_sections& into) {
    if (!place.is_sought) place.package = find_package(memory, *place.program, *place.debug);
    place.is_sought = true;
    return place.package != nullptr && place.package->find(unit, into);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_PACKAGE_FILE_HPP
