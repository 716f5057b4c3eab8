// line_lookup.hpp - finds file, line and column of an address in one line number program.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp and nearby_lines.hpp
// Threads:  one
// Memory:   16 bytes for each row, 32 bytes for each file, in the arena of the debug data; paths
//           that were asked for are kept

#ifndef ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_lines.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/binary/late_bytes.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/kept_texts.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, UINT32_MAX
#include <cstring>  // strnlen

ALLOCSCOPE_WARM_BEGIN

namespace symbolize {

class line_table {
public:
    struct row {
        std::uint32_t distance;  // from the address of its sequence to its own
        std::uint32_t file;
        std::uint32_t line;
        std::uint32_t column;
    };

    ALLOCSCOPE_INLINE line_table() noexcept = default;  // always empty
    line_table(const debug_units& units, const debug_unit& unit);

    // The last row at or before the address, within its sequence; null: none.
    ALLOCSCOPE_INLINE const row* find(std::uint64_t address) const noexcept {
        return sequence_of(address).last_before(address);
    }

    // The rows of the sequence that holds the address, in order; empty if no sequence holds it.
    struct row_range {
        const row* begin = nullptr;
        const row* end = nullptr;
        std::uint64_t address = 0;    // of the first row
        std::size_t* last = nullptr;  // an answer of partition_point_near()

        ALLOCSCOPE_PURE std::uint64_t address_of(const row& of) const noexcept {
            return address + of.distance;
        }
        // The last of the rows at or before the address; null: none.
        const row* last_before(std::uint64_t wanted) const noexcept;
    };
    row_range sequence_of(std::uint64_t address) const noexcept;

    // The whole path of a file by its number in this program; "" when there is no such number.
    text path_of(std::uint64_t file, kept_texts& texts) const {
        if (file >= files_.size()) return no_text();
        file_entry& entry = files_[file];
        return entry.path.empty() ? make_path(entry, texts) : entry.path;
    }

private:
    struct span {
        std::size_t first, last;
        std::uint64_t address;  // of the first row
    };
    struct file_entry {
        const char* name;
        std::uint64_t directory;
        text path;  // "": nobody has asked for it yet
    };
    struct file_collector {
        line_table& table;
        void directory(const char* name) { table.directories_.push_back(name); }
        void file(const char* name, std::uint64_t directory) {
            table.files_.push_back(file_entry{name, directory, {}});
        }
    };

    // A later row of the same line at the same address changes only the column.
    ALLOCSCOPE_INLINE void add(const row& next, std::size_t first) {
        if (rows_.size() > first) {
            row& last = rows_.back();
            if (last.distance == next.distance && last.file == next.file &&
                last.line == next.line) {
                last.column = next.column;
                return;
            }
        }
        rows_.push_back(next);
    }

    // Sets the path, and returns it.
    text make_path(file_entry& entry, kept_texts& texts) const;

    static text short_text(const char* section_text) noexcept {
        const std::size_t length = ::strnlen(section_text, detail::longest_text);
        return length == detail::longest_text ? text{} : text{section_text, length};
    }

    static void write_folder(text_out& out, const text& folder) {
        out << folder;
        if (!folder.empty() && folder.back() != '/') out << '/';
    }

    const char* directory_ = "";
    list<const char*> directories_;
    list<file_entry> files_;
    list<row> rows_;
    list<span> spans_;
    address_ranges sequences_;
    mutable std::size_t found_last_ = 0;  // within a sequence
};

ALLOCSCOPE_NOINLINE line_table::line_table(const debug_units& units, const debug_unit& unit)
    : directory_(unit.directory),
      directories_(units.memory()),
      files_(units.memory()),
      rows_(units.memory()),
      spans_(units.memory()),
      sequences_(units.memory()) {
    detail::dwarf_line_header header;
    const detail::dwarf_sections& sections = units.sections();
    detail::want(sections.late_lines, unit.lines, 12);
    detail::byte_cursor in{sections.lines, unit.lines};
    std::uint64_t length = in.u32();
    if (length == 0xffffffffU) length = in.u64();
    detail::want(sections.late_lines, unit.lines, length);
    detail::want(sections.late_lines, unit.lines + length, 12);
    if (!detail::read_dwarf_line_header(sections.lines, unit.lines, header)) return;
    detail::visit_dwarf_line_tables(sections, unit.header, header, file_collector{*this});
    rows_.reserve((header.end - header.operations) / 8);  // a row takes about ten bytes
    std::size_t first = 0;
    std::uint64_t begin = 0;  // the address of that row
    detail::visit_dwarf_lines(sections.lines, header, [&](const detail::dwarf_line_row& next) {
        if (!next.ends_sequence) {
            if (first == rows_.size()) begin = next.address;
            // No code is that long, and addresses never decrease.
            if (next.address - begin > UINT32_MAX) return;
            add(row{static_cast<std::uint32_t>(next.address - begin), next.file, next.line,
                    next.column},
                first);
            return;
        }
        if (first < rows_.size() && !units.is_discarded(begin)) {
            sequences_.add(begin, next.address, spans_.size());
            spans_.push_back(span{first, rows_.size(), begin});
            first = rows_.size();
        } else {
            rows_.cut(first);
        }
    });
    sequences_.finish();
}

ALLOCSCOPE_NOINLINE line_table::row_range line_table::sequence_of(
    std::uint64_t address) const noexcept {
    const address_range* sequence = sequences_.find(address);
    if (sequence == nullptr) return {};
    const span& rows = spans_[sequence->value];
    return {rows_.data() + rows.first, rows_.data() + rows.last, rows.address, &found_last_};
}

ALLOCSCOPE_NOINLINE const line_table::row* line_table::row_range::last_before(
    std::uint64_t wanted) const noexcept {
    if (begin == end || wanted < address) return nullptr;
    const std::uint64_t distance = wanted - address;
    const std::size_t behind =
        partition_point_near(*last, begin, static_cast<std::size_t>(end - begin),
                             [&](const row& each) { return each.distance <= distance; });
    return behind == 0 ? nullptr : begin + behind - 1;
}

// A relative name is relative to its directory; a relative directory to that of the compilation.
ALLOCSCOPE_SLOW_PATH text line_table::make_path(file_entry& entry, kept_texts& texts) const {
    if (entry.name == nullptr) return no_text();
    const text name = short_text(entry.name);
    if (name.empty()) return no_text();
    text inner;
    if (entry.directory < directories_.size() && directories_[entry.directory] != nullptr) {
        inner = short_text(directories_[entry.directory]);
    }
    const borrowed_memory meanwhile{texts.scratch()};
    text_out path{texts.scratch()};
    if (name.front() != '/') {
        if (!inner.starts_with("/")) write_folder(path, short_text(directory_));
        write_folder(path, inner);
    }
    path << name;
    return entry.path = texts.keep(path.view());
}

}  // namespace symbolize

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP
