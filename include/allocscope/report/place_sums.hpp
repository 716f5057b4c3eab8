// place_sums.hpp - what was allocated at each place, also where nothing is alive any more.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/json_report.hpp and formats/csv_format.hpp
// Threads:  any; the snapshot must outlive the sums
// Memory:   310 bytes for each place, in the arena that is passed in
//
//     const place_sums places{memory, shown_stacks{rows}};
//     for (const place& each : places) ...
//     each.row()        // as snapshot::row; zero objects if everything was freed
//     each.allocations  // since the window began; 0 when the snapshot knows no stacks
//     places.frames_of(each, stacks, scratch);
//
// A row knows only what is alive. What was ever allocated at its place is the sum over the stacks
// with the same file, line and type.

#ifndef ALLOCSCOPE_REPORT_PLACE_SUMS_HPP
#define ALLOCSCOPE_REPORT_PLACE_SUMS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/grouping/place_numbers.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

struct place {
    const snapshot::row& row() const noexcept { return sums.sum; }

    summed<snapshot::row> sums;
    std::uint64_t allocations;
    std::uint64_t bytes_allocated;
    std::uint64_t most_allocations;    // of one stack, which is shown if everything was freed
    std::size_t shown_stack;           // the number of this stack
    snapshot::stack_details* details;  // null unless the window has details
};

class place_sums {
public:
    // The rows come first, in their order; then the other places, in the order of their stacks.
    place_sums(arena& memory, const shown_stacks& stacks)
        : memory_(memory),
          numbers_(memory),
          places_(memory),
          row_count_(stacks.rows().size()),
          has_details_(stacks.rows().info().has_details) {
        places_.reserve(row_count_);
        for (const snapshot::row& row : stacks.rows()) {
            numbers_.meet(row);
            places_.push_back({{row, {}, {}}, 0, 0, 0, 0, nullptr});
        }
        std::size_t number = 0;
        stacks.for_each([&](const snapshot::stack& stack) { add(stack, number++); });
        for (std::size_t i = row_count_; i < places_.size(); ++i) places_[i].sums.finished();
    }

    const place* begin() const noexcept { return places_.begin(); }
    const place* end() const noexcept { return places_.end(); }
    // The frames of the row, or those of the stack that is shown for a place without a row.
    numbered_frames frames_of(const place& here, const shown_stacks& stacks, arena& scratch) const {
        const auto number = static_cast<std::size_t>(&here - begin());
        if (number < row_count_) return stacks.frames_of_row(number, scratch).frames;
        return stacks.frames(here.shown_stack, scratch);
    }
    // The first place after the rows: nothing is alive there (in a difference: no more than
    // before).
    const place* first_freed() const noexcept { return begin() + row_count_; }

private:
    void add(const snapshot::stack& stack, std::size_t number) {
        const auto at = numbers_.meet(stack);
        if (at.is_new) places_.push_back({});
        place& here = places_[at.number];
        here.allocations += stack.allocations;
        here.bytes_allocated += stack.bytes_allocated;
        if (stack.details != nullptr && has_details_) {
            if (here.details == nullptr) here.details = memory_.make<snapshot::stack_details>();
            here.details->add(*stack.details);
        }
        if (at.number < row_count_) return;
        // In a difference the stacks of such a place may cancel each other out.
        here.sums.add(stack, true);
        snapshot::row& row = here.sums.sum;
        if (row.sites++ != 0 && stack.allocations <= here.most_allocations) return;
        here.most_allocations = stack.allocations;
        here.shown_stack = number;
        describe_row(row, stack);
        row.frames = nullptr;  // frames_of() has them
    }

    arena& memory_;
    place_numbers numbers_;
    list<place> places_;
    std::size_t row_count_;
    bool has_details_;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_REPORT_PLACE_SUMS_HPP
