// saved_stack_source.hpp - the stacks of a file as a source, read from its records when asked for.
//
// Room:     saved (floor 11), not malloc-safe
// Called:   by formats/convert_snapshot.hpp and the command-line program
// Threads:  any
// Memory:   the caller passes it; the parts must outlive the source
//
//     if (can_be_source(*parts)) source = source_of(*parts);

#ifndef ALLOCSCOPE_SAVED_SAVED_STACK_SOURCE_HPP
#define ALLOCSCOPE_SAVED_SAVED_STACK_SOURCE_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/saved/saved_records.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct saved_stack_source {
    static const loaded_parts& parts_of(const void* of) noexcept {
        return *static_cast<const loaded_parts*>(of);
    }

    static snapshot::stack stack(const void* of, std::size_t number) {
        const loaded_parts& parts = parts_of(of);
        snapshot::stack read{};
        read_stack(parts, number, read);
        return read;
    }
    static numbered_frames frames(const void* of, std::size_t number, arena& memory) {
        const loaded_parts& parts = parts_of(of);
        return numbered_frames_of(parts, parts.sums[number].stack, memory);
    }
    static row_frames frames_of_row(const void* of, std::size_t number, arena& memory) {
        const loaded_parts& parts = parts_of(of);
        return {numbered_frames_of(parts, parts.stack_of_row[number], memory),
                parts.user_frame_of_row[number]};
    }
    static const snapshot::frame* frame_at(const void* of, std::size_t number, std::size_t depth,
                                           bool is_from_main) {
        const loaded_parts& parts = parts_of(of);
        const saved_stack& stack = parts.stacks[parts.sums[number].stack];
        if (depth >= stack.frame_count) return nullptr;
        std::size_t before = is_from_main ? stack.frame_count - 1 - depth : depth;
        saved_fields frames = stack.numbers();
        while (before-- != 0) frames.number();
        return &parts.frames[frames.number_below(parts.frames.size())];
    }
    // The frames of a stack may lie anywhere. In three steps this fetches the saved_stack, then the
    // numbers of its frames, and then the innermost frame: it is the one that no earlier stack had.
    static void expect(const void* of, std::size_t number) noexcept {
        const loaded_parts& parts = parts_of(of);
        if (number + 3 * step_ahead >= parts.sums.size()) return;
        const auto stack_ahead = [&](std::size_t steps) -> const saved_stack& {
            return parts.stacks[parts.sums[number + steps * step_ahead].stack];
        };
        __builtin_prefetch(&stack_ahead(3));
        __builtin_prefetch(stack_ahead(2).frame_numbers);
        const saved_stack& next = stack_ahead(1);
        if (next.frame_count == 0) return;
        saved_fields numbers = next.numbers();
        const snapshot::frame& frame = parts.frames[numbers.number_below(parts.frames.size())];
        __builtin_prefetch(&frame);
        __builtin_prefetch(&frame.offset);
    }

private:
    static constexpr std::size_t step_ahead = 6;
};

// A source finds rows by their numbers in the file, so the file must have them in order.
inline bool can_be_source(const loaded_parts& parts) noexcept {
    return parts.has_stacks && parts.are_rows_in_order;
}

inline stack_source source_of(const loaded_parts& parts) noexcept {
    return {&parts,
            &saved_stack_source::stack,
            &saved_stack_source::frames,
            &saved_stack_source::frames_of_row,
            &saved_stack_source::frame_at,
            &saved_stack_source::expect,
            parts.sums.size(),
            parts.modules.data(),
            parts.modules.size(),
            parts.threads.data(),
            parts.threads.size(),
            parts.rows_left_out,
            parts.frames.size()};
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SAVED_SAVED_STACK_SOURCE_HPP
