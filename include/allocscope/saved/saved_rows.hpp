// saved_rows.hpp - the rows of a file, or only those with most bytes.
//
// Room:     saved (floor 11), not malloc-safe
// Called:   by saved/load_snapshot.hpp
// Threads:  one
// Memory:   148 bytes for each row that is kept, in the block of the snapshot
//
//     saved_rows rows{parts, memory};
//     rows.keep_largest(50);      // or all of them are kept
//     rows.add(row, stack);       // in the order of the file
//     rows.end();
//
// A file may have a million rows; a page shows fifty of them, and most formats show none. A row
// that is not kept is checked and counted in the sums, but takes no memory.

#ifndef ALLOCSCOPE_SAVED_SAVED_ROWS_HPP
#define ALLOCSCOPE_SAVED_SAVED_ROWS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/platform/large_pages.hpp>
#include <allocscope/saved/saved_records.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

constexpr std::size_t every_row = ~std::size_t{0};

class saved_rows {
public:
    saved_rows(loaded_parts& parts, arena& memory) noexcept : parts_(parts), rows_(memory) {}

    void reserve(std::size_t rows) {
        rows_.reserve(rows);
        parts_.stack_of_row.reserve(rows);
        parts_.user_frame_of_row.reserve(rows);
        ask_for_large_pages(rows_.data(), rows * sizeof(snapshot::row));
    }

    // Keeps only `most` rows: those with the most bytes, in a difference those with the largest
    // change, and among equal ones the first. Has no effect after the first row.
    void keep_largest(std::size_t most) noexcept {
        if (count_ == 0) most_ = most;
    }

    void add(const snapshot::row& row, std::size_t stack) {
        is_in_order_ = is_in_order_ && comes_next(row);
        ++count_;
        objects_ += row.objects;
        bytes_ += row.bytes;
        if (most_ != every_row) {
            last_ = row;
            if (most_ == 0 || (has_chosen_ && size_of(row) <= least_)) return;
            if (rows_.size() == 2 * most_) choose();
        }
        rows_.push_back(row);
        parts_.stack_of_row.push_back(stack);
        parts_.user_frame_of_row.push_back(static_cast<std::uint32_t>(row.user_frame));
    }

    // Call it after the last row.
    void end() {
        if (rows_.size() > most_) choose();
        parts_.are_rows_in_order = is_in_order_;
        parts_.rows_left_out = count_ - rows_.size();
    }

    // The rows that are kept, without frames.
    list<snapshot::row>& kept() noexcept { return rows_; }
    // The sums of all rows, including those that are not kept.
    std::uint64_t objects() const noexcept { return objects_; }
    std::uint64_t bytes() const noexcept { return bytes_; }

private:
    // Whether the row follows the one before it in the order in which save() writes rows. The info
    // says which order that is.
    bool comes_next(const snapshot::row& row) const noexcept {
        if (!parts_.has_info) return false;
        if (count_ == 0) return true;
        const snapshot::row& before = most_ == every_row ? rows_.back() : last_;
        return !row_comes_before(row, before, parts_.info.is_difference);
    }
    std::uint64_t size_of(const snapshot::row& row) const noexcept {
        return size_of_change(row.bytes, parts_.info.is_difference);
    }

    // Forgets all but the `most_` largest.
    void choose() {
        arena scratch;
        list<std::uint64_t> sizes{scratch};
        sizes.reserve(rows_.size());
        for (const snapshot::row& row : rows_) sizes.push_back(size_of(row));
        sort(sizes, [](std::uint64_t a, std::uint64_t b) { return a > b; });
        least_ = sizes[most_ - 1];
        has_chosen_ = true;
        std::size_t equal = 0;  // how many rows of size least_ are kept
        while (equal < most_ && sizes[most_ - 1 - equal] == least_) ++equal;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const std::uint64_t size = size_of(rows_[i]);
            if (size < least_ || (size == least_ && equal == 0)) continue;
            if (size == least_) --equal;
            rows_[kept] = rows_[i];
            parts_.stack_of_row[kept] = parts_.stack_of_row[i];
            parts_.user_frame_of_row[kept++] = parts_.user_frame_of_row[i];
        }
        rows_.cut(kept);
        parts_.stack_of_row.cut(kept);
        parts_.user_frame_of_row.cut(kept);
    }

    loaded_parts& parts_;
    list<snapshot::row> rows_;
    std::size_t most_ = every_row;
    std::size_t count_ = 0;
    std::uint64_t objects_ = 0;
    std::uint64_t bytes_ = 0;
    bool is_in_order_ = true;
    snapshot::row last_{};     // the last row added, unless all are kept
    std::uint64_t least_ = 0;  // the smallest size that was chosen
    bool has_chosen_ = false;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SAVED_SAVED_ROWS_HPP
