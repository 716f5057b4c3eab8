// line_lookup.hpp - file, line and column of an address, from one line number program.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp
// Threads:  one
// Memory:   24 bytes a row, 16 bytes a file; texts stay in the debug sections

#ifndef ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP

#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_lines.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/config.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/debug_units.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <cstring>  // strnlen
#include <string>   // string
#include <vector>   // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

class line_table {
public:
    struct row {
        std::uint64_t address;
        std::uint32_t file;
        std::uint32_t line;
        std::uint32_t column;
    };

    line_table() = default;

    line_table(const debug_units& units, const debug_unit& unit) : directory_(unit.directory) {
        detail::dwarf_line_header header;
        const detail::dwarf_sections& sections = units.sections();
        if (!detail::read_dwarf_line_header(sections.lines, unit.lines, header)) return;
        detail::visit_dwarf_line_tables(sections, unit.header, header, file_collector{*this});
        std::size_t first = 0;
        detail::visit_dwarf_lines(sections.lines, header, [&](const detail::dwarf_line_row& next) {
            if (!next.ends_sequence) {
                rows_.push_back(row{next.address, next.file, next.line, next.column});
                return;
            }
            if (first < rows_.size() && !units.is_discarded(rows_[first].address)) {
                sequences_.add(rows_[first].address, next.address, spans_.size());
                spans_.push_back(span{first, rows_.size()});
                first = rows_.size();
            } else {
                rows_.resize(first);
            }
        });
        rows_.resize(first);
        sequences_.finish();
    }

    // The last row at or before the address, within its sequence; null: none.
    const row* find(std::uint64_t address) const {
        const address_range* sequence = sequences_.find(address);
        if (sequence == nullptr) return nullptr;
        const span& rows = spans_[static_cast<std::size_t>(sequence->value)];
        std::size_t first = rows.first;
        std::size_t last = rows.last;
        while (first < last) {
            const std::size_t middle = first + (last - first) / 2;
            if (rows_[middle].address <= address) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        return first == rows.first ? nullptr : &rows_[first - 1];
    }

    // The whole path of a file by its number in this program; "" when there is no such number.
    std::string path_of(std::uint64_t file) const {
        if (file >= files_.size() || files_[file].name == nullptr) {
            return std::string{};
        }
        const file_entry& entry = files_[file];
        if (::strnlen(entry.name, detail::longest_text) == detail::longest_text)
            return std::string{};
        std::string path = entry.name;
        if (path[0] == '/') return path;
        if (entry.directory < directories_.size()) {
            const char* directory = directories_[static_cast<std::size_t>(entry.directory)];
            if (directory != nullptr) path = joined(directory, path);
        }
        return path[0] == '/' ? path : joined(directory_, path);
    }

private:
    struct span {
        std::size_t first, last;
    };
    struct file_entry {
        const char* name;
        std::uint64_t directory;
    };
    struct file_collector {
        line_table& table;
        void directory(const char* name) { table.directories_.push_back(name); }
        void file(const char* name, std::uint64_t directory) {
            table.files_.push_back(file_entry{name, directory});
        }
    };

    static std::string joined(const char* directory, const std::string& name) {
        const std::size_t length = ::strnlen(directory, detail::longest_text);
        if (length == 0 || length == detail::longest_text) return name;
        std::string path(directory, length);
        if (path.back() != '/') path += '/';
        return path + name;
    }

    const char* directory_ = "";
    std::vector<const char*> directories_;
    std::vector<file_entry> files_;
    std::vector<row> rows_;
    std::vector<span> spans_;
    address_ranges sequences_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_LINE_LOOKUP_HPP
