// Danger: a step that is taken in the loop of the usual steps, although it is another one, gives
// the row of another address; a stack then goes wrong in the middle.

#include <allocscope/unwind/cfi_rows.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace allocscope::detail;

namespace {

cfi_rows rows_at(std::uint64_t location, std::uint64_t wanted) {
    cfi_rows rows;
    rows.location = location;
    rows.wanted = wanted;
    rows.row.cfa_offset = 8;
    return rows;
}

// How many bytes of the program it takes.
std::ptrdiff_t taken(cfi_rows& rows, const std::vector<std::uint8_t>& program) {
    return take_usual_steps(rows, program.data(), program.data() + program.size()) - program.data();
}

std::ptrdiff_t taken(const std::vector<std::uint8_t>& program) {
    cfi_rows rows = rows_at(100, 200);
    return taken(rows, program);
}

}  // namespace

TEST_CASE("cfi_rows: goes on up to the wanted row and not past it") {
    cfi_rows rows = rows_at(100, 105);
    CHECK(taken(rows, {0x41, 0x0e, 16, 0x02, 4, 0x0e, 24, 0x41, 0x0e, 32}) == 7);
    CHECK(rows.location == 105);
    CHECK(rows.row.cfa_offset == 24);
    rows = rows_at(100, 105);
    CHECK(taken(rows, {0x0e, 16, 0x02, 6, 0x0e, 24}) == 2);
    CHECK(rows.location == 100);
    CHECK(rows.row.cfa_offset == 16);
    rows = rows_at(0, ~std::uint64_t{0});
    CHECK(taken(rows, {0x7f, 0x02, 255, 0x0e, 127}) == 5);
    CHECK(rows.location == 63 + 255);
    CHECK(rows.row.cfa_offset == 127);
}

TEST_CASE("cfi_rows: goes back to rows that it remembered, with all that they hold") {
    cfi_rows rows = rows_at(100, 200);
    rows.row.bp = cfi_row::place::saved;
    rows.row.bp_offset = -16;
    CHECK(taken(rows, {0x0e, 16, 0x0a, 0x0e, 24, 0x0a, 0x0e, 32}) == 8);
    rows.row.bp = cfi_row::place::unchanged;
    CHECK(taken(rows, {0x0b}) == 1);
    CHECK(rows.row.cfa_offset == 24);
    CHECK((rows.row.bp == cfi_row::place::saved));
    CHECK(taken(rows, {0x0b, 0x0b}) == 1);  // there is no third
    CHECK(rows.row.cfa_offset == 16);
    CHECK(rows.row.bp_offset == -16);
    CHECK(taken(std::vector<std::uint8_t>(10, 0x0a)) == cfi_rows::most_kept);
}

TEST_CASE("cfi_rows: passes over registers that do not matter, and stops at those that do") {
    CHECK(taken({0x83, 2, 0x8c, 3, 0x8f, 0x7f}) == 6);
    CHECK(taken({0x83, 2, 0x86, 2}) == 2);
    CHECK(taken({0x83, 2, 0x87, 2}) == 2);
    CHECK(taken({0x83, 2, 0x90, 2}) == 2);
    CHECK(taken({0x83, 2, 0xa3, 2}) == 2);  // no register of this processor
}

TEST_CASE("cfi_rows: leaves every other step, and operands of more than a byte") {
    for (unsigned code = 0; code < 256; ++code) {
        const bool is_usual =
            code >> 6U == 1 || code == 0x02 || code == 0x0a || code == 0x0e ||
            (code >= 0x80 && code < 0xa0 && code != 0x86 && code != 0x87 && code != 0x90);
        CAPTURE(code);
        CHECK((taken({static_cast<std::uint8_t>(code), 1}) != 0) == is_usual);
    }
    CHECK(taken({0x0e, 0x80, 0x01}) == 0);
    CHECK(taken({0x83, 0x80, 0x01}) == 0);
    CHECK(taken({0x0e}) == 0);
    CHECK(taken({0x02}) == 0);
    CHECK(taken({0x83}) == 0);
    CHECK(taken({}) == 0);
}

TEST_CASE("cfi_rows: an offset right behind a distance is a usual step only if it is short") {
    CHECK(taken({0x41, 0x0e, 127}) == 3);
    CHECK(taken({0x41, 0x0e, 0x80, 0x01}) == 1);
    CHECK(taken({0x41, 0x0e}) == 1);  // it is cut off
    cfi_rows rows = rows_at(100, 200);
    CHECK(taken(rows, {0x0e, 16, 0x41, 0x0e, 127, 0x41, 0x0e, 0x80, 0x01}) == 6);
    CHECK(rows.row.cfa_offset == 127);
    CHECK(rows.location == 102);
}
