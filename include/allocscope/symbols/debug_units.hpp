// debug_units.hpp - which unit of the debug information describes an address.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp, inline_lookup.hpp, entry_names.hpp
// Threads:  one
// Memory:   the debug sections of one file, 160 bytes a unit, and what was asked of a unit
//
// The first entries of all units are read once: they say which addresses a unit covers. What is
// inside a unit is read when an address first falls into it.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP

#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_ranges.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/config.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <memory>   // unique_ptr
#include <utility>  // move
#include <vector>   // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

// A namespace, class or function that encloses other entries.
struct entry_scope {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::size_t parent = 0;  // its number + 1; 0: the unit itself
};

struct debug_unit {
    detail::dwarf_unit header;
    const char* directory = "";
    bool has_lines = false;
    std::uint64_t lines = 0;  // offset of its line program
    // Filled by debug_units::load().
    bool is_loaded = false;
    abbreviation_table abbreviations;
    address_ranges functions;  // value: the offset of the entry
    std::vector<entry_scope> scopes;
};

class debug_units {
public:
    void build(const object_bytes& object) {
        static_assert(sizeof(bytes_) / sizeof(bytes_[0]) == 9, "one block for each section");
        const char* const names[] = {".debug_info",     ".debug_abbrev",   ".debug_str",
                                     ".debug_line",     ".debug_line_str", ".debug_ranges",
                                     ".debug_rnglists", ".debug_addr",     ".debug_str_offsets"};
        detail::byte_view* const views[] = {
            &sections_.info,        &sections_.abbreviations, &sections_.strings,
            &sections_.lines,       &sections_.line_strings,  &sections_.ranges,
            &sections_.range_lists, &sections_.addresses,     &sections_.string_offsets};
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < 9; ++i) {
            const detail::elf_section* section = object.find(names[i]);
            if (section == nullptr || section->size > most_bytes - total) continue;
            bytes_[i] = object.read(section);
            *views[i] = bytes_[i].view();
            total += bytes_[i].size;
        }
        lowest_code_ = object.lowest_code();
        step_budget budget{fresh_budget()};
        step_budget abbreviation_budget{65536 + std::uint64_t{4} * sections_.abbreviations.size};
        std::uint64_t offset = 0;
        while (offset < sections_.info.size) {
            debug_unit unit;
            if (!detail::read_dwarf_unit(sections_.info, offset, unit.header)) break;
            offset = unit.header.end;
            if (unit.header.first_entry < unit.header.end) {
                read_first_entry(unit, budget, abbreviation_budget);
                units_.push_back(std::move(unit));
            }
        }
        by_address_.finish();
    }

    const detail::dwarf_sections& sections() const { return sections_; }
    bool empty() const { return units_.empty(); }

    // The unit that covers an address as linked; null: none.
    debug_unit* unit_at(std::uint64_t address) {
        const address_range* range = by_address_.find(address);
        return range == nullptr ? nullptr : load(static_cast<std::size_t>(range->value));
    }

    // The unit whose bytes hold this offset of .debug_info; null: none.
    debug_unit* unit_of_entry(std::uint64_t offset) {
        std::size_t first = 0;
        std::size_t last = units_.size();
        while (first < last) {
            const std::size_t middle = first + (last - first) / 2;
            if (units_[middle].header.end <= offset) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        if (first == units_.size() || offset < units_[first].header.first_entry) return nullptr;
        return load(first);
    }

    std::size_t bytes() const {
        std::size_t total = 0;
        for (const owned_bytes& block : bytes_) total += block.size;
        return total + units_.size() * sizeof(debug_unit);
    }

    // True for what the linker threw away: it stays described, at addresses below all code.
    bool is_discarded(std::uint64_t low) const { return low < lowest_code_; }

    // Steps for one pass over things that an honest file does not describe twice.
    std::uint64_t fresh_budget() const {
        return 65536 + std::uint64_t{sections_.info.size} / 4 + sections_.ranges.size / 8 +
               sections_.range_lists.size / 2;
    }

private:
    // Of all sections together. Larger files are named by their symbols.
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

    void read_first_entry(debug_unit& unit, step_budget& budget, step_budget& abbreviation_budget) {
        const detail::dwarf_unit& header = unit.header;
        detail::byte_cursor in{sections_.info.part(0, header.end), header.first_entry};
        const std::uint64_t code = in.uleb();
        if (code == 0) return;
        const abbreviation_table table{sections_.abbreviations, header, code, &abbreviation_budget};
        entry_walker walker{sections_, header, table, header.first_entry};
        if (!walker.next() || walker.shape() == nullptr) return;
        detail::dwarf_extent extent;
        detail::dwarf_value directory;
        detail::dwarf_unit bases = header;
        walker.values([&](std::uint16_t name, const detail::dwarf_value& value) {
            extent.take(name, value);
            switch (name) {
                case detail::dwarf::at_comp_dir:
                    directory = value;
                    break;
                case detail::dwarf::at_stmt_list:
                    unit.has_lines = true;
                    unit.lines = value.number;
                    break;
                case detail::dwarf::at_str_offsets_base:
                    bases.string_offsets_base = value.number;
                    break;
                case detail::dwarf::at_addr_base:
                case detail::dwarf::at_gnu_addr_base:
                    bases.addresses_base = value.number;
                    break;
                case detail::dwarf::at_rnglists_base:
                    bases.range_lists_base = value.number;
                    break;
                default:
                    break;
            }
        });
        unit.header = bases;
        unit.directory = detail::dwarf_text(sections_, unit.header, directory);
        std::uint64_t low = 0;
        if (detail::dwarf_address(sections_, unit.header, extent.low, low)) {
            unit.header.low_address = low;
        }
        const std::uint64_t number = units_.size();
        detail::visit_dwarf_extent(sections_, unit.header, extent,
                                   [&](std::uint64_t from, std::uint64_t to) {
                                       if (!is_discarded(from)) by_address_.add(from, to, number);
                                       return budget.take();
                                   });
    }

    debug_unit* load(std::size_t number) {
        debug_unit& unit = units_[number];
        if (unit.is_loaded) return &unit;
        unit.is_loaded = true;
        unit.abbreviations = abbreviation_table{sections_.abbreviations, unit.header};
        read_entries(unit);
        unit.functions.finish();
        return &unit;
    }

    static bool opens_scope(std::uint16_t tag) {
        return tag == detail::dwarf::tag_namespace || tag == detail::dwarf::tag_class_type ||
               tag == detail::dwarf::tag_structure_type || tag == detail::dwarf::tag_union_type ||
               tag == detail::dwarf::tag_subprogram;
    }

    void read_entries(debug_unit& unit) {
        struct open_scope {
            std::int64_t depth;
            std::size_t number;
        };
        std::vector<open_scope> open;
        step_budget budget{fresh_budget()};
        entry_walker walker{sections_, unit.header, unit.abbreviations, unit.header.first_entry};
        while (walker.next()) {
            const abbreviation* shape = walker.shape();
            if (shape == nullptr) {
                if (!open.empty() && open.back().depth + 1 == walker.depth()) {
                    unit.scopes[open.back().number].end = walker.offset();
                    open.pop_back();
                }
                continue;
            }
            if (shape->tag == detail::dwarf::tag_subprogram && shape->has_code) {
                read_function(unit, walker, budget);
            }
            if (shape->has_children && opens_scope(shape->tag)) {
                const std::size_t parent = open.empty() ? 0 : open.back().number + 1;
                open.push_back(open_scope{walker.depth(), unit.scopes.size()});
                unit.scopes.push_back(entry_scope{walker.offset(), unit.header.end, parent});
            }
        }
    }

    void read_function(debug_unit& unit, entry_walker& walker, step_budget& budget) {
        detail::dwarf_extent extent;
        walker.values([&](std::uint16_t name, const detail::dwarf_value& value) {
            extent.take(name, value);
        });
        detail::visit_dwarf_extent(sections_, unit.header, extent,
                                   [&](std::uint64_t from, std::uint64_t to) {
                                       if (!is_discarded(from)) {
                                           unit.functions.add(from, to, walker.offset());
                                       }
                                       return budget.take();
                                   });
    }

    owned_bytes bytes_[9];
    detail::dwarf_sections sections_;
    std::uint64_t lowest_code_ = 0;
    std::vector<debug_unit> units_;
    address_ranges by_address_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP
