// cfi_rows.hpp - the rows of a function's unwind table, and the steps that most of them come from.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   by cfi_machine.hpp
// Threads:  a plain value
// Memory:   100 bytes, on the stack of the program
//
// A large function has an epilogue in many places, and each pop in it has a row. So hundreds of
// steps lead to the row of an address, and nearly all of them are one of these:
//
//     41          go on by 1 byte of code
//     02 ab       go on by 0xab bytes
//     0e 10       the CFA is 16 bytes from its base
//     0a, 0b      remember the row, go back to it
//     8c 03       another register than sp, rbp and the return address is saved
//
// take_usual_steps() takes these and nothing else: it stops at any other step, at one with a longer
// operand, and at the one that leads past the wanted row.

#ifndef ALLOCSCOPE_UNWIND_CFI_ROWS_HPP
#define ALLOCSCOPE_UNWIND_CFI_ROWS_HPP

#include <allocscope/base/compiler.hpp>

#include <cstdint>  // int16_t ... uint64_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// One row of the table: where sp, rbp and the return address of the caller are. It is small,
// because a machine has ten rows on the stack of the program.
struct cfi_row {
    // word_at_sp: the word there, plus 8
    enum class base : std::uint8_t { other, sp, bp, word_at_bp, word_at_sp };
    // at_bp: at an offset from the present bp, not from the CFA
    enum class place : std::uint8_t { unchanged, saved, undefined, other, at_bp };

    std::int32_t cfa_offset = 0;
    std::int16_t bp_offset = 0;
    base cfa_from : 3;
    place bp : 3;
    place return_address : 3;  // saved: at CFA - 8; anywhere else: `other`

    cfi_row() noexcept
        : cfa_from(base::other), bp(place::unchanged), return_address(place::unchanged) {}
};
static_assert(sizeof(cfi_row) == 8, "see above");

struct cfi_rows {
    static constexpr std::uint32_t most_kept = 8;

    cfi_row row;
    std::uint64_t location = 0;  // where the code of the row begins
    std::uint64_t wanted = 0;    // not below `location`
    std::uint32_t kept_count = 0;
    cfi_row kept[most_kept];
};

// Takes the usual steps of the program [at, end). Returns where the first other step begins. The
// factors of the function must be the usual ones, 1 and -8.
ALLOCSCOPE_NOINLINE const std::uint8_t* take_usual_steps(cfi_rows& rows, const std::uint8_t* at,
                                                         const std::uint8_t* end) noexcept {
    constexpr std::uint32_t watched = 1U << 6U | 1U << 7U | 1U << 16U;  // rbp, sp, return address
    std::uint64_t ahead = rows.wanted - rows.location;
    std::int32_t cfa_offset = rows.row.cfa_offset;
    while (at != end) {
        const std::uint32_t code = *at;
        if (const std::uint32_t distance = code - 0x40; distance < 0x40) {
            if (distance > ahead) break;
            ahead -= distance;
            at += 1;
            if (end - at < 2 || at[0] != 0x0e || at[1] >= 0x80) continue;
            cfa_offset = at[1];  // as in most rows
            at += 2;
            continue;
        }
        if (code == 0x0a) {
            if (rows.kept_count == cfi_rows::most_kept) break;
            rows.row.cfa_offset = cfa_offset;
            rows.kept[rows.kept_count++] = rows.row;
            at += 1;
            continue;
        }
        if (code == 0x0b) {
            if (rows.kept_count == 0) break;
            rows.row = rows.kept[--rows.kept_count];
            cfa_offset = rows.row.cfa_offset;
            at += 1;
            continue;
        }
        if (end - at < 2) break;
        const std::uint32_t operand = at[1];
        if (code == 0x02) {
            if (operand > ahead) break;
            ahead -= operand;
        } else if (operand >= 0x80) {
            break;
        } else if (code == 0x0e) {
            cfa_offset = static_cast<std::int32_t>(operand);
        } else if (code - 0x80 >= 32 || (watched >> (code - 0x80) & 1U) != 0) {
            break;
        }
        at += 2;
    }
    rows.row.cfa_offset = cfa_offset;
    rows.location = rows.wanted - ahead;
    return at;
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_UNWIND_CFI_ROWS_HPP
