// Entries with links that lead over their children, and with links that no compiler writes.

#include "made_elf_file.hpp"

#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/debug_entries.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {

using allocscope::detail::byte_view;
using allocscope::detail::dwarf_sections;
using allocscope::detail::dwarf_unit;
using allocscope::plain::arena;
using allocscope::symbolize::abbreviation_table;
using allocscope::symbolize::entry_walker;
using made_elf::bytes;
using made_elf::put;
using made_elf::put_shape;
using made_elf::put_uleb;

enum shape : unsigned {
    unit_shape = 1,
    linked,
    linked_behind_expression,
    linked_amid_numbers,
    without_link,
    variable
};

bytes abbreviations() {
    bytes table;
    put_shape(table, unit_shape, 0x11, true, {});
    put_shape(table, linked, 0x1d, true, {0x59, 0x0b, 0x01, 0x13});  // a line and the link
    put_shape(table, linked_behind_expression, 0x1d, true, {0x02, 0x18, 0x01, 0x13});
    put_shape(table, linked_amid_numbers, 0x1d, true, {0x58, 0x06, 0x01, 0x13, 0x59, 0x06});
    put_shape(table, without_link, 0x1d, true, {0x59, 0x0b});
    put_shape(table, variable, 0x34, false, {0x3b, 0x0b});
    table.push_back(0);
    return table;
}

// A DWARF 4 unit behind another one. Its first entry has a child of the shape; that has a variable
// in line 7; a variable in line 9 follows. The link leads to `link`, by default to the last.
class made_unit {
public:
    explicit made_unit(shape of_child, std::uint64_t link = 0) : table_bytes_(abbreviations()) {
        info_ = {8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 0};  // the unit before, which is empty
        offset_ = info_.size();
        bytes unit;
        put(unit, 4, 2);
        put(unit, 0, 4);
        put(unit, 8, 1);
        put_uleb(unit, unit_shape);
        put_uleb(unit, of_child);
        if (of_child == linked_behind_expression) {
            put(unit, 30, 1);  // with the next three bytes, this would be a link
            unit.resize(unit.size() + 30);
        } else {
            put(unit, 3, of_child == linked_amid_numbers ? 4 : 1);
        }
        const std::size_t link_at = unit.size();
        if (of_child != without_link) put(unit, 0, 4);
        const std::size_t number_at = unit.size();
        if (of_child == linked_amid_numbers) put(unit, 0, 4);
        put_uleb(unit, variable);
        put(unit, 7, 1);
        put(unit, 0, 1);
        last_ = offset_ + 4 + unit.size();
        const std::uint64_t target = link != 0 ? link : last_ - offset_;
        if (of_child != without_link) {
            bytes number;
            put(number, target, 4);
            const std::size_t last_at = of_child == linked_amid_numbers ? number_at : link_at;
            for (const std::size_t at : {link_at, last_at}) {  // the number is as large as the link
                std::copy(number.begin(), number.end(),
                          unit.begin() + static_cast<std::ptrdiff_t>(at));
            }
        }
        put_uleb(unit, variable);
        put(unit, 9, 1);
        put(unit, 0, 1);
        put(info_, unit.size(), 4);
        made_elf::append(info_, unit);
        sections_.info = byte_view{info_.data(), info_.size()};
        REQUIRE(allocscope::detail::read_dwarf_unit(sections_.info, offset_, header_));
        table_ = abbreviation_table{memory_, byte_view{table_bytes_.data(), table_bytes_.size()},
                                    header_};
    }

    entry_walker at_child() const {
        entry_walker walker{sections_, header_, table_, header_.first_entry};
        REQUIRE(walker.begin());
        REQUIRE(walker.next());
        REQUIRE(walker.shape()->tag == 0x1d);
        return walker;
    }
    std::uint64_t last() const { return last_; }
    std::uint64_t bytes_in_unit() const { return header_.end - offset_; }

private:
    arena memory_;
    bytes table_bytes_;
    bytes info_;
    std::uint64_t offset_ = 0;
    std::uint64_t last_ = 0;
    dwarf_sections sections_;
    dwarf_unit header_;
    abbreviation_table table_;
};

// The next entry is the child's own.
void check_not_skipped(entry_walker walker) {
    CHECK_FALSE(walker.skip_to_sibling());
    REQUIRE(walker.next());
    CHECK(walker.shape()->tag == 0x34);
    CHECK(walker.depth() == 2);
}

}  // namespace

TEST_CASE("debug_entries: a link leads over the children to the next entry of the same depth") {
    const made_unit unit{linked};
    entry_walker walker = unit.at_child();
    CHECK(walker.depth() == 1);
    REQUIRE(walker.skip_to_sibling());
    REQUIRE(walker.next());
    CHECK(walker.offset() == unit.last());
    CHECK(walker.depth() == 1);
    CHECK(walker.shape()->tag == 0x34);
    REQUIRE(walker.next());
    CHECK(walker.shape() == nullptr);  // the end of the unit's children
    CHECK(walker.depth() == 1);
    CHECK_FALSE(walker.next());
}

TEST_CASE("debug_entries: without a link that can be found at once, the children are next") {
    check_not_skipped(made_unit{without_link}.at_child());
    check_not_skipped(made_unit{linked_behind_expression}.at_child());
}

TEST_CASE("debug_entries: no link is looked for once a value has been read") {
    const made_unit unit{linked_amid_numbers};
    REQUIRE(unit.at_child().skip_to_sibling());
    entry_walker walker = unit.at_child();
    std::uint16_t name = 0;
    allocscope::detail::dwarf_value value;
    REQUIRE(walker.next_value(name, value));
    check_not_skipped(walker);
}

TEST_CASE("debug_entries: a link back, to itself or out of the unit is not followed") {
    const made_unit whole{linked};
    const std::uint64_t end = whole.bytes_in_unit();
    for (const std::uint64_t link :
         {std::uint64_t{1}, std::uint64_t{12}, std::uint64_t{13}, end + 1,
          std::uint64_t{0x7fffffff}, std::uint64_t{0xffffffff}}) {
        CAPTURE(link);
        check_not_skipped(made_unit{linked, link}.at_child());
    }
}
