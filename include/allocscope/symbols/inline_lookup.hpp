// inline_lookup.hpp - finds the calls that were inlined at an address, innermost first.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp and nearby_lines.hpp
// Threads:  one
// Memory:   60 bytes or more for each inlined call of a function that was asked about
//
// Below a function's entry, inlined calls are nested as in the source:
//
//     function fill               [1000, 1080)
//       inlined reserve           [1010, 1060)   called at example.cpp:12
//         inlined allocate        [1020, 1030)   called at vector.tcc:80
//
// 0x1024 is in allocate, which is called by reserve, which is called by fill. Compilers split calls
// into pieces that may overlap a little; then the narrowest piece decides. The entries of a
// function are read once, because a function with a thousand calls is asked about a thousand times.

#ifndef ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_forms.hpp>
#include <allocscope/binary/dwarf_ranges.hpp>
#include <allocscope/binary/dwarf_units.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/debug_units.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint16_t, uint32_t, uint64_t, UINT32_MAX

ALLOCSCOPE_WARM_BEGIN

namespace symbolize {

struct inlined_call {
    std::uint64_t entry = 0;  // the function that was inlined
    std::uint32_t call_file = 0;
    std::uint32_t call_line = 0;
    std::uint32_t call_column = 0;
    std::uint32_t parent = 0;  // the number of the call around it + 1; 0: the function itself
};

// No number in a valid file is larger.
inline std::uint32_t in_32_bits(std::uint64_t number) noexcept {
    return number < UINT32_MAX ? static_cast<std::uint32_t>(number) : UINT32_MAX;
}

ALLOCSCOPE_INLINE void take(inlined_call& call, detail::dwarf_extent& extent,
                            const detail::dwarf_unit& unit, std::uint16_t name,
                            const detail::dwarf_value& value) noexcept {
    switch (name) {
        case detail::dwarf::at_call_file:
            call.call_file = in_32_bits(value.number);
            break;
        case detail::dwarf::at_call_line:
            call.call_line = in_32_bits(value.number);
            break;
        case detail::dwarf::at_call_column:
            call.call_column = in_32_bits(value.number);
            break;
        case detail::dwarf::at_abstract_origin: {
            const std::uint64_t origin = detail::dwarf_reference(unit, value);
            if (origin != 0) call.entry = origin;
            break;
        }
        default:
            extent.take(name, value);
            break;
    }
}

// All inlined calls of one function.
class inlined_calls {
public:
    // `function` is the offset of the function's entry. Temporary lists lie in `scratch`, which the
    // caller has borrowed.
    inlined_calls(const debug_units& units, const debug_unit& unit, std::uint64_t function,
                  arena& scratch);

    // The number + 1 of the innermost call at an address; 0: none. Its `parent` is the call around
    // it.
    std::size_t innermost_at(std::uint64_t address) const noexcept;

    // The first address at or after `least` that belongs to the call with number - 1.
    ALLOCSCOPE_PURE std::uint64_t begin_of(std::size_t number, std::uint64_t least) const noexcept;

    const inlined_call& operator[](std::size_t number) const noexcept { return calls_[number]; }
    ALLOCSCOPE_INLINE std::size_t size() const noexcept { return calls_.size(); }

private:
    struct open_call {
        std::int64_t depth;
        std::size_t number;
    };

    void read(const debug_units& units, const debug_unit& unit, entry_walker& walker,
              list<open_call>& open);
    // Returns whether the call has code. If it has none, no address is in a call inside it, and
    // nobody asks for one; the call itself may tell a type.
    bool add(const debug_units& units, const debug_unit& unit, entry_walker& walker,
             std::size_t parent, step_budget& budget);

    list<inlined_call> calls_;
    address_ranges pieces_;  // value: the call's number
};

ALLOCSCOPE_NOINLINE inlined_calls::inlined_calls(const debug_units& units, const debug_unit& unit,
                                                 std::uint64_t function, arena& scratch)
    : calls_(scratch), pieces_(scratch) {
    list<open_call> open{scratch};
    entry_walker walker = unit.walk(function);
    if (walker.begin() && walker.shape()->has_children) read(units, unit, walker, open);
    calls_.move_to(units.memory());
    pieces_.finish_in(units.memory());
}

ALLOCSCOPE_NOINLINE void inlined_calls::read(const debug_units& units, const debug_unit& unit,
                                             entry_walker& walker, list<open_call>& open) {
    step_budget budget{units.fresh_budget()};
    std::int64_t skipped_below = 0;  // 0: nothing is skipped
    while (walker.next() && walker.depth() > 0) {
        const abbreviation* shape = walker.shape();
        if (shape == nullptr) {
            const std::int64_t closed = walker.depth() - 1;
            if (closed <= 0) return;
            if (skipped_below == closed) skipped_below = 0;
            while (!open.empty() && open.back().depth >= closed) open.pop_back();
            continue;
        }
        if (skipped_below != 0) continue;
        const bool is_call = shape->tag == detail::dwarf::tag_inlined_subroutine;
        bool has_code = shape->tag == detail::dwarf::tag_lexical_block;
        if (is_call) {
            const std::size_t parent = open.empty() ? 0 : open.back().number;
            has_code = add(units, unit, walker, parent, budget);
        }
        if (!shape->has_children) continue;
        if (has_code && is_call) open.push_back(open_call{walker.depth(), calls_.size()});
        if (!has_code && !walker.skip_to_sibling()) skipped_below = walker.depth();
    }
}

ALLOCSCOPE_NOINLINE bool inlined_calls::add(const debug_units& units, const debug_unit& unit,
                                            entry_walker& walker, std::size_t parent,
                                            step_budget& budget) {
    inlined_call call;
    call.entry = walker.offset();
    call.parent = static_cast<std::uint32_t>(parent);
    detail::dwarf_extent extent;
    detail::dwarf_value value;
    std::uint16_t name = 0;
    if (const std::uint8_t* at = walker.fixed_values()) {
        const entry_attribute* attribute = walker.attributes();
        for (std::uint32_t left = walker.shape()->attribute_count; left != 0; --left, ++attribute) {
            value.form = attribute->form;
            value.number = fixed_value(*attribute, at);
            at += attribute->bytes;
            take(call, extent, unit.header, attribute->name, value);
        }
    } else {
        while (walker.next_value_inline(name, value)) {
            take(call, extent, unit.header, name, value);
        }
    }
    const std::size_t before = pieces_.all().size();
    units.add_extent(pieces_, unit.header, extent, calls_.size(), budget);
    calls_.push_back(call);
    return pieces_.all().size() != before;
}

ALLOCSCOPE_NOINLINE std::uint64_t inlined_calls::begin_of(std::size_t number,
                                                          std::uint64_t least) const noexcept {
    for (const address_range& piece : pieces_.all()) {
        if (piece.value + 1 == number && piece.low >= least) return piece.low;
    }
    return least;
}

// A call counts only if all calls around it also hold the address.
ALLOCSCOPE_NOINLINE std::size_t inlined_calls::innermost_at(std::uint64_t address) const noexcept {
    constexpr std::size_t most_calls = 256;
    struct {
        std::size_t number;  // of the call + 1
        std::uint64_t width;
    } found[most_calls];
    std::size_t count = 0;
    address_ranges::walk at = pieces_.walk_to(address);
    while (const address_range* piece = pieces_.next(at)) {
        const std::size_t number = piece->value + 1;
        std::size_t place = count;  // sorted by number: outer calls come before inner ones
        while (place > 0 && found[place - 1].number > number) --place;
        if (place > 0 && found[place - 1].number == number) {
            if (piece->width() < found[place - 1].width) found[place - 1].width = piece->width();
            continue;
        }
        if (count == most_calls) break;
        for (std::size_t i = count++; i > place; --i) found[i] = found[i - 1];
        found[place] = {number, piece->width()};
    }
    std::size_t entered = 0;  // how many calls count so far; they are moved to the front
    std::size_t best = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t parent = calls_[found[i].number - 1].parent;
        std::size_t outer = entered;
        while (outer > 0 && found[outer - 1].number != parent) --outer;
        if (parent != 0 && outer == 0) continue;
        found[entered] = found[i];
        if (found[entered].width <= found[best].width) best = entered;
        ++entered;
    }
    return entered == 0 ? 0 : found[best].number;
}

}  // namespace symbolize

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP
