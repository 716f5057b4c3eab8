// place_sums.hpp - what was allocated at each place: the rows, and the places where all is gone.
//
// Room:     report (floor 9), not malloc-safe
// Called:   by report/json_report.hpp and formats/csv_format.hpp
// Threads:  any; the snapshot must outlive the sums
// Memory:   a line for each place, in the arena that is given
//
//     const place_sums places{memory, rows};
//     for (const place& each : places) ...
//     each.row          // as snapshot::row; zero objects where everything was freed
//     each.allocations  // since the window began; 0 when the snapshot knows no stacks
//
// A row knows what is alive. How much was ever allocated at its place is the sum over the stacks of
// the same file, line and type.

#ifndef ALLOCSCOPE_REPORT_PLACE_SUMS_HPP
#define ALLOCSCOPE_REPORT_PLACE_SUMS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

struct place {
    snapshot::row row;
    std::uint64_t allocations;
    std::uint64_t bytes_allocated;
    std::uint64_t most_allocations;   // of one stack: that one is shown where everything was freed
    snapshot::stack_details details;  // of a window that has them
};

struct place_key {
    std::uint32_t file, type;
    int line;
    std::uint64_t offset;  // counts only where there is no line
};

inline bool operator==(const place_key& a, const place_key& b) noexcept {
    return a.file == b.file && a.type == b.type && a.line == b.line && a.offset == b.offset;
}

inline std::uint64_t hash_of_key(const place_key& key) noexcept {
    std::uint64_t hash = hash_step(hash_seed, std::uint64_t{key.file} << 32U | key.type);
    hash = hash_step(hash, static_cast<std::uint64_t>(key.line));
    return hash_finish(hash_step(hash, key.offset));
}

class place_sums {
public:
    // The rows first, in their order, then the other places, in the order of their stacks.
    place_sums(arena& memory, const snapshot& rows)
        : texts_(memory), numbers_(memory), places_(memory), row_count_(rows.size()) {
        for (const snapshot::row& row : rows) {
            numbers_[key_of(row.file, row.line, row.offset, row.type)] = places_.size();
            places_.push_back({row, 0, 0, 0, {}});
        }
        for (const snapshot::stack& stack : rows.stacks()) add(stack);
    }

    const place* begin() const noexcept { return places_.begin(); }
    const place* end() const noexcept { return places_.end(); }
    // Behind the rows: the places where nothing is alive (in a difference: no more than before).
    const place* first_freed() const noexcept { return begin() + row_count_; }

private:
    place_key key_of(const char* file, int line, std::uint64_t offset, const char* type) {
        return {texts_.number_of(file), texts_.number_of(type), line, line == 0 ? offset : 0};
    }

    void add(const snapshot::stack& stack) {
        const auto known =
            numbers_.insert(key_of(stack.file, stack.line, stack.offset, stack.type));
        if (known.is_new) {
            known.value = places_.size();
            places_.push_back({{}, 0, 0, 0, {}});
        }
        place& here = places_[known.value];
        here.allocations += stack.allocations;
        here.bytes_allocated += stack.bytes_allocated;
        if (stack.details != nullptr) add_details(here.details, *stack.details);
        if (known.value < row_count_) return;
        // The stacks of such a place may cancel out in a difference.
        snapshot::row& row = here.row;
        row.objects += stack.objects;
        row.bytes += stack.bytes;
        row.samples += stack.samples;
        row.objects_low += stack.objects_low;
        row.objects_high += stack.objects_high;
        row.bytes_low += stack.bytes_low;
        row.bytes_high += stack.bytes_high;
        ++row.sites;
        if (row.frames != nullptr && stack.allocations <= here.most_allocations) return;
        here.most_allocations = stack.allocations;
        row.file = stack.file;
        row.line = stack.line;
        row.type = stack.type;
        row.type_source = stack.type_source;
        row.function = stack.function;
        row.offset = stack.offset;
        row.frames = stack.frames;
        row.frame_count = stack.frame_count;
        row.user_frame = stack.user_frame;
    }

    text_numbers texts_;
    table<place_key, std::size_t> numbers_;
    list<place> places_;
    std::size_t row_count_;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_REPORT_PLACE_SUMS_HPP
