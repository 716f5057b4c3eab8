// subtracted_stacks.hpp - subtracts the stacks of one snapshot from another's, with their threads.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by report/whole_difference.hpp
// Threads:  one at a time; the sides must outlive the result
// Memory:   200 bytes for each stack that has changed, of the arena that is passed in; while it
//           works, that of matched_stacks
//
//     derived_stacks change{memory};
//     subtract_stacks(memory, change, later, earlier);
//
// Equal stacks are those of grouping/matched_stacks.hpp. If only lifetimes have changed, the
// stack is left out, because that only means that time has passed.

#ifndef ALLOCSCOPE_GROUPING_SUBTRACTED_STACKS_HPP
#define ALLOCSCOPE_GROUPING_SUBTRACTED_STACKS_HPP

#include <allocscope/base/size_classes.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/derived_stacks.hpp>
#include <allocscope/grouping/matched_stacks.hpp>
#include <allocscope/grouping/same_threads.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/stacks_of_difference.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline void subtract_details(snapshot::stack_details& from,
                             const snapshot::stack_details& less) noexcept {
    from.peak_objects -= less.peak_objects;
    from.peak_bytes -= less.peak_bytes;
    from.temporary -= less.temporary;
    from.lifetime_us -= less.lifetime_us;
    for (std::size_t i = 0; i < size_class_count; ++i) from.sizes[i] -= less.sizes[i];
}

// Adding the result subtracts the part.
inline snapshot::thread_part negated(const snapshot::thread_part& part, arena& memory) {
    snapshot::thread_part made = part;
    made.objects = 0 - part.objects;
    made.bytes = 0 - part.bytes;
    made.allocations = 0 - part.allocations;
    made.bytes_allocated = 0 - part.bytes_allocated;
    made.objects_low = 0 - part.objects_high;
    made.objects_high = 0 - part.objects_low;
    made.bytes_low = 0 - part.bytes_high;
    made.bytes_high = 0 - part.bytes_low;
    if (part.details == nullptr) return made;
    auto* const details = memory.make<snapshot::stack_details>();
    subtract_details(*details, *part.details);
    made.details = details;
    return made;
}

// Whether a stack or a part has changed; lifetimes do not count.
template <class Stack>
bool has_other_numbers(const Stack& of) noexcept {
    const stack_numbers numbers = numbers_of(of);
    std::uint64_t all = numbers.objects | numbers.bytes | numbers.allocations |
                        numbers.bytes_allocated | numbers.peak_objects | numbers.peak_bytes |
                        numbers.temporary;
    if (of.details != nullptr) {
        for (const std::uint64_t count : of.details->sizes) all |= count;
    }
    return all != 0;
}

// Adds a copy of a part of a thread to `kept`, with its details in `memory`.
inline void keep_part(list<snapshot::thread_part>& kept, const snapshot::thread_part& part,
                      arena& memory) {
    snapshot::thread_part& made = kept.push_back(part);
    if (part.details != nullptr) {
        made.details = memory.make<snapshot::stack_details>(*part.details);
    }
}

class stack_subtraction {
public:
    stack_subtraction(arena& memory, derived_stacks& made, bool are_two_processes)
        : memory_(memory), made_(made), threads_(memory, scratch_, are_two_processes) {}

    void run(const shown_stacks& later, const shown_stacks& earlier) {
        add_side(later);
        add_side(earlier);
        made_.threads().append(threads_.all());
        arena meanwhile;
        const matched_stacks matched{meanwhile, made_};
        matched.for_each([this](const stack_origin* equal, std::size_t count) {
            const borrowed_memory for_one{step_};
            add(equal, count);
        });
        made_.sort_by_size(true, scratch_);
    }

private:
    void add_side(const shown_stacks& side) {
        made_.add_side(side);
        side.with_modules([this](const snapshot::module* modules, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
                if (has_module_.insert(modules[i].path).is_new) {
                    made_.modules().push_back(modules[i]);
                }
            }
        });
        threads_.add_side(side);
    }

    // Adds the difference between equal stacks of the two sides.
    void add(const stack_origin* equal, std::size_t count) {
        changed_stack change{};
        snapshot::stack_details details{};
        bool has_details = true;
        bool has_unknown_threads = false;
        parts_of_stacks parts{step_, step_};
        for (std::size_t i = 0; i < count; ++i) {
            const bool is_later = equal[i].side == 0;
            const snapshot::stack stack = made_.side(equal[i].side).stack(equal[i].number);
            if (i == 0) copy_without_numbers(change.sum, stack);
            change.add(stack, is_later);
            has_unknown_threads = has_unknown_threads || stack.thread_count == 0;
            has_details = has_details && stack.details != nullptr;
            if (has_details && is_later) details.add(*stack.details);
            if (has_details && !is_later) subtract_details(details, *stack.details);
            for_each_part(stack, [&](snapshot::thread_part part) {
                if (!is_later) part = negated(part, step_);
                part.thread = threads_.number(equal[i].side, part.thread);
                part.age = 0;  // a difference has none
                parts.add(0, part);
            });
        }
        if (has_details) change.sum.details = &details;
        bool has_changed = has_other_numbers(change.sum);
        list<snapshot::thread_part> changed{step_};
        parts.for_each([&](std::size_t, const list<snapshot::thread_part>& of_stack) {
            if (has_unknown_threads) return;
            for (const snapshot::thread_part& part : of_stack) {
                const bool has_numbers = has_other_numbers(part);
                has_changed = has_changed || has_numbers;
                if (has_numbers || numbers_of(part).lifetime_us != 0) changed.push_back(part);
            }
        });
        if (!has_changed) return;
        list<snapshot::thread_part> kept{step_};
        for (const snapshot::thread_part& part : changed) keep_part(kept, part, memory_);
        set_threads(change.sum, kept, memory_);
        if (has_details) change.sum.details = memory_.make<snapshot::stack_details>(details);
        made_.add(change.finished(), equal[0]);
    }

    arena& memory_;
    derived_stacks& made_;
    arena scratch_;
    arena step_;  // for one stack
    same_threads threads_;
    table<text, bool> has_module_{scratch_};
};

inline bool are_two_processes(const shown_stacks& later, const shown_stacks& earlier) noexcept {
    const std::uint64_t one = later.rows().info().process_id;
    const std::uint64_t other = earlier.rows().info().process_id;
    return one != 0 && other != 0 && one != other;
}

// Adds to `made`, whose memory is `memory`. Throws std::bad_alloc.
inline void subtract_stacks(arena& memory, derived_stacks& made, const shown_stacks& later,
                            const shown_stacks& earlier) {
    stack_subtraction subtraction{memory, made, are_two_processes(later, earlier)};
    subtraction.run(later, earlier);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_SUBTRACTED_STACKS_HPP
