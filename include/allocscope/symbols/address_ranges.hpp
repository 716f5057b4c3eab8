// address_ranges.hpp - many address ranges, each with a number; finds those that hold an address.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by the indexes of symbols, units, functions, inlined calls and lines
// Threads:  one
// Memory:   32 bytes for each range, in the given arena
//
// Ranges are sorted by their low end. Each knows its `outer`: the nearest earlier range that
// reaches into it. So a search skips the ranges between the two; a large function has thousands of
// these.
//
//     1  [1000 ...................... 2000)
//     2       [1100 .. 1200)                       outer: 1
//     3                     [1300 .. 1400)         outer: 1
// A search for 1350 starts at the last range with low <= 1350, which is 3, and goes on to its
// outer, which is 1.

#ifndef ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP
#define ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_MILD_BEGIN

namespace symbolize {

struct address_range {
    std::uint64_t low;
    std::uint64_t high;  // exclusive
    std::uint64_t value;
    std::uint64_t outer;  // the number of the outer range + 1; 0: none. Set by finish()

    ALLOCSCOPE_INLINE std::uint64_t width() const noexcept { return high - low; }
};

class address_ranges {
public:
    address_ranges() noexcept = default;  // always empty
    explicit address_ranges(arena& memory) noexcept : ranges_(memory) {}

    void add(std::uint64_t low, std::uint64_t high, std::uint64_t value);

    // Call it once, after the last add() and before the first search.
    void finish();
    // The same, and moves the ranges to `kept`, because they were collected in borrowed memory.
    void finish_in(arena& kept);

    // A loop over all ranges that hold an address; it starts with the one that begins last.
    struct walk {
        std::uint64_t address;
        std::size_t next;
        int steps;
    };
    walk walk_to(std::uint64_t address) const noexcept;  // one thread at a time
    const address_range* next(walk& at) const noexcept;  // null: there are no more

    // The narrowest range that holds the address. Among equal ranges it is the one added first,
    // because the linker keeps the first of several copies of a function and gives the others its
    // address. Null: none.
    const address_range* find(std::uint64_t address) const noexcept;

    ALLOCSCOPE_INLINE bool empty() const noexcept { return ranges_.empty(); }
    ALLOCSCOPE_INLINE const list<address_range>& all() const noexcept { return ranges_; }

private:
    void sort_in(arena& scratch);

    // Real ranges are nested a few levels deep. The limit ends a search in a file that was made to
    // slow us down.
    static constexpr int most_steps = 4096;

    list<address_range> ranges_;
    mutable std::size_t found_last_ = 0;  // an answer of partition_point_near()
    bool is_sorted_ = true;
};

ALLOCSCOPE_NOINLINE void address_ranges::add(std::uint64_t low, std::uint64_t high,
                                             std::uint64_t value) {
    if (low >= high) return;
    if (!ranges_.empty() && low < ranges_.back().low) is_sorted_ = false;
    ranges_.push_back(address_range{low, high, value, 0});
}

ALLOCSCOPE_NOINLINE void address_ranges::finish_in(arena& kept) {
    sort_in(ranges_.memory());
    ranges_.move_to(kept);
    finish();
}

ALLOCSCOPE_NOINLINE void address_ranges::sort_in(arena& scratch) {
    if (is_sorted_) return;
    sort(
        ranges_.data(), ranges_.size(),
        [](const address_range& a, const address_range& b) { return a.low < b.low; }, scratch);
    is_sorted_ = true;
}

ALLOCSCOPE_NOINLINE void address_ranges::finish() {
    if (!is_sorted_) {
        arena scratch;
        sort_in(scratch);
    }
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
        // A range that ends before this one begins does not reach into later ones either.
        std::size_t before = i;
        while (before != 0 && ranges_[before - 1].high <= ranges_[i].low) {
            before = ranges_[before - 1].outer;
        }
        ranges_[i].outer = before;
    }
}

ALLOCSCOPE_NOINLINE address_ranges::walk address_ranges::walk_to(
    std::uint64_t address) const noexcept {
    const std::size_t behind =
        partition_point_near(found_last_, ranges_.data(), ranges_.size(),
                             [&](const address_range& range) { return range.low <= address; });
    return walk{address, behind, 0};
}

ALLOCSCOPE_NOINLINE const address_range* address_ranges::next(walk& at) const noexcept {
    while (at.next > 0 && at.steps < most_steps) {
        ++at.steps;
        const address_range& range = ranges_[at.next - 1];
        at.next = range.outer;
        if (range.high > at.address) return &range;
    }
    at.next = 0;
    return nullptr;
}

ALLOCSCOPE_NOINLINE const address_range* address_ranges::find(
    std::uint64_t address) const noexcept {
    walk at = walk_to(address);
    const address_range* best = nullptr;
    while (const address_range* range = next(at)) {
        if (best == nullptr || range->width() <= best->width()) best = range;
    }
    return best;
}

}  // namespace symbolize

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_SYMBOLS_ADDRESS_RANGES_HPP
