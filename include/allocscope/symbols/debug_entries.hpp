// debug_entries.hpp - walking the entries of one unit of debug information.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by the indexes of units, functions and inlined calls
// Threads:  one
// Memory:   the abbreviations of one unit, in the given arena
//
// An abbreviation whose values all have fixed sizes is stepped over in one addition; that makes
// walking whole units cheap enough to do without the optional sibling links.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_forms.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint16_t, uint64_t

ALLOCSCOPE_WARM_BEGIN

namespace symbolize {

// How much may still be done before a file counts as made to waste time.
struct step_budget {
    std::uint64_t left = 0;
    bool take() { return left != 0 && left-- != 0; }
};

struct abbreviation {
    std::uint64_t code = 0;
    std::size_t first_attribute = 0;
    std::size_t attribute_count = 0;
    std::uint64_t fixed_bytes = 0;
    std::uint16_t tag = 0;
    bool has_children = false;
    bool is_fixed = true;
    bool has_code = false;  // an address or a list of ranges
};

class abbreviation_table {
public:
    abbreviation_table() noexcept = default;  // empty for good

    // `only_code` other than 0: nothing but that abbreviation, found within the budget.
    abbreviation_table(arena& memory, detail::byte_view section, const detail::dwarf_unit& unit,
                       std::uint64_t only_code = 0, step_budget* budget = nullptr);

    const abbreviation* find(std::uint64_t code) const noexcept {
        // Compilers number from 1 without gaps.
        if (code - 1 < shapes_.size() && shapes_[code - 1].code == code) {
            return &shapes_[code - 1];
        }
        return find_odd(code);
    }

    const detail::dwarf_attribute* attributes(const abbreviation& shape) const noexcept {
        return attributes_.data() + shape.first_attribute;
    }

private:
    const abbreviation* find_odd(std::uint64_t code) const noexcept;

    struct builder {
        abbreviation_table& table;
        const detail::dwarf_format& format;
        std::uint64_t only_code;
        step_budget* budget;
        bool is_sorted = true;
        abbreviation shape = {};

        bool begin(std::uint64_t code, std::uint16_t tag, bool has_children) {
            if (code < shape.code) is_sorted = false;
            shape = abbreviation{};
            shape.code = code;
            shape.tag = tag;
            shape.has_children = has_children;
            shape.first_attribute = table.attributes_.size();
            return true;
        }
        bool attribute(const detail::dwarf_attribute& attribute) {
            if (budget != nullptr && !budget->take()) return false;
            if (only_code != 0 && shape.code != only_code) return true;
            table.attributes_.push_back(attribute);
            const int bytes = detail::dwarf_fixed_bytes(attribute.form, format);
            if (bytes == detail::dwarf_form_varies) shape.is_fixed = false;
            if (bytes > 0) shape.fixed_bytes += static_cast<unsigned>(bytes);
            if (attribute.name == detail::dwarf::at_low_pc ||
                attribute.name == detail::dwarf::at_ranges) {
                shape.has_code = true;
            }
            return true;
        }
        bool finish() {
            shape.attribute_count = table.attributes_.size() - shape.first_attribute;
            if (only_code != 0 && shape.code != only_code) return true;
            table.shapes_.push_back(shape);
            return only_code == 0;
        }
    };

    list<abbreviation> shapes_;
    list<detail::dwarf_attribute> attributes_;
};

ALLOCSCOPE_NOINLINE abbreviation_table::abbreviation_table(arena& memory, detail::byte_view section,
                                                           const detail::dwarf_unit& unit,
                                                           std::uint64_t only_code,
                                                           step_budget* budget)
    : shapes_(memory), attributes_(memory) {
    builder build{*this, unit.format, only_code, budget};
    detail::visit_dwarf_abbreviations(section, unit.abbreviations, build);
    if (build.is_sorted) return;
    sort(shapes_, [](const abbreviation& a, const abbreviation& b) { return a.code < b.code; });
}

ALLOCSCOPE_NOINLINE const abbreviation* abbreviation_table::find_odd(
    std::uint64_t code) const noexcept {
    const std::size_t at =
        partition_point(shapes_.data(), shapes_.size(),
                        [&](const abbreviation& shape) { return shape.code < code; });
    return at < shapes_.size() && shapes_[at].code == code ? &shapes_[at] : nullptr;
}

// Steps from entry to entry in the order of the bytes. An empty entry, which ends a list of
// children, is passed with a null shape.
class entry_walker {
public:
    entry_walker(const detail::dwarf_sections& sections, const detail::dwarf_unit& unit,
                 const abbreviation_table& table, std::uint64_t offset) noexcept
        : format_(unit.format), table_(table), in_(sections.info.part(0, unit.end), offset) {}

    bool next() noexcept;

    std::uint64_t offset() const noexcept { return offset_; }
    const abbreviation* shape() const noexcept { return shape_; }
    // 0 for the first entry, 1 for its children. The empty entry after children has their depth.
    std::int64_t depth() const noexcept { return depth_; }

    // The entry's values one after the other; the name of the attribute and what it is.
    bool next_value(std::uint16_t& name, detail::dwarf_value& value) noexcept;

private:
    const detail::dwarf_format format_;
    const abbreviation_table& table_;
    detail::byte_cursor in_;
    const abbreviation* shape_ = nullptr;
    std::size_t values_read_ = 0;
    std::uint64_t offset_ = 0;
    std::int64_t depth_ = 0;
    std::int64_t next_depth_ = 0;
};

ALLOCSCOPE_NOINLINE bool entry_walker::next_value(std::uint16_t& name,
                                                  detail::dwarf_value& value) noexcept {
    if (values_read_ == shape_->attribute_count) return false;
    const detail::dwarf_attribute& attribute = table_.attributes(*shape_)[values_read_++];
    name = attribute.name;
    value = detail::read_dwarf_value(in_, attribute.form, format_, attribute.implicit_value);
    return in_.ok();
}

ALLOCSCOPE_NOINLINE bool entry_walker::next() noexcept {
    if (shape_ != nullptr) {
        if (values_read_ == 0 && shape_->is_fixed) {
            in_.skip(shape_->fixed_bytes);
        } else {
            std::uint16_t name = 0;
            detail::dwarf_value value;
            while (next_value(name, value)) {
            }
        }
        if (shape_->has_children) ++next_depth_;
    }
    shape_ = nullptr;
    values_read_ = 0;
    if (in_.at_end()) return false;
    offset_ = in_.at();
    const std::uint64_t code = in_.uleb();
    depth_ = next_depth_;
    if (code == 0) {
        --next_depth_;
        return in_.ok();
    }
    shape_ = table_.find(code);
    return in_.ok() && shape_ != nullptr;
}

}  // namespace symbolize

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP
