// debug_units.hpp - finds the unit of the debug information that describes an address.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by the readers of debug information in symbols/, and by tools/missing_names.cpp
// Threads:  one
// Memory:   the parts of the debug sections that were read, 270 bytes for each unit, and the scopes
//           and functions of each unit that was asked about
//
// The first entries of all units are read once, because they say which addresses a unit covers. The
// contents of a unit are read when an address first belongs to it.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_ranges.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/rare_forms.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint16_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// A namespace, class or function that encloses other entries.
struct entry_scope {
    std::uint64_t begin = 0;  // first, for count_below()
    std::uint64_t end = 0;
    std::size_t parent = 0;  // the number of the scope around it + 1; 0: the unit itself
    bool has_types = false;  // anywhere inside
};

struct debug_unit {
    detail::dwarf_unit header;    // first, for count_below(): it begins with its offset
    debug_units* home = nullptr;  // the owner of the sections that contain it
    const char* directory = "";
    const char* split_name = "";  // of the file that describes its functions; "": this file
    bool is_partial = false;      // it holds what several units share
    bool has_lines = false;
    std::uint64_t lines = 0;  // offset of its line program
    // Filled by debug_units::load().
    const abbreviation_table* abbreviations = nullptr;  // null: it is not loaded
    address_ranges functions;                           // value: the offset of the entry
    list<entry_scope> scopes;

    // A walker over the entries from `entry` on. The unit must have been loaded.
    entry_walker walk(std::uint64_t entry) const noexcept;
};

class debug_units {
public:
    // Everything that is read from the object lives in `memory`. For a supplementary file, `file`
    // is dwarf_in_supplement.
    debug_units(arena& memory, const object_bytes& object, std::uint64_t file = 0);

    // The unit that was split off from `skeleton`, and the units of its types, read from their own
    // sections. only_unit() is null if the sections belong to another unit.
    debug_units(arena& memory, const detail::dwarf_sections& split, const debug_units& whole,
                const debug_unit& skeleton);

    // The sections whose names end with `suffix`. If `is_late`, large sections are read piece by
    // piece when they are needed.
    static detail::dwarf_sections read_sections(arena& memory, const object_bytes& object,
                                                const text& suffix, bool is_late = false);

    const detail::dwarf_sections& sections() const noexcept { return sections_; }
    arena& memory() const noexcept { return memory_; }

    // The unit that covers an address as linked; null: none.
    debug_unit* unit_at(std::uint64_t address) {
        const address_range* range = by_address_.find(address);
        return range == nullptr ? nullptr : load(units_[range->value]);
    }

    // Whether another file describes the contents of some units.
    bool are_split() const noexcept {
        for (const debug_unit& unit : units_) {
            if (*unit.split_name != '\0') return true;
        }
        return false;
    }

    // The only unit that describes functions; null if there is none.
    debug_unit* only_unit() {
        return only_unit_ < units_.size() ? load(units_[only_unit_]) : nullptr;
    }

    // The unit that contains the entry of a reference; null: none.
    debug_unit* unit_of_entry(std::uint64_t reference);

    // The entry of a type that has a unit of its own (-fdebug-types-section); 0: not found.
    std::uint64_t entry_of_type(std::uint64_t signature) const {
        const std::size_t* number = types_.find(signature);
        return number != nullptr ? units_[*number].header.type_entry | file_ : 0;
    }

    // What the entry of a type says about it.
    struct told_type {
        text name;
        std::uint64_t bytes = 0;  // 0: unknown
    };
    told_type read_type(std::uint64_t signature) const;

    // True for code that the linker discarded: its description remains, with addresses below all
    // code.
    bool is_discarded(std::uint64_t low) const noexcept { return low < lowest_code_; }

    // The steps for one loop over things that a valid file does not describe twice.
    std::uint64_t fresh_budget() const noexcept {
        return 65536 + std::uint64_t{sections_.info.size} / 4 + sections_.ranges.size / 8 +
               sections_.range_lists.size / 2;
    }

    // Adds every piece of the extent that still exists.
    void add_extent(address_ranges& to, const detail::dwarf_unit& unit,
                    const detail::dwarf_extent& extent, std::uint64_t value,
                    step_budget& budget) const;

private:
    static constexpr std::size_t no_unit = ~std::size_t{0};

    // How much of a unit is read at first: its header and its first entry.
    static constexpr std::uint64_t first_bytes = 1024;

    // The limit for all sections that are read as a whole, added up. If they are larger, they are
    // not read, and code is named by its symbols.
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

    // The format decides how long the values are.
    static std::uint64_t key_of_abbreviations(const detail::dwarf_unit& header) noexcept {
        const detail::dwarf_format& format = header.format;
        const unsigned sizes =
            format.version * 16U + format.address_bytes + format.offset_bytes / 8U;
        return header.abbreviations << 8U | sizes;
    }

    debug_units(arena& memory, const detail::dwarf_sections& sections, std::uint64_t lowest_code,
                std::uint64_t file);

    void read_units(const debug_unit* skeleton);
    void read_first_entry(debug_unit& unit, arena& scratch, step_budget& budget,
                          step_budget& abbreviation_budget);
    void want_whole_entry(const detail::dwarf_unit& header, const abbreviation_table& table);
    const abbreviation_table& shared_abbreviations(const detail::dwarf_unit& header,
                                                   step_budget* budget = nullptr);
    debug_unit* load(debug_unit& unit);
    void read_entries(debug_unit& unit);
    void read_function(debug_unit& unit, entry_walker& walker, step_budget& budget);

    arena& memory_;
    detail::dwarf_sections sections_;
    std::uint64_t lowest_code_;
    std::uint64_t file_ = 0;
    debug_units* supplement_ = nullptr;
    std::size_t only_unit_ = no_unit;
    list<debug_unit> units_;
    address_ranges by_address_;
    table<std::uint64_t, std::size_t> types_;  // the number of its unit, by the type's signature
    // By place and format. Null: only one unit was met that uses the table, and that unit needed
    // only the abbreviation of its first entry.
    table<std::uint64_t, const abbreviation_table*> abbreviations_;
};

struct wanted_section {
    const char* name;
    detail::byte_view detail::dwarf_sections::*bytes;
    detail::late_bytes* detail::dwarf_sections::*late;  // null: it is read at once
};
ALLOCSCOPE_HIDDEN inline constexpr wanted_section wanted_sections[] = {
    {".debug_info", &detail::dwarf_sections::info, &detail::dwarf_sections::late_info},
    {".debug_abbrev", &detail::dwarf_sections::abbreviations, nullptr},
    {".debug_str", &detail::dwarf_sections::strings, &detail::dwarf_sections::late_strings},
    {".debug_line", &detail::dwarf_sections::lines, &detail::dwarf_sections::late_lines},
    {".debug_line_str", &detail::dwarf_sections::line_strings, nullptr},
    {".debug_ranges", &detail::dwarf_sections::ranges, nullptr},
    {".debug_rnglists", &detail::dwarf_sections::range_lists, nullptr},
    {".debug_addr", &detail::dwarf_sections::addresses, nullptr},
    {".debug_str_offsets", &detail::dwarf_sections::string_offsets, nullptr}};

ALLOCSCOPE_NOINLINE detail::dwarf_sections debug_units::read_sections(arena& memory,
                                                                      const object_bytes& object,
                                                                      const text& suffix,
                                                                      bool is_late) {
    detail::dwarf_sections sections;
    std::uint64_t total = 0;
    arena scratch;
    for (const wanted_section& each : wanted_sections) {
        detail::byte_view& bytes = sections.*each.bytes;
        detail::late_bytes** late = each.late != nullptr ? &(sections.*each.late) : nullptr;
        bytes = object.read(memory, object.find(joined(scratch, each.name, suffix).data()),
                            most_bytes - total, is_late ? late : nullptr);
        const bool is_read = late == nullptr || *late == nullptr;
        if (is_read) total += bytes.size;
    }
    return sections;
}

ALLOCSCOPE_NOINLINE debug_units::debug_units(arena& memory, const detail::dwarf_sections& sections,
                                             std::uint64_t lowest_code, std::uint64_t file)
    : memory_(memory),
      sections_(sections),
      lowest_code_(lowest_code),
      file_(file),
      units_(memory),
      by_address_(memory),
      types_(memory),
      abbreviations_(memory) {}

ALLOCSCOPE_NOINLINE debug_units::debug_units(arena& memory, const object_bytes& object,
                                             std::uint64_t file)
    : debug_units(memory, read_sections(memory, object, {}, file == 0), object.lowest_code(),
                  file) {
    const auto supplement_of = readers_of_rare_forms.supplement_of;
    if (file == 0 && supplement_of != nullptr) supplement_ = supplement_of(memory, object);
    if (supplement_ != nullptr) sections_.supplement_strings = supplement_->sections_.strings;
    read_units(nullptr);
}

// Addresses, the ranges of DWARF 4 and the bases of both are in the program; everything else is in
// the split sections.
ALLOCSCOPE_NOINLINE debug_units::debug_units(arena& memory, const detail::dwarf_sections& split,
                                             const debug_units& whole, const debug_unit& skeleton)
    : debug_units(memory, split, whole.lowest_code_, 0) {
    sections_.addresses = whole.sections_.addresses;
    sections_.ranges = whole.sections_.ranges;
    read_units(&skeleton);
}

// Of the units that were split off, only the one of the skeleton and those of types are kept.
ALLOCSCOPE_NOINLINE void debug_units::read_units(const debug_unit* skeleton) {
    arena scratch;
    step_budget budget{fresh_budget()};
    step_budget abbreviation_budget{65536 + std::uint64_t{4} * sections_.abbreviations.size};
    for (std::uint64_t offset = 0; offset < sections_.info.size;) {
        debug_unit unit;
        detail::dwarf_unit& header = unit.header;
        detail::want(sections_.late_info, offset, first_bytes);
        if (!detail::read_dwarf_unit(sections_.info, offset, header)) break;
        offset = header.end;
        if (header.first_entry >= header.end) continue;
        read_first_entry(unit, scratch, budget, abbreviation_budget);
        const bool is_part_of_skeleton = skeleton != nullptr && header.split_id != 0 &&
                                         header.split_id == skeleton->header.split_id &&
                                         only_unit_ == no_unit;
        if (header.type_entry != 0) {
            types_[header.signature] = units_.size();
        } else if (is_part_of_skeleton) {
            only_unit_ = units_.size();
            header.addresses_base = skeleton->header.addresses_base;
            header.ranges_base = skeleton->header.ranges_base;
            header.low_address = skeleton->header.low_address;
        } else if (skeleton != nullptr) {
            continue;
        }
        units_.push_back(unit);
    }
    by_address_.finish();
}

ALLOCSCOPE_NOINLINE entry_walker debug_unit::walk(std::uint64_t entry) const noexcept {
    return {home->sections(), header, *abbreviations, entry & ~detail::dwarf_in_supplement};
}

ALLOCSCOPE_NOINLINE debug_unit* debug_units::unit_of_entry(std::uint64_t reference) {
    const std::uint64_t offset = reference & ~detail::dwarf_in_supplement;
    if (reference - offset != file_) {
        const bool is_there = file_ == 0 && supplement_ != nullptr;
        return is_there ? supplement_->unit_of_entry(reference) : nullptr;
    }
    const std::size_t behind = count_below(units_, offset + 1);
    if (behind == 0) return nullptr;
    debug_unit& unit = units_[behind - 1];
    const bool is_in_unit = offset >= unit.header.first_entry && offset < unit.header.end;
    return is_in_unit ? load(unit) : nullptr;
}

ALLOCSCOPE_NOINLINE void debug_units::read_first_entry(debug_unit& unit, arena& scratch,
                                                       step_budget& budget,
                                                       step_budget& abbreviation_budget) {
    detail::dwarf_unit& header = unit.header;
    header.file = file_;
    unit.home = this;
    const borrowed_memory meanwhile{scratch};
    detail::want(sections_.late_info, header.first_entry, first_bytes);
    detail::byte_cursor in{sections_.info.part(0, header.end), header.first_entry};
    const std::uint64_t code = in.uleb();
    if (code == 0) return;
    const bool is_first = abbreviations_.insert(key_of_abbreviations(header)).is_new;
    const abbreviation_table& table =
        is_first ? *scratch.make<abbreviation_table>(scratch, sections_.abbreviations, header, code,
                                                     &abbreviation_budget)
                 : shared_abbreviations(header, &abbreviation_budget);
    entry_walker walker{sections_, header, table, header.first_entry};
    if (!walker.begin()) return;
    unit.is_partial = walker.shape()->tag == detail::dwarf::tag_partial_unit;
    want_whole_entry(header, table);
    detail::dwarf_extent extent;
    detail::dwarf_value directory;
    detail::dwarf_value split_name;
    std::uint64_t ranges_base = 0;
    detail::dwarf_value value;
    std::uint16_t name = 0;
    while (walker.next_value(name, value)) {
        extent.take(name, value);
        switch (name) {
            case detail::dwarf::at_comp_dir:
                directory = value;
                break;
            case detail::dwarf::at_stmt_list:
                unit.has_lines = true;
                unit.lines = value.number;
                break;
            case detail::dwarf::at_dwo_name:
            case detail::dwarf::at_gnu_dwo_name:
                split_name = value;
                break;
            case detail::dwarf::at_gnu_dwo_id:
                header.split_id = value.number;
                break;
            case detail::dwarf::at_gnu_ranges_base:
                ranges_base = value.number;
                break;
            case detail::dwarf::at_str_offsets_base:
                header.string_offsets_base = value.number;
                break;
            case detail::dwarf::at_addr_base:
            case detail::dwarf::at_gnu_addr_base:
                header.addresses_base = value.number;
                break;
            case detail::dwarf::at_rnglists_base:
                header.range_lists_base = value.number;
                break;
            default:
                break;
        }
    }
    unit.directory = detail::dwarf_text(sections_, header, directory);
    unit.split_name = detail::dwarf_text(sections_, header, split_name);
    std::uint64_t low = 0;
    if (detail::dwarf_address(sections_, header, extent.low, low)) header.low_address = low;
    add_extent(by_address_, header, extent, units_.size(), budget);
    header.ranges_base = ranges_base;  // of the split unit, not of this entry
}

ALLOCSCOPE_NOINLINE debug_units::told_type debug_units::read_type(std::uint64_t signature) const {
    told_type told;
    const std::size_t* number = types_.find(signature);
    if (number == nullptr) return told;
    const detail::dwarf_unit& header = units_[*number].header;
    detail::want(sections_.late_info, header.offset, header.end - header.offset);
    arena scratch;
    detail::byte_cursor in{sections_.info.part(0, header.end), header.type_entry};
    const abbreviation_table table{scratch, sections_.abbreviations, header, in.uleb()};
    entry_walker walker{sections_, header, table, header.type_entry};
    if (!walker.begin()) return told;
    detail::dwarf_value value;
    std::uint16_t name = 0;
    while (walker.next_value(name, value)) {
        if (name == detail::dwarf::at_name)
            told.name = detail::dwarf_text(sections_, header, value);
        if (name == detail::dwarf::at_byte_size) told.bytes = value.number;
    }
    return told;
}

// The first entry may contain texts, so it may be longer than `first_bytes`, but hardly ever is.
ALLOCSCOPE_NOINLINE void debug_units::want_whole_entry(const detail::dwarf_unit& header,
                                                       const abbreviation_table& table) {
    for (std::uint64_t bytes = first_bytes; bytes < header.end - header.first_entry; bytes *= 8) {
        entry_walker walker{sections_, header, table, header.first_entry};
        std::uint16_t name = 0;
        detail::dwarf_value value;
        walker.next();
        while (walker.next_value(name, value)) {
        }
        if (walker.at() <= header.first_entry + bytes) return;
        detail::want(sections_.late_info, header.first_entry, bytes * 8);
    }
}

// All abbreviations of a unit. Other units may share them, hundreds after dwz or -flto, so they are
// read once.
ALLOCSCOPE_NOINLINE const abbreviation_table& debug_units::shared_abbreviations(
    const detail::dwarf_unit& header, step_budget* budget) {
    const abbreviation_table*& known = abbreviations_[key_of_abbreviations(header)];
    if (known == nullptr) {
        known = memory_.make<abbreviation_table>(memory_, sections_.abbreviations, header,
                                                 std::uint64_t{0}, budget);
    }
    return *known;
}

ALLOCSCOPE_NOINLINE debug_unit* debug_units::load(debug_unit& unit) {
    if (unit.abbreviations != nullptr) return &unit;
    detail::want(sections_.late_info, unit.header.offset, unit.header.end - unit.header.offset);
    unit.abbreviations = &shared_abbreviations(unit.header);
    unit.functions = address_ranges{memory_};
    unit.scopes = list<entry_scope>{memory_};
    read_entries(unit);
    unit.functions.finish();
    return &unit;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

// The loops that see every entry of a unit.
ALLOCSCOPE_COOL_BEGIN

namespace symbolize {

ALLOCSCOPE_NOINLINE void debug_units::add_extent(address_ranges& to, const detail::dwarf_unit& unit,
                                                 const detail::dwarf_extent& extent,
                                                 std::uint64_t value, step_budget& budget) const {
    detail::visit_dwarf_extent(sections_, unit, extent, [&](std::uint64_t low, std::uint64_t high) {
        if (!is_discarded(low)) to.add(low, high, value);
        return budget.take();
    });
}

ALLOCSCOPE_NOINLINE void debug_units::read_entries(debug_unit& unit) {
    struct open_scope {
        std::int64_t depth;
        std::size_t number;
    };
    arena scratch;
    list<open_scope> open{scratch};
    step_budget budget{fresh_budget()};
    entry_walker walker = unit.walk(unit.header.first_entry);
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
        if (shape->tag == detail::dwarf::tag_inlined_subroutine && walker.skip_to_sibling()) {
            continue;  // what is inlined was described where it is not
        }
        if (shape->names_type) {
            for (std::size_t i = open.size(); i > 0; --i) {
                entry_scope& around = unit.scopes[open[i - 1].number];
                if (around.has_types) break;
                around.has_types = true;
            }
        }
        if (shape->opens_scope) {
            const std::size_t parent = open.empty() ? 0 : open.back().number + 1;
            open.push_back(open_scope{walker.depth(), unit.scopes.size()});
            unit.scopes.push_back(entry_scope{walker.offset(), unit.header.end, parent, false});
        }
    }
}

ALLOCSCOPE_NOINLINE void debug_units::read_function(debug_unit& unit, entry_walker& walker,
                                                    step_budget& budget) {
    detail::dwarf_extent extent;
    detail::dwarf_value value;
    std::uint16_t name = 0;
    while (walker.next_value(name, value)) extent.take(name, value);
    add_extent(unit.functions, unit.header, extent, walker.offset(), budget);
}

}  // namespace symbolize

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_UNITS_HPP
