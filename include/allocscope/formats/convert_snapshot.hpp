// convert_snapshot.hpp - converts a saved snapshot to another format with little memory.
//
// Room:     formats (floor 11), not malloc-safe
// Called:   by the command-line program
// Threads:  any
// Memory:   the file and what its rows take; the formats get stacks one after the other, so that
//           the frames of all of them are never there at once
//
//     if (!convert_snapshot("heap.allocscope", "heap.pb.gz", error)) complain(error);
//
// The result is the same to the byte as that of load_snapshot() and write().

#ifndef ALLOCSCOPE_FORMATS_CONVERT_SNAPSHOT_HPP
#define ALLOCSCOPE_FORMATS_CONVERT_SNAPSHOT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/format_list.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/saved/load_snapshot.hpp>
#include <allocscope/saved/saved_records.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t
#include <string>   // string

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The functions of a stack_source for the parts of a file.
struct saved_stack_source {
    static const loaded_parts& parts_of(const void* of) noexcept {
        return *static_cast<const loaded_parts*>(of);
    }

    static void for_each(const void* of, void* visitor, stack_source::visit work) {
        for_each_stack_of_file(parts_of(of),
                               [=](const snapshot::stack& stack) { work(visitor, stack); });
    }
    static void for_each_by_numbers(const void* of, void* visitor,
                                    stack_source::visit_numbers work) {
        const loaded_parts& parts = parts_of(of);
        for_each_stack_by_numbers(parts,
                                  [&](const snapshot::stack& stack, const numbered_frames& frames) {
                                      work(visitor, stack, frames);
                                  });
    }
    static frame_span frames(const void* of, std::size_t number, arena& memory) {
        const loaded_parts& parts = parts_of(of);
        return framed(parts, parts.stacks[frames_number_of(parts, number)], memory);
    }
    static frame_span frames_of_row(const void* of, std::size_t number, arena& memory) {
        const loaded_parts& parts = parts_of(of);
        return framed(parts, parts.stacks[parts.stack_of_row[number]], memory);
    }
    static row_frames frames_of_row_by_numbers(const void* of, std::size_t number, arena& memory) {
        const loaded_parts& parts = parts_of(of);
        list<std::uint32_t> numbers{memory};
        return {numbered_frames_of(parts, parts.stack_of_row[number], numbers),
                parts.user_frame_of_row[number]};
    }
    static const snapshot::frame* frame_at(const void* of, std::size_t number, std::size_t depth,
                                           bool is_from_main) {
        const loaded_parts& parts = parts_of(of);
        const saved_stack& stack = parts.stacks[frames_number_of(parts, number)];
        if (depth >= stack.frame_count) return nullptr;
        std::size_t before = is_from_main ? stack.frame_count - 1 - depth : depth;
        saved_fields frames{stack.frame_numbers};
        while (before-- != 0) frames.number();
        return &parts.frames[frames.index(parts.frames.size())];
    }
    static stack_numbers numbers(const void* of, std::size_t number) {
        const loaded_parts& parts = parts_of(of);
        snapshot::stack stack{};
        read_stack_of(parts, parts.sums[number], stack);
        return numbers_of(stack);
    }

private:
    static std::size_t frames_number_of(const loaded_parts& parts, std::size_t number) noexcept {
        return saved_fields{parts.sums[number].record}.index(parts.stacks.size());
    }
    static frame_span framed(const loaded_parts& parts, const saved_stack& stack, arena& memory) {
        return {detail::frames_of(parts, stack, memory), stack.frame_count};
    }
};

// Rows are asked for by their numbers in the file.
inline bool can_be_source(const loaded_parts& parts) noexcept {
    return parts.has_stacks && parts.are_rows_in_order;
}

inline stack_source source_of(const loaded_parts& parts) noexcept {
    return {&parts,
            &saved_stack_source::for_each,
            &saved_stack_source::for_each_by_numbers,
            &saved_stack_source::frames,
            &saved_stack_source::frames_of_row,
            &saved_stack_source::frames_of_row_by_numbers,
            &saved_stack_source::frame_at,
            &saved_stack_source::numbers,
            parts.sums.size(),
            parts.modules.data(),
            parts.modules.size(),
            parts.threads.data(),
            parts.threads.size()};
}

}  // namespace detail

// Converts to the format that the ending of `to` names. Returns false, with the reason in `error`,
// if `from` could not be read or `to` could not be written.
inline bool convert_snapshot(const char* from, const char* to, std::string& error) {
    const detail::file_format* format = detail::format_of_path(to, error);
    if (format == nullptr) return false;
    snapshot rows;
    const detail::loaded_parts* parts = nullptr;
    detail::wanted_parts wanted;
    wanted.framed_rows = 0;
    wanted.has_stacks = format->reads != detail::format_reads::rows;
    if (!detail::load_snapshot(from, rows, error, wanted, &parts)) return false;
    const detail::stack_source source = detail::source_of(*parts);
    const bool is_streamed = wanted.has_stacks && detail::can_be_source(*parts);
    return detail::try_write(format->body, rows, to, error, stack_value::live_bytes,
                             is_streamed ? &source : nullptr);
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_FORMATS_CONVERT_SNAPSHOT_HPP
