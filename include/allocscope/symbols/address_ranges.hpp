// address_ranges.hpp - many address ranges, each with a number; which of them hold an address?
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by the indexes of symbols, units, functions and lines
// Threads:  one
// Memory:   a vector, 32 bytes a range
//
// Ranges are sorted by their low end, and each remembers the highest end of all before and
// including itself, so that a search walking back knows when to stop although ranges may nest.
//
//     low        [1000 ...................... 2000)          highest 2000
//                     [1100 .. 1200)                         highest 2000
//                                   [1300 .. 1400)           highest 2000   <- search for 1250
//     1250: starts at the last low <= 1250, walks back, finds the first range, and stops there.

#ifndef ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP
#define ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP

#include <allocscope/config.hpp>

#include <algorithm>  // stable_sort
#include <cstddef>    // size_t
#include <cstdint>    // uint64_t
#include <vector>     // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct address_range {
    std::uint64_t low = 0;
    std::uint64_t high = 0;  // exclusive
    std::uint64_t value = 0;
    std::uint64_t highest = 0;  // set by finish()
};

class address_ranges {
public:
    void add(std::uint64_t low, std::uint64_t high, std::uint64_t value) {
        if (low < high) ranges_.push_back(address_range{low, high, value, 0});
    }

    // To be called once, after the last add() and before the first search.
    void finish() {
        std::stable_sort(
            ranges_.begin(), ranges_.end(),
            [](const address_range& a, const address_range& b) { return a.low < b.low; });
        std::uint64_t highest = 0;
        for (address_range& range : ranges_) {
            highest = std::max(highest, range.high);
            range.highest = highest;
        }
    }

    // The narrowest range that holds the address; among equals the one added last. Null: none.
    const address_range* find(std::uint64_t address) const {
        std::size_t first = 0;
        std::size_t last = ranges_.size();
        while (first < last) {  // the first range that begins after the address
            const std::size_t middle = first + (last - first) / 2;
            if (ranges_[middle].low <= address) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        const address_range* best = nullptr;
        for (int steps = 0; first > 0 && steps < most_steps; ++steps) {
            const address_range& range = ranges_[--first];
            if (range.highest <= address) break;
            if (range.high <= address) continue;
            if (best == nullptr || range.high - range.low < best->high - best->low) best = &range;
        }
        return best;
    }

    bool empty() const { return ranges_.empty(); }
    std::size_t size() const { return ranges_.size(); }

private:
    // Honest ranges nest a few deep; a file made to slow us down stops being searched here.
    static constexpr int most_steps = 4096;

    std::vector<address_range> ranges_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP
