// debug_entries.hpp - loops over the entries of one unit of debug information.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by the indexes of units, functions and inlined calls
// Threads:  one
// Memory:   the abbreviations of one unit, in the given arena
//
// A few additions skip an entry, because neighbouring values of fixed size are one step. What is
// below an entry is skipped at once if the entry has a sibling link, which is optional.

#ifndef ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP
#define ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_forms.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int8_t, int64_t, uint8_t ... uint64_t
#include <cstring>  // memcpy

ALLOCSCOPE_MILD_BEGIN

namespace symbolize {

// How many more steps a file may take. One that needs more was made to waste time.
struct step_budget {
    std::uint64_t left = 0;
    bool take() { return left != 0 && left-- != 0; }
};

struct abbreviation {
    std::uint64_t code = 0;  // first, for count_below()
    std::uint32_t first_attribute = 0;
    std::uint32_t attribute_count = 0;
    std::uint32_t first_step = 0;
    std::uint32_t step_count = 0;
    std::uint32_t bytes_behind = 0;  // the size of the values after the last step
    std::uint32_t sibling_at = 0;    // where the link is among the values, if has_sibling
    std::uint16_t tag = 0;
    bool has_children = false;
    bool has_sibling = false;  // after values of fixed size
    bool has_code = false;     // an address or a list of ranges
    bool opens_scope = false;  // the names of its children belong to it
    bool names_type = false;   // or names a namespace
};

// A namespace, a class or a function.
ALLOCSCOPE_INLINE bool opens_scope(std::uint16_t tag) noexcept {
    return tag == detail::dwarf::tag_namespace || tag == detail::dwarf::tag_class_type ||
           tag == detail::dwarf::tag_structure_type || tag == detail::dwarf::tag_union_type ||
           tag == detail::dwarf::tag_subprogram;
}

ALLOCSCOPE_PURE ALLOCSCOPE_NOINLINE bool names_a_type(std::uint16_t tag) noexcept {
    return tag == detail::dwarf::tag_class_type || tag == detail::dwarf::tag_structure_type ||
           tag == detail::dwarf::tag_union_type || tag == detail::dwarf::tag_enumeration_type ||
           tag == detail::dwarf::tag_typedef || tag == detail::dwarf::tag_namespace ||
           tag == detail::dwarf::tag_imported_declaration;
}

// An attribute, and the number of bytes of its value (dwarf_form_varies: it differs).
struct entry_attribute {
    std::uint16_t name;
    std::uint16_t form;
    int bytes;
    std::int64_t implicit_value;
};

// Values of fixed size, followed by one that has no fixed size.
struct entry_step {
    std::uint32_t bytes;
    std::uint16_t form;
};

class abbreviation_table {
public:
    abbreviation_table() noexcept = default;  // always empty

    // If `only_code` is not 0, the table has only that abbreviation, if it is found within the
    // budget.
    abbreviation_table(arena& memory, detail::byte_view section, const detail::dwarf_unit& unit,
                       std::uint64_t only_code = 0, step_budget* budget = nullptr);

    const abbreviation* find(std::uint64_t code) const noexcept {
        // Compilers number abbreviations from 1 without gaps.
        if (code - 1 < shapes_.size() && shapes_[code - 1].code == code) {
            return &shapes_[code - 1];
        }
        return find_odd(code);
    }

    const entry_attribute* attributes(const abbreviation& shape) const noexcept {
        return attributes_.data() + shape.first_attribute;
    }
    const entry_step* steps(const abbreviation& shape) const noexcept {
        return steps_.data() + shape.first_step;
    }

private:
    const abbreviation* find_odd(std::uint64_t code) const noexcept;

    // No real entry is larger. The limit keeps the sum of all sizes from wrapping.
    static constexpr std::uint32_t most_fixed_bytes = std::uint32_t{1} << 30U;

    struct builder {
        abbreviation_table& table;
        const detail::dwarf_format& format;
        std::uint64_t only_code;
        step_budget* budget;
        bool is_sorted = true;
        abbreviation shape = {};

        ALLOCSCOPE_INLINE bool begin(std::uint64_t code, std::uint16_t tag, bool has_children) {
            if (code < shape.code) is_sorted = false;
            shape = abbreviation{};
            shape.code = code;
            shape.tag = tag;
            shape.has_children = has_children;
            shape.opens_scope = has_children && opens_scope(tag);
            shape.names_type = names_a_type(tag);
            shape.first_attribute = static_cast<std::uint32_t>(table.attributes_.size());
            shape.first_step = static_cast<std::uint32_t>(table.steps_.size());
            return true;
        }
        bool attribute(const detail::dwarf_attribute& attribute) {
            if (budget != nullptr && !budget->take()) return false;
            if (only_code != 0 && shape.code != only_code) return true;
            if (attribute.name == detail::dwarf::at_sibling &&
                attribute.form == detail::dwarf::form_ref4 &&
                shape.first_step == table.steps_.size()) {
                shape.has_sibling = true;
                shape.sibling_at = shape.bytes_behind;
            }
            const int bytes = detail::dwarf_fixed_bytes(attribute.form, format);
            table.attributes_.push_back(
                {attribute.name, attribute.form, bytes, attribute.implicit_value});
            if (bytes == detail::dwarf_form_varies) {
                table.steps_.push_back({shape.bytes_behind, attribute.form});
                shape.bytes_behind = 0;
            } else {
                if (shape.bytes_behind > most_fixed_bytes) return false;
                shape.bytes_behind += static_cast<unsigned>(bytes);
            }
            if (attribute.name == detail::dwarf::at_low_pc ||
                attribute.name == detail::dwarf::at_ranges) {
                shape.has_code = true;
            }
            return true;
        }
        ALLOCSCOPE_INLINE bool finish() {
            shape.attribute_count =
                static_cast<std::uint32_t>(table.attributes_.size()) - shape.first_attribute;
            shape.step_count = static_cast<std::uint32_t>(table.steps_.size()) - shape.first_step;
            if (only_code != 0 && shape.code != only_code) return true;
            table.shapes_.push_back(shape);
            return only_code == 0;
        }
    };

    list<abbreviation> shapes_;
    list<entry_attribute> attributes_;
    list<entry_step> steps_;
};

ALLOCSCOPE_NOINLINE abbreviation_table::abbreviation_table(arena& memory, detail::byte_view section,
                                                           const detail::dwarf_unit& unit,
                                                           std::uint64_t only_code,
                                                           step_budget* budget)
    : shapes_(memory), attributes_(memory), steps_(memory) {
    builder build{*this, unit.format, only_code, budget};
    detail::visit_dwarf_abbreviations(section, unit.abbreviations, build);
    if (build.is_sorted) return;
    sort(shapes_, [](const abbreviation& a, const abbreviation& b) { return a.code < b.code; });
}

ALLOCSCOPE_NOINLINE const abbreviation* abbreviation_table::find_odd(
    std::uint64_t code) const noexcept {
    const std::size_t at = count_below(shapes_, code);
    return at < shapes_.size() && shapes_[at].code == code ? &shapes_[at] : nullptr;
}

// Goes from entry to entry in the order of the bytes. An empty entry, which ends a list of
// children, is reported with a null shape.
class entry_walker {
public:
    entry_walker(const detail::dwarf_sections& sections, const detail::dwarf_unit& unit,
                 const abbreviation_table& table, std::uint64_t offset) noexcept
        : format_(unit.format),
          table_(table),
          unit_offset_(unit.offset),
          in_(sections.info.part(0, unit.end), offset) {}

    bool next() noexcept;
    // The same for the first entry, but returns false if that is empty.
    bool begin() noexcept;

    ALLOCSCOPE_INLINE std::uint64_t offset() const noexcept { return offset_; }
    // The offset after the value that was read last.
    ALLOCSCOPE_INLINE std::uint64_t at() const noexcept { return in_.at(); }
    ALLOCSCOPE_PURE const abbreviation* shape() const noexcept { return shape_; }
    // 0 for the first entry, 1 for its children. The empty entry after children has their depth.
    ALLOCSCOPE_PURE std::int64_t depth() const noexcept { return depth_; }

    // Skips the children of the entry, the last of which ends at `end`. The empty entry is next.
    void skip_children(std::uint64_t end) noexcept {
        in_.seek(end);
        shape_ = nullptr;
        next_depth_ = depth_ + 1;
    }

    // Skips the children of the entry and their end. Returns false if a value of the entry has been
    // read, or if it has no link that leads there, or one that leads back or out of the unit.
    bool skip_to_sibling() noexcept;

    // Reads the values of the entry one after the other: the name of the attribute and its value.
    bool next_value(std::uint16_t& name, detail::dwarf_value& value) noexcept;

    // The bytes of all values, if each has a fixed size: attributes() says what they are. Null:
    // some have no fixed size, or they go beyond the end of the unit.
    ALLOCSCOPE_INLINE const std::uint8_t* fixed_values() const noexcept {
        const bool are_fixed = shape_->step_count == 0 && shape_->bytes_behind <= in_.remaining();
        return are_fixed ? in_.bytes().data + in_.at() : nullptr;
    }
    ALLOCSCOPE_INLINE const entry_attribute* attributes() const noexcept {
        return table_.attributes(*shape_);
    }

    // The same as next_value(), inlined into loops that see many entries.
    ALLOCSCOPE_INLINE bool next_value_inline(std::uint16_t& name,
                                             detail::dwarf_value& value) noexcept;

private:
    bool skip_values(std::size_t& at) noexcept;

    const detail::dwarf_format format_;
    const abbreviation_table& table_;
    const std::uint64_t unit_offset_;
    detail::byte_cursor in_;
    const abbreviation* shape_ = nullptr;
    std::uint32_t values_read_ = 0;
    std::uint64_t offset_ = 0;
    std::int64_t depth_ = 0;
    std::int64_t next_depth_ = 0;
};

// The value of an attribute with a fixed size. Only values of up to 8 bytes are numbers.
ALLOCSCOPE_INLINE std::uint64_t fixed_value(const entry_attribute& attribute,
                                            const std::uint8_t* at) noexcept {
    std::uint64_t number = 0;
    if (attribute.bytes == 4) {
        std::memcpy(&number, at, 4);
    } else if (attribute.bytes == 8) {
        std::memcpy(&number, at, 8);
    } else if (attribute.form == detail::dwarf::form_implicit_const) {
        number = static_cast<std::uint64_t>(attribute.implicit_value);
    } else {
        for (int i = 0; i < attribute.bytes && i < 8; ++i) {
            number |= std::uint64_t{at[i]} << (8U * static_cast<unsigned>(i));
        }
    }
    return number;
}

ALLOCSCOPE_INLINE bool entry_walker::next_value_inline(std::uint16_t& name,
                                                       detail::dwarf_value& value) noexcept {
    if (values_read_ == shape_->attribute_count) return false;
    const entry_attribute& attribute = table_.attributes(*shape_)[values_read_++];
    name = attribute.name;
    if (attribute.bytes == 4 || attribute.bytes == 1 || attribute.bytes == 8) {  // most
        value.form = attribute.form;
        value.number = attribute.bytes == 4   ? in_.u32()
                       : attribute.bytes == 1 ? in_.u8()
                                              : in_.u64();
        value.text = nullptr;
    } else {
        value = detail::read_dwarf_value(in_, attribute.form, format_, attribute.implicit_value);
    }
    return in_.ok();
}

ALLOCSCOPE_NOINLINE bool entry_walker::next_value(std::uint16_t& name,
                                                  detail::dwarf_value& value) noexcept {
    return next_value_inline(name, value);
}

// Moves `at` over the values of the entry. Returns false if they go beyond the end of the unit.
ALLOCSCOPE_INLINE bool entry_walker::skip_values(std::size_t& at) noexcept {
    const detail::byte_view bytes = in_.bytes();
    const entry_step* step = table_.steps(*shape_);
    for (std::uint32_t left = shape_->step_count; left != 0; --left, ++step) {
        at += step->bytes;
        if (at >= bytes.size) return false;
        if (step->form == detail::dwarf::form_exprloc && bytes.data[at] < 0x80) {  // most
            at += bytes.data[at] + std::size_t{1};
            continue;
        }
        in_.seek(at);
        detail::read_dwarf_value(in_, step->form, format_, 0);
        if (!in_.ok()) return false;
        at = in_.at();
    }
    at += shape_->bytes_behind;
    return at <= bytes.size;
}

ALLOCSCOPE_NOINLINE bool entry_walker::next() noexcept {
    std::size_t at = in_.at();
    if (shape_ != nullptr) {
        if (values_read_ != 0) {
            std::uint16_t name = 0;
            detail::dwarf_value value;
            while (next_value(name, value)) {
            }
            at = in_.at();
        } else if (!skip_values(at)) {
            in_.fail();
        }
        if (shape_->has_children) ++next_depth_;
    }
    shape_ = nullptr;
    values_read_ = 0;
    const detail::byte_view bytes = in_.bytes();
    if (!in_.ok() || at >= bytes.size) return false;
    offset_ = at;
    std::uint64_t code = bytes.data[at];
    if (code < 0x80) {
        in_.seek(at + 1);
    } else {
        in_.seek(at);
        code = in_.uleb();
    }
    depth_ = next_depth_;
    if (code == 0) {
        --next_depth_;
        return in_.ok();
    }
    shape_ = table_.find(code);
    return in_.ok() && shape_ != nullptr;
}

ALLOCSCOPE_NOINLINE bool entry_walker::skip_to_sibling() noexcept {
    const detail::byte_view bytes = in_.bytes();
    const std::uint64_t at = in_.at() + shape_->sibling_at;
    if (values_read_ != 0 || !shape_->has_sibling || at + 4 > bytes.size) return false;
    std::uint32_t distance = 0;
    std::memcpy(&distance, bytes.data + at, 4);
    if (unit_offset_ + distance <= at || unit_offset_ + distance > bytes.size) return false;
    in_.seek(unit_offset_ + distance);
    shape_ = nullptr;
    return true;
}

ALLOCSCOPE_NOINLINE bool entry_walker::begin() noexcept {
    return next() && shape_ != nullptr;
}

}  // namespace symbolize

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_SYMBOLS_DEBUG_ENTRIES_HPP
