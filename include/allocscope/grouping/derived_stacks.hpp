// derived_stacks.hpp - stacks that were chosen or computed; their frames stay where they are.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by the files of grouping/ and report/ that choose, merge, match or subtract stacks
// Threads:  one at a time
// Memory:   200 bytes for each stack, or 8 for an unchanged one, of the arena that is passed in.
//           The sides, from which the stacks were made, must outlive this
//
//     derived_stacks made{memory};
//     const auto side = made.add_side(stacks);
//     made.add(changed, {side, number});           // the frames of that stack, other numbers
//     const stack_source source = made.source();   // its stacks one after the other
//     block.set_stacks(made.table(memory));        // or all of them, laid out

#ifndef ALLOCSCOPE_GROUPING_DERIVED_STACKS_HPP
#define ALLOCSCOPE_GROUPING_DERIVED_STACKS_HPP

#include <allocscope/config.hpp>
#include <allocscope/grouping/merged_modules.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/snapshot/signed_numbers.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Which stack of which side.
struct stack_origin {
    std::uint32_t side;
    std::uint32_t number;
};

class derived_stacks {
public:
    explicit derived_stacks(arena& memory) noexcept
        : memory_(memory),
          sides_(memory),
          numbers_(memory),
          frames_(memory),
          stacks_(memory),
          origins_(memory),
          modules_(memory),
          threads_(memory) {}

    std::uint32_t add_side(const shown_stacks& side) {
        sides_.push_back(memory_.make<shown_stacks>(side));
        numbers_.push_back(memory_.make<numbers_of_frames>(memory_));
        are_laid_out_ = are_laid_out_ && side.are_laid_out();
        return static_cast<std::uint32_t>(sides_.size() - 1);
    }
    const shown_stacks& side(std::size_t number) const noexcept { return *sides_[number]; }
    std::size_t side_count() const noexcept { return sides_.size(); }
    // Whether no stack needs a source.
    bool are_laid_out() const noexcept { return are_laid_out_; }

    // Frames get their addresses from `modules`, which must outlive this.
    void move_frames(merged_modules& modules) noexcept { moved_by_ = &modules; }

    list<snapshot::module>& modules() noexcept { return modules_; }
    list<snapshot::thread>& threads() noexcept { return threads_; }

    // Either all stacks are added with add(), or all with add_unchanged().
    void add(const snapshot::stack& stack, stack_origin from) {
        snapshot::stack& made = stacks_.push_back(stack);
        made.frames = nullptr;
        if (side(from.side).are_laid_out()) {
            made.frames = side(from.side).stack(from.number).frames;
            if (moved_by_ != nullptr) {
                made.frames = moved_by_->frames_of(made.frames, made.frame_count);
            }
        }
        origins_.push_back(from);
    }
    void add_unchanged(stack_origin from) { origins_.push_back(from); }

    std::size_t count() const noexcept { return origins_.size(); }
    snapshot::stack stack(std::size_t number) const {
        if (!stacks_.empty()) return stacks_[number];
        return side(origins_[number].side).stack(origins_[number].number);
    }
    numbered_frames frames(std::size_t number, arena& memory) const {
        const numbered_frames found =
            side(origins_[number].side).frames(origins_[number].number, memory);
        if (found.numbers == nullptr) return {stack(number).frames, nullptr, found.count, 0};
        if (sides_.size() == 1) return found;
        // Two sides may use the same number for different frames.
        const std::size_t side_number = origins_[number].side;
        list<std::uint32_t> made{memory};
        made.reserve(found.count);
        for (std::size_t i = 0; i < found.count; ++i) {
            made.push_back(numbers_[side_number]->find(
                found, i, [this](const snapshot::frame& frame) { return added(frame); }));
        }
        return {frames_.data(), made.data(), found.count, found.path * sides_.size() + side_number};
    }
    const snapshot::frame* frame_at(std::size_t number, std::size_t depth,
                                    bool is_from_main) const {
        const snapshot::frame* const found =
            side(origins_[number].side).frame_at(origins_[number].number, depth, is_from_main);
        return found != nullptr ? &moved(*found) : nullptr;
    }

    // Removes the stacks that do not fit.
    template <class Fits>
    void keep_if(const Fits& fits) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < origins_.size(); ++i) {
            if (!fits(stack(i))) continue;
            origins_[kept] = origins_[i];
            if (!stacks_.empty()) stacks_[kept] = stacks_[i];
            ++kept;
        }
        origins_.cut(kept);
        if (!stacks_.empty()) stacks_.cut(kept);
    }

    // In the order of snapshot::stacks().
    void sort_by_size(bool is_difference, arena& scratch) {
        // The stacks lie too far apart to be looked at for each comparison.
        struct sizes {
            std::uint64_t bytes, bytes_allocated;
            std::uint32_t number;
        };
        list<sizes> order{scratch};
        order.reserve(stacks_.size());
        for (const snapshot::stack& stack : stacks_) {
            order.push_back({size_of_change(stack.bytes, is_difference),
                             size_of_change(stack.bytes_allocated, is_difference),
                             static_cast<std::uint32_t>(order.size())});
        }
        sort(
            order.data(), order.size(),
            [](const sizes& a, const sizes& b) {
                return a.bytes != b.bytes ? a.bytes > b.bytes
                                          : a.bytes_allocated > b.bytes_allocated;
            },
            scratch);
        list<std::uint32_t> numbers{scratch};
        numbers.reserve(order.size());
        for (const sizes& each : order) numbers.push_back(each.number);
        for (std::uint32_t first = 0; first < numbers.size(); ++first) move_ring(numbers, first);
    }

    // The source has no frames_of_row(), because rows of derived stacks have their frames.
    stack_source source() const noexcept {
        return {this,
                [](const void* of, std::size_t number) { return self(of).stack(number); },
                [](const void* of, std::size_t number, arena& memory) {
                    return self(of).frames(number, memory);
                },
                nullptr,
                [](const void* of, std::size_t number, std::size_t depth, bool is_from_main) {
                    return self(of).frame_at(number, depth, is_from_main);
                },
                nullptr,
                count(),
                modules_.data(),
                modules_.size(),
                threads_.data(),
                threads_.size()};
    }

    // All stacks with their frames. Frames that are not laid out yet are copied to `memory`.
    stack_table table(arena& memory) const {
        list<snapshot::stack> laid_out{memory};
        if (!are_laid_out_) {
            laid_out.reserve(count());
            for (std::size_t i = 0; i < count(); ++i) {
                snapshot::stack& made = laid_out.push_back(stack(i));
                made.frames = side_by_side(frames(i, memory), memory);
            }
        }
        const list<snapshot::stack>& stacks = are_laid_out_ ? stacks_ : laid_out;
        return {stacks.data(),   stacks.size(),   modules_.data(),
                modules_.size(), threads_.data(), threads_.size()};
    }

private:
    static const derived_stacks& self(const void* of) noexcept {
        return *static_cast<const derived_stacks*>(of);
    }

    // The number that a frame gets here.
    std::uint32_t added(const snapshot::frame& frame) const {
        frames_.push_back(moved(frame));
        return static_cast<std::uint32_t>(frames_.size() - 1);
    }

    const snapshot::frame& moved(const snapshot::frame& frame) const {
        return moved_by_ != nullptr ? *moved_by_->frames_of(&frame, 1) : frame;
    }

    // `order` says which stack comes to each place. A place that has its stack is marked by its own
    // number.
    void move_ring(list<std::uint32_t>& order, std::uint32_t first) noexcept {
        const snapshot::stack stack = stacks_[first];
        const stack_origin origin = origins_[first];
        std::uint32_t place = first;
        while (order[place] != first) {
            const std::uint32_t from = order[place];
            stacks_[place] = stacks_[from];
            origins_[place] = origins_[from];
            order[place] = place;
            place = from;
        }
        stacks_[place] = stack;
        origins_[place] = origin;
        order[place] = place;
    }

    arena& memory_;
    list<const shown_stacks*> sides_;
    list<numbers_of_frames*> numbers_;      // of each side: the numbers that its frames have here
    mutable list<snapshot::frame> frames_;  // of all sides; those that were requested so far
    list<snapshot::stack> stacks_;          // empty if all are unchanged
    list<stack_origin> origins_;
    list<snapshot::module> modules_;
    list<snapshot::thread> threads_;
    merged_modules* moved_by_ = nullptr;
    bool are_laid_out_ = true;
};

// Lays out all stacks at the first call of stacks(). `source` is a derived_stacks.
inline void find_derived_stacks(const snapshot_data&, const void* source, later_stacks& made) {
    made.table = static_cast<const derived_stacks*>(source)->table(made.memory);
}

// Gives the stacks to the block, in whose memory `made` lies.
inline void set_stacks(snapshot_block& block, const derived_stacks& made) {
    if (made.are_laid_out()) {
        block.set_stacks(*block.memory().make<stack_table>(made.table(block.memory())));
    } else {
        block.set_stacks(&find_derived_stacks, &made);
    }
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_DERIVED_STACKS_HPP
