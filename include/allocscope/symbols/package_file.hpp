// package_file.hpp - reads the file that combines the .dwo files of a program.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/split_unit.hpp through rare_forms.hpp; by tools/missing_names.cpp
// Threads:  one
// Memory:   of the given arena: the index, all texts once, and the parts of each unit that are
//           needed
//
// `dwp -e prog -o prog.dwp` concatenates the sections of all .dwo files, and an index says which
// piece of each section belongs to which unit (binary/package_index.hpp). As with a .dwo file, a
// unit is believed if it has the number that the program contains. Types in separate units
// (-fdebug-types-section, .debug_tu_index) are not read.

#ifndef ALLOCSCOPE_SYMBOLS_PACKAGE_FILE_HPP
#define ALLOCSCOPE_SYMBOLS_PACKAGE_FILE_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/binary/elf_image.hpp>
#include <allocscope/binary/package_index.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/debug_file.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/rare_forms.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class debug_package {
public:
    // The path must stay valid.
    debug_package(arena& memory, const char* path)
        : memory_(memory),
          object_(memory, path),
          index_(object_.read(memory, object_.find(".debug_cu_index"))) {
        if (!index_.empty()) texts_ = object_.read(memory, object_.find(".debug_str.dwo"));
    }

    bool is_readable() const noexcept { return !index_.empty(); }

    // Reads the sections of a unit, as its .dwo file has them. Returns false if the package does
    // not have the unit.
    bool find(std::uint64_t unit, detail::dwarf_sections& into) {
        constexpr std::uint32_t info = 1;
        constexpr std::uint32_t abbreviations = 3;
        constexpr std::uint32_t string_offsets = 6;
        constexpr std::uint32_t range_lists = 8;  // of version 5
        detail::package_index::piece pieces[detail::package_index::most_columns];
        const std::uint32_t count = index_.find(unit, pieces);
        for (std::uint32_t i = 0; i < count; ++i) {
            const detail::package_index::piece& piece = pieces[i];
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
    // A section is read piece by piece, but a compressed section is decompressed once as a whole.
    detail::byte_view read(int which, const char* name, const detail::package_index::piece& piece) {
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
    detail::package_index index_;
    detail::byte_view texts_;
    detail::byte_view unpacked_[4];
};

// Looks beside the program, and beside the file with its debug information. Returns null if neither
// has a package.
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
