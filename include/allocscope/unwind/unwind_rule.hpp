// unwind_rule.hpp - the few shapes that frames really have.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   made by cfi_to_rule.hpp, kept by rule_cache.hpp, followed by the walk
// Threads:  a plain value
// Memory:   8 bytes
//
// The unwind table of a program can describe anything. Compilers use one formula: where the
// caller's stack pointer was (the CFA, "canonical frame address"), as a distance from sp or bp. The
// return address lies just below it. The caller's bp lies at a fixed distance, or is still in the
// register.
//
//     CFA - 16   saved bp              bp_offset = -16, when restores_bp
//     CFA -  8   return address        always there
//     CFA        the caller's sp after the return
//
// A function that aligns its stack more strictly than its callers do (vector code) cannot count
// from either register. It saves where the caller's sp was, and that word is read: `realigned`.
// Some assembler functions do the same, but keep the word on their side of the stack and do not use
// rbp for it: `saved_sp`.
//
// A rule that is all zero is `unknown`. Code that follows a rule still checks the addresses that it
// leads to, because a table may be wrong, and so may sp or bp. A rule promises no more than its
// comment says.

#ifndef ALLOCSCOPE_UNWIND_UNWIND_RULE_HPP
#define ALLOCSCOPE_UNWIND_UNWIND_RULE_HPP

#include <allocscope/config.hpp>

#include <cstdint>  // int16_t, int32_t, uint8_t, uint64_t, uintptr_t
#include <cstring>  // memcpy

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

enum class rule_kind : std::uint8_t {
    unknown,        // nothing is known about code at this address: it is no return address
    frame_pointer,  // CFA = bp + 16, bp saved at CFA - 16
    from_sp,        // CFA = sp + cfa_offset; at least 8, a multiple of 8; bp not saved below sp
    from_bp,        // CFA = bp + cfa_offset, otherwise than in frame_pointer
    outermost,      // this frame has no caller
    unsupported,    // described in a way that is not followed here
    realigned,      // CFA = the word at bp + cfa_offset; bp saved at bp + bp_offset; multiples of 8
    no_table,       // no record covers this code, but the address follows a call
    saved_sp        // CFA = the word at sp + cfa_offset, plus 8; not below sp, a multiple of 8
};

// How long the knowledge about the code of a module stays true.
enum class module_life : std::uint8_t {
    permanent,    // the program, and what was loaded with it
    may_go,       // dlclose may unload it; its build id tells whether it is still the same
    cannot_tell,  // dlclose may unload it, and it has no build id
};

struct unwind_rule {
    rule_kind kind;
    bool restores_bp : 1;     // false: the caller's bp is still in the register
    module_life life : 2;     // of the module that the rule came from
    bool is_pair : 1;         // of a walked stack: the saved bp below was needed, too
    bool is_unoptimised : 1;  // the function was compiled without optimisation
    std::int16_t bp_offset;   // bytes from the CFA; -16 or less, a multiple of 8
    std::int32_t cfa_offset;  // bytes from sp or bp

    constexpr unwind_rule(rule_kind what = rule_kind::unknown, bool restores = false,
                          std::int16_t bp = 0, std::int32_t cfa = 0) noexcept
        : kind(what),
          restores_bp(restores),
          life(module_life::permanent),
          is_pair(false),
          is_unoptimised(false),
          bp_offset(bp),
          cfa_offset(cfa) {}

    // Whether both lead to the same caller, and a walk that is cut here goes on from both or from
    // none. Where the rules came from does not matter.
    bool leads_like(const unwind_rule& other) const noexcept {
        return kind == other.kind && restores_bp == other.restores_bp &&
               is_unoptimised == other.is_unoptimised && bp_offset == other.bp_offset &&
               cfa_offset == other.cfa_offset;
    }
};
static_assert(sizeof(unwind_rule) == 8, "a cache entry is an address and a rule: 16 bytes");

// A rule as one number, so that a walk takes one step with a few instructions:
//
//     | cfa_offset, 32 bits | bp_offset, 16 | 0, 3 |
//                      is_unoptimised | is_pair | life, 2 | restores_bp | kind, 8 |
using rule_word = std::uint64_t;

inline rule_word word_of(const unwind_rule& rule) noexcept {
    rule_word word;
    std::memcpy(&word, &rule, sizeof word);
    return word;
}
inline void set_rule(unwind_rule& rule, rule_word word) noexcept {
    std::memcpy(static_cast<void*>(&rule), &word, sizeof word);
}

// A word with these bits and no others in kind_and_life is obeyed by adding its offset to sp.
constexpr rule_word kind_and_life = 0x6ff;
constexpr rule_word step_by_sp = static_cast<rule_word>(rule_kind::from_sp);
constexpr rule_word no_step = ~rule_word{0};
constexpr rule_word pair_bit = 0x800;          // is_pair
constexpr rule_word unoptimised_bit = 0x1000;  // is_unoptimised

// Of a rule of kind from_sp.
constexpr std::uintptr_t offset_in(rule_word word) noexcept {
    return word >> 32U;
}

constexpr unwind_rule frame_pointer_rule{rule_kind::frame_pointer, true, -16, 16};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_UNWIND_UNWIND_RULE_HPP
