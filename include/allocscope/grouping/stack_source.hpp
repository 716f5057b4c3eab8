// stack_source.hpp - passes stacks one after the other, from a snapshot or from its file.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by everything that reads stacks; saved/saved_stack_source.hpp and
//           grouping/derived_stacks.hpp make sources
// Threads:  any; the snapshot must outlive these objects
// Memory:   the frames of one stack at a time, in the arena of the caller
//
//     const shown_stacks stacks{rows};             // or {rows, source}
//     stacks.for_each([](const snapshot::stack& stack) { ... });       // without frames
//     stacks.for_each_by_numbers(
//         [](const snapshot::stack& stack, const numbered_frames& frames) { ... });
//
// The frames of a million stacks take more than a gigabyte. A snapshot that was loaded lays all of
// them out when stacks() is called; a source finds only those that are requested.
//
// A file has each different frame once, with a number. Code that looks up frames gets these
// numbers. Then no frame is laid out, and a frame that was met before is recognised by its number.

#ifndef ALLOCSCOPE_GROUPING_STACK_SOURCE_HPP
#define ALLOCSCOPE_GROUPING_STACK_SOURCE_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The frames of a stack, innermost first.
struct numbered_frames {
    const snapshot::frame* frames;  // all of the source; without numbers those of the stack
    const std::uint32_t* numbers;   // equal ones are one frame; null: there are none
    std::size_t count;
    std::size_t path;            // where there are numbers: equal for stacks that share theirs
    bool are_different = false;  // different numbers are different frames, as in a file

    const snapshot::frame& operator[](std::size_t index) const noexcept {
        return frames[numbers != nullptr ? numbers[index] : index];
    }
};

// Maps the numbers that a source gives its frames to the numbers of a book. So each frame is looked
// up only once.
class numbers_of_frames {
public:
    explicit numbers_of_frames(arena& memory) noexcept : numbers_(memory) {}

    // `look_up(frame)` is the book's own number. The numbers of the source must mean the same each
    // time.
    template <class LookUp>
    std::uint32_t find(const numbered_frames& frames, std::size_t at, const LookUp& look_up) {
        if (frames.numbers == nullptr) return look_up(frames[at]);
        const std::uint32_t given = frames.numbers[at];
        if (given >= numbers_.size()) numbers_.resize(given + std::size_t{1});
        if (numbers_[given] == 0) numbers_[given] = look_up(frames[at]) + 1;
        return numbers_[given] - 1;
    }

private:
    list<std::uint32_t> numbers_;  // plus 1; 0: not looked up yet
};

// The frames of a row, and which of them is the user's.
struct row_frames {
    numbered_frames frames;
    std::size_t user_frame;
};

inline numbered_frames laid_out_frames(const snapshot::stack& stack) noexcept {
    return {stack.frames, nullptr, stack.frame_count, 0};
}

// Copies the frames, unless they lie side by side.
inline const snapshot::frame* side_by_side(const numbered_frames& frames, arena& memory) {
    if (frames.numbers == nullptr || frames.count == 0) return frames.frames;
    auto* const made =
        static_cast<snapshot::frame*>(memory.allocate(frames.count * sizeof(snapshot::frame)));
    for (std::size_t i = 0; i < frames.count; ++i) made[i] = frames[i];
    return made;
}

// Stacks whose frames are not laid out in memory.
struct stack_source {
    const void* of;
    // A stack without its frames.
    snapshot::stack (*stack)(const void* of, std::size_t number);
    // The frames of a stack. They are valid until `memory` is released.
    numbered_frames (*frames)(const void* of, std::size_t number, arena& memory);
    // The frames of a row, by its position in the snapshot. Null: the rows have their frames.
    row_frames (*frames_of_row)(const void* of, std::size_t number, arena& memory);
    // One frame, which stays valid; null: the stack has fewer. `depth` counts from the allocation
    // or from main().
    const snapshot::frame* (*frame_at)(const void* of, std::size_t number, std::size_t depth,
                                       bool is_from_main);
    // Prepares for a request of this stack. No effect past the last stack. Null: not needed.
    void (*expect)(const void* of, std::size_t number);
    std::size_t count;
    const snapshot::module* modules;
    std::size_t module_count;
    const snapshot::thread* threads;
    std::size_t thread_count;
    // How many rows were left out of the snapshot, because the stacks say what they say.
    std::size_t rows_left_out = 0;
    // How many frames have numbers; 0: not known.
    std::size_t frame_count = 0;
};

class shown_stacks {
public:
    // Without a source, the snapshot lays its stacks out in memory.
    explicit shown_stacks(const snapshot& rows, const stack_source* source = nullptr)
        : rows_(rows), source_(source) {
        if (source != nullptr) return;
        const auto stacks = rows.stacks();
        first_ = stacks.begin();
        count_ = stacks.size();
        are_known_ = rows.has_stacks();
    }

    const snapshot& rows() const noexcept { return rows_; }
    // With those that were left out.
    std::size_t row_count() const noexcept {
        return rows_.size() + (source_ != nullptr ? source_->rows_left_out : 0);
    }
    // How many different frames there are, if the source knows it; otherwise 0.
    std::size_t frame_count() const noexcept {
        return source_ != nullptr ? source_->frame_count : 0;
    }
    bool are_known() const noexcept { return source_ != nullptr || are_known_; }
    std::size_t count() const noexcept { return source_ != nullptr ? source_->count : count_; }

    // Calls work(stack) for each stack, without its frames.
    template <class Work>
    void for_each(const Work& work) const {
        for (std::size_t i = 0; i < count(); ++i) work(stack(i));
    }

    // Calls work(stack, frames). Only `frames` has the frames.
    template <class Work>
    void for_each_by_numbers(const Work& work) const {
        arena memory;
        for (std::size_t i = 0; i < count(); ++i) {
            const borrowed_memory meanwhile{memory};
            if (source_ != nullptr && source_->expect != nullptr) source_->expect(source_->of, i);
            work(stack(i), frames(i, memory));
        }
    }

    // One stack, by its number. Its frames are valid until `memory` is released.
    snapshot::stack stack(std::size_t number) const {
        return source_ != nullptr ? source_->stack(source_->of, number) : first_[number];
    }
    numbered_frames frames(std::size_t number, arena& memory) const {
        if (source_ != nullptr) return source_->frames(source_->of, number, memory);
        return laid_out_frames(first_[number]);
    }
    // One frame. For code that looks at few frames of many stacks.
    const snapshot::frame* frame_at(std::size_t number, std::size_t depth,
                                    bool is_from_main) const {
        if (source_ != nullptr) return source_->frame_at(source_->of, number, depth, is_from_main);
        const snapshot::stack& stack = first_[number];
        if (depth >= stack.frame_count) return nullptr;
        return stack.frames + (is_from_main ? stack.frame_count - 1 - depth : depth);
    }
    stack_numbers numbers(std::size_t number) const { return numbers_of(stack(number)); }
    bool are_laid_out() const noexcept { return source_ == nullptr; }

    row_frames frames_of_row(std::size_t number, arena& memory) const {
        if (source_ != nullptr && source_->frames_of_row != nullptr) {
            return source_->frames_of_row(source_->of, number, memory);
        }
        const snapshot::row& row = rows_[number];
        return {{row.frames, nullptr, row.frame_count, 0}, row.user_frame};
    }

    // Calls work(modules, count).
    template <class Work>
    void with_modules(const Work& work) const {
        if (source_ != nullptr) {
            work(source_->modules, source_->module_count);
            return;
        }
        const auto modules = rows_.modules();
        work(modules.begin(), modules.size());
    }
    // Calls work(threads, count) with the threads to which for_each_part() of the stacks refers.
    template <class Work>
    void with_threads(const Work& work) const {
        if (source_ != nullptr) {
            work(source_->threads, source_->thread_count);
            return;
        }
        const auto threads = rows_.allocating_threads();
        work(threads.begin(), threads.size());
    }

private:
    const snapshot& rows_;
    const stack_source* source_;
    const snapshot::stack* first_ = nullptr;
    std::size_t count_ = 0;
    bool are_known_ = false;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_STACK_SOURCE_HPP
