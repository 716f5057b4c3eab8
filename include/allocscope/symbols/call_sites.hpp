// call_sites.hpp - which function each call means in the source, whatever the machine code calls.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/folded_functions.hpp
// Threads:  one
// Memory:   16 bytes for each direct call of a function that was asked about
//
// The machine code does not say it: the linker keeps one of several functions with equal code, and
// the calls of all of them go to that one.

#ifndef ALLOCSCOPE_SYMBOLS_CALL_SITES_HPP
#define ALLOCSCOPE_SYMBOLS_CALL_SITES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_forms.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/debug_units.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint16_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class call_sites {
public:
    // `function` is the offset of the entry of the function that makes the calls.
    call_sites(const debug_units& units, const debug_unit& unit, std::uint64_t function);

    // The entry of the function that the call before a return address means; 0: unknown. If the
    // call is made by a jump, the return address is the address after the jump.
    std::uint64_t called_before(std::uint64_t return_address) const noexcept;

    struct site {
        std::uint64_t behind;  // the address after the call; first, for count_below()
        std::uint64_t called;  // the entry of the function
    };
    // Whether the function is described as ending with a call that is a jump.
    ALLOCSCOPE_INLINE bool has_jump() const noexcept { return jump_count_ != 0; }
    // The only such jump; zeros if there are several, or none.
    site only_jump() const noexcept { return jump_count_ == 1 ? jump_ : site{0, 0}; }

    // Whether nothing is known about any call, as without optimisation.
    ALLOCSCOPE_INLINE bool is_empty() const noexcept { return sites_.empty(); }

private:
    // Sets `is_jump` if the function does not come back from the call.
    static site read_site(const debug_units& units, const debug_unit& unit, entry_walker& walker,
                          bool& is_jump);

    list<site> sites_;
    site jump_{0, 0};
    std::size_t jump_count_ = 0;
};

ALLOCSCOPE_NOINLINE call_sites::call_sites(const debug_units& units, const debug_unit& unit,
                                           std::uint64_t function)
    : sites_(units.memory()) {
    entry_walker walker{units.sections(), unit.header, *unit.abbreviations, function};
    if (!walker.next() || walker.shape() == nullptr || !walker.shape()->has_children) return;
    std::int64_t skipped_below = 0;  // 0: nothing is skipped
    while (walker.next() && walker.depth() > 0) {
        const abbreviation* shape = walker.shape();
        if (shape == nullptr) {
            const std::int64_t closed = walker.depth() - 1;
            if (closed <= 0) break;
            if (skipped_below == closed) skipped_below = 0;
            continue;
        }
        if (skipped_below != 0) continue;
        const std::uint16_t tag = shape->tag;
        if (tag == detail::dwarf::tag_call_site || tag == detail::dwarf::tag_gnu_call_site) {
            bool is_jump = false;
            const site found = read_site(units, unit, walker, is_jump);
            if (is_jump) jump_ = found;
            jump_count_ += is_jump ? 1U : 0U;
            if (found.behind != 0 && found.called != 0) sites_.push_back(found);
        }
        const bool is_of_function =
            tag == detail::dwarf::tag_inlined_subroutine || tag == detail::dwarf::tag_lexical_block;
        if (shape->has_children && !is_of_function) skipped_below = walker.depth();
    }
    sort(sites_, [](const site& a, const site& b) { return a.behind < b.behind; });
}

ALLOCSCOPE_NOINLINE call_sites::site call_sites::read_site(const debug_units& units,
                                                           const debug_unit& unit,
                                                           entry_walker& walker, bool& is_jump) {
    constexpr std::uint64_t jump_bytes = 5;
    site found{0, 0};
    std::uint16_t name = 0;
    detail::dwarf_value value;
    while (walker.next_value(name, value)) {
        const bool is_return = name == detail::dwarf::at_call_return_pc;
        if (is_return || name == detail::dwarf::at_low_pc || name == detail::dwarf::at_call_pc) {
            std::uint64_t address = 0;
            if (!detail::dwarf_address(units.sections(), unit.header, value, address)) continue;
            const bool is_before = name == detail::dwarf::at_call_pc;  // clang, for a jump
            if (!is_before || found.behind == 0) {
                found.behind = is_before ? address + jump_bytes : address;
            }
        } else if (name == detail::dwarf::at_call_origin ||
                   name == detail::dwarf::at_abstract_origin) {
            found.called = detail::dwarf_reference(unit.header, value);
        } else if (name == detail::dwarf::at_call_tail_call ||
                   name == detail::dwarf::at_gnu_tail_call) {
            is_jump = true;
        }
    }
    return found;
}

ALLOCSCOPE_NOINLINE std::uint64_t call_sites::called_before(
    std::uint64_t return_address) const noexcept {
    const std::size_t at = count_below(sites_, return_address);
    return at < sites_.size() && sites_[at].behind == return_address ? sites_[at].called : 0;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_CALL_SITES_HPP
