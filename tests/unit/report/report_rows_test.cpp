#include <allocscope/report/report_rows.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/made_snapshot.hpp"

using allocscope::row_order;
using allocscope::snapshot;
using allocscope::detail::arena;
using allocscope::detail::row_selection;
using allocscope::detail::select_rows;
using allocscope_tests::made_row;
using allocscope_tests::made_snapshot;

namespace {

std::string types_of(const row_selection& selection) {
    std::string types;
    for (const snapshot::row* row : selection.shown) types += row->type;
    return types;
}

snapshot four_rows() {
    return made_snapshot({made_row(4, 10, "a.cpp", 1, "a"), made_row(3, 40, "a.cpp", 1, "b"),
                          made_row(2, 10, "a.cpp", 1, "c"), made_row(1, 90, "a.cpp", 1, "d")});
}

}  // namespace

TEST_CASE("report_rows: by objects as in the snapshot, by bytes with equal ones in that order") {
    arena memory;
    const snapshot rows = four_rows();
    CHECK(types_of(select_rows(memory, rows, row_order::objects, 50)) == "abcd");
    CHECK(types_of(select_rows(memory, rows, row_order::bytes, 50)) == "dbac");
}

TEST_CASE("report_rows: what is not shown is summed") {
    arena memory;
    const snapshot rows = four_rows();
    const row_selection top = select_rows(memory, rows, row_order::bytes, 1);
    CHECK(types_of(top) == "d");
    CHECK(top.rest.places == 3);
    CHECK(top.rest.objects == 9);
    CHECK(top.rest.bytes == 60);
    CHECK(top.byte_magnitude == 150);
    CHECK(select_rows(memory, rows, row_order::objects, 4).rest.places == 0);
    CHECK(select_rows(memory, rows, row_order::objects, 0).rest.bytes == 150);
    CHECK(select_rows(memory, made_snapshot({}), row_order::bytes, 0).rest.places == 0);
}

TEST_CASE("report_rows: in a difference a large loss is as large as a large gain") {
    arena memory;
    allocscope_tests::info_text about;
    about.is_difference = true;
    const auto minus = [](std::uint64_t number) { return std::uint64_t{0} - number; };
    const snapshot rows =
        made_snapshot({made_row(9, 10, "a.cpp", 1, "a"), made_row(8, minus(90), "a.cpp", 1, "b"),
                       made_row(7, 50, "a.cpp", 1, "c")},
                      about);
    const row_selection top = select_rows(memory, rows, row_order::bytes, 1);
    CHECK(types_of(top) == "b");
    CHECK(top.byte_magnitude == 150);
    CHECK(top.rest.byte_magnitude == 60);
    CHECK(types_of(select_rows(memory, rows, row_order::bytes, 3)) == "bca");
}
