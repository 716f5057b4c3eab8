// stack_source.hpp - passes stacks one after the other, from a snapshot or from its file.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by writers in report/, page/ and formats/; formats/convert_snapshot.hpp makes the
//           source
// Threads:  any; the snapshot must outlive these objects
// Memory:   the frames of one stack at a time, in the arena of the source
//
//     const shown_stacks stacks{rows};             // or {rows, source}
//     stacks.for_each([](const snapshot::stack& stack) { ... });
//
// The frames of a million stacks take more than a gigabyte. A snapshot that was loaded lays them
// all out when stacks() is called; a source lays out those that are asked for. Texts stay, frames
// are gone when the next stack comes.
//
//     stacks.for_each_by_numbers(
//         [](const snapshot::stack& stack, const numbered_frames& frames) { ... });
//
// A file has each different frame once, with a number. Who looks up frames asks for these numbers:
// then nothing is laid out, and a frame that was met is known by its number.

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
    std::size_t path;  // where there are numbers: equal for stacks that share theirs

    const snapshot::frame& operator[](std::size_t index) const noexcept {
        return frames[numbers != nullptr ? numbers[index] : index];
    }
};

// What a book calls the frames of a source, by the numbers that the source gives them. So each
// frame is looked up once.
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

// Of a row, with the number of the user's.
struct row_frames {
    numbered_frames frames;
    std::size_t user_frame;
};

inline numbered_frames laid_out_frames(const snapshot::stack& stack) noexcept {
    return {stack.frames, nullptr, stack.frame_count, 0};
}

struct frame_span {
    const snapshot::frame* first;
    std::size_t count;
};

// Stacks whose frames are not laid out in memory. They are numbered in the order of for_each().
struct stack_source {
    using visit = void (*)(void* visitor, const snapshot::stack& stack);
    using visit_numbers = void (*)(void* visitor, const snapshot::stack& stack,
                                   const numbered_frames& frames);

    const void* of;
    void (*for_each)(const void* of, void* visitor, visit work);
    // The same; `stack` has no frames of its own.
    void (*for_each_by_numbers)(const void* of, void* visitor, visit_numbers work);
    frame_span (*frames)(const void* of, std::size_t number, arena& memory);
    // The frames of a row that has none, by its position in the snapshot.
    frame_span (*frames_of_row)(const void* of, std::size_t number, arena& memory);
    row_frames (*frames_of_row_by_numbers)(const void* of, std::size_t number, arena& memory);
    // One that stays; null: the stack has fewer. `depth` counts from who allocated, or from main().
    const snapshot::frame* (*frame_at)(const void* of, std::size_t number, std::size_t depth,
                                       bool is_from_main);
    stack_numbers (*numbers)(const void* of, std::size_t number);
    std::size_t count;
    const snapshot::module* modules;
    std::size_t module_count;
    const snapshot::thread* threads;
    std::size_t thread_count;
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
    bool are_known() const noexcept { return source_ != nullptr || are_known_; }
    std::size_t count() const noexcept { return source_ != nullptr ? source_->count : count_; }

    template <class Work>
    void for_each(const Work& work) const {
        if (source_ == nullptr) {
            for (std::size_t i = 0; i < count_; ++i) work(first_[i]);
            return;
        }
        auto* const visitor = const_cast<void*>(static_cast<const void*>(&work));
        source_->for_each(source_->of, visitor, [](void* self, const snapshot::stack& stack) {
            (*static_cast<const Work*>(self))(stack);
        });
    }

    // Calls work(stack, frames). Only `frames` has the frames.
    template <class Work>
    void for_each_by_numbers(const Work& work) const {
        if (source_ == nullptr) {
            for (std::size_t i = 0; i < count_; ++i) work(first_[i], laid_out_frames(first_[i]));
            return;
        }
        auto* const visitor = const_cast<void*>(static_cast<const void*>(&work));
        source_->for_each_by_numbers(
            source_->of, visitor,
            [](void* self, const snapshot::stack& stack, const numbered_frames& frames) {
                (*static_cast<const Work*>(self))(stack, frames);
            });
    }

    // Of one stack, by its number; for as long as `memory` has them.
    frame_span frames(std::size_t number, arena& memory) const {
        if (source_ != nullptr) return source_->frames(source_->of, number, memory);
        return {first_[number].frames, first_[number].frame_count};
    }
    frame_span frames_of_row(std::size_t number, arena& memory) const {
        const snapshot::row& row = rows_[number];
        if (row.frame_count != 0 || source_ == nullptr) return {row.frames, row.frame_count};
        return source_->frames_of_row(source_->of, number, memory);
    }
    row_frames frames_of_row_by_numbers(std::size_t number, arena& memory) const {
        if (source_ != nullptr) {
            return source_->frames_of_row_by_numbers(source_->of, number, memory);
        }
        const snapshot::row& row = rows_[number];
        return {{row.frames, nullptr, row.frame_count, 0}, row.user_frame};
    }
    // For those who look at the stacks in another order.
    const snapshot::frame* frame_at(std::size_t number, std::size_t depth,
                                    bool is_from_main) const {
        if (source_ != nullptr) return source_->frame_at(source_->of, number, depth, is_from_main);
        const snapshot::stack& stack = first_[number];
        if (depth >= stack.frame_count) return nullptr;
        return stack.frames + (is_from_main ? stack.frame_count - 1 - depth : depth);
    }
    stack_numbers numbers(std::size_t number) const {
        if (source_ != nullptr) return source_->numbers(source_->of, number);
        return numbers_of(first_[number]);
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
