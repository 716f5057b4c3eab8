// inline_lookup.hpp - the calls that were inlined at an address, innermost first.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp
// Threads:  one
// Memory:   none beyond the answer
//
// Inside a function's entry, inlined calls nest as they did in the source:
//
//     function fill               [1000, 1080)
//       inlined reserve           [1010, 1060)   called at example.cpp:12
//         inlined allocate        [1020, 1030)   called at vector.tcc:80
//
// 0x1024 is in allocate, called by reserve, called by fill. Compilers cut calls in pieces that may
// overlap a little; then the narrowest piece decides.

#ifndef ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP
#define ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP

#include <allocscope/binary/dwarf_constants.hpp>
#include <allocscope/binary/dwarf_ranges.hpp>
#include <allocscope/config.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/debug_entries.hpp>
#include <allocscope/symbols/debug_units.hpp>

#include <algorithm>  // reverse
#include <cstddef>    // size_t
#include <cstdint>    // int64_t, uint64_t
#include <vector>     // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct inlined_call {
    std::uint64_t entry = 0;  // of the inlined copy
    std::uint64_t call_file = 0;
    std::uint64_t call_line = 0;
    std::uint64_t call_column = 0;
};

struct inlined_chain {
    std::uint64_t function = 0;       // the entry of the function that really was called; 0: none
    std::vector<inlined_call> calls;  // outermost first
};

class inline_search {
public:
    inline_search(const debug_units& units, const debug_unit& unit, std::uint64_t address)
        : units_(units), unit_(unit), address_(address), budget_{units.fresh_budget()} {}

    inlined_chain run() {
        inlined_chain chain;
        const address_range* function = unit_.functions.find(address_);
        if (function == nullptr) return chain;
        chain.function = function->value;
        walk(function->value);
        for (std::size_t i = best_; i != 0 && chain.calls.size() < most_calls;) {
            const candidate& call = candidates_[i - 1];
            chain.calls.push_back(call.call);
            i = call.parent;
        }
        std::reverse(chain.calls.begin(), chain.calls.end());
        return chain;
    }

private:
    static constexpr std::size_t most_calls = 256;

    // One inlined call around the address. Numbers are positions + 1; 0: none.
    struct candidate {
        inlined_call call;
        std::int64_t depth = 0;
        std::size_t parent = 0;
        std::uint64_t width = 0;
    };

    void walk(std::uint64_t function) {
        entry_walker walker{units_.sections(), unit_.header, unit_.abbreviations, function};
        if (!walker.next() || walker.shape() == nullptr || !walker.shape()->has_children) return;
        std::size_t open = 0;            // the innermost call that the walk is inside of
        std::int64_t skipped_below = 0;  // 0: nothing is skipped
        while (walker.next() && walker.depth() > 0) {
            const abbreviation* shape = walker.shape();
            if (shape == nullptr) {
                const std::int64_t closed = walker.depth() - 1;
                if (closed <= 0) return;
                if (skipped_below == closed) skipped_below = 0;
                while (open != 0 && candidates_[open - 1].depth >= closed) {
                    open = candidates_[open - 1].parent;
                }
                continue;
            }
            if (skipped_below != 0) continue;
            bool is_entered = shape->tag == detail::dwarf::tag_lexical_block;
            if (shape->tag == detail::dwarf::tag_inlined_subroutine) {
                is_entered = take(walker, open);
                if (is_entered && shape->has_children) open = candidates_.size();
            }
            if (!is_entered && shape->has_children) skipped_below = walker.depth();
        }
    }

    // True when the entry's code holds the address: it is then the last candidate.
    bool take(entry_walker& walker, std::size_t parent) {
        detail::dwarf_extent extent;
        candidate found;
        found.call.entry = walker.offset();
        found.depth = walker.depth();
        found.parent = parent;
        walker.values([&](std::uint16_t name, const detail::dwarf_value& value) {
            extent.take(name, value);
            if (name == detail::dwarf::at_call_file) found.call.call_file = value.number;
            if (name == detail::dwarf::at_call_line) found.call.call_line = value.number;
            if (name == detail::dwarf::at_call_column) found.call.call_column = value.number;
        });
        detail::visit_dwarf_extent(units_.sections(), unit_.header, extent,
                                   [&](std::uint64_t low, std::uint64_t high) {
                                       if (address_ >= low && address_ < high) {
                                           const std::uint64_t width = high - low;
                                           if (found.width == 0 || width < found.width) {
                                               found.width = width;
                                           }
                                       }
                                       return budget_.take();
                                   });
        if (found.width == 0) return false;
        candidates_.push_back(found);
        if (best_ == 0 || found.width <= candidates_[best_ - 1].width) best_ = candidates_.size();
        return true;
    }

    const debug_units& units_;
    const debug_unit& unit_;
    const std::uint64_t address_;
    step_budget budget_;
    std::vector<candidate> candidates_;
    std::size_t best_ = 0;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_INLINE_LOOKUP_HPP
