// place_numbers.hpp - numbers the places where stacks allocate: file, line and type.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by everything that sums stacks by place: grouping/group_by.hpp,
//           grouping/filter_stacks.hpp, report/place_sums.hpp
// Threads:  one at a time
// Memory:   of the arena that is passed in; the texts stay in the snapshot
//
//     place_numbers places{memory};
//     for (const snapshot::stack& stack : rows.stacks()) {
//         const auto here = places.meet(stack);
//         if (here.is_new) sums.push_back({});
//         add(sums[here.number], stack);
//     }
//
// If no line is known, the offset in the function or module replaces it. The place of a row is the
// place of its stacks.

#ifndef ALLOCSCOPE_GROUPING_PLACE_NUMBERS_HPP
#define ALLOCSCOPE_GROUPING_PLACE_NUMBERS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

struct place_key {
    std::uint32_t file, type;
    std::int64_t line;
    std::uint64_t offset;  // used only if there is no line
};

class place_numbers {
public:
    explicit place_numbers(arena& memory) : texts_(memory), numbers_(memory) {}

    struct place_number {
        std::size_t number;  // the first place is 0
        bool is_new;
    };

    // Takes a row or a stack.
    template <class Row>
    place_number meet(const Row& row) {
        const auto known = numbers_.insert({{texts_.number_of(row.file), texts_.number_of(row.type),
                                             row.line, row.line == 0 ? row.offset : 0}});
        if (known.is_new) known.value = numbers_.size() - 1;
        return {known.value, known.is_new};
    }

private:
    text_numbers texts_;
    table<by_bytes<place_key>, std::size_t> numbers_;
};

// Copies what a stack says about its place, and its frames, to a row; but not its numbers.
inline void describe_row(snapshot::row& row, const snapshot::stack& by) noexcept {
    row.file = by.file;
    row.line = by.line;
    row.type = by.type;
    row.type_source = by.type_source;
    row.function = by.function;
    row.offset = by.offset;
    row.frames = by.frames;
    row.frame_count = by.frame_count;
    row.user_frame = by.user_frame;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_GROUPING_PLACE_NUMBERS_HPP
