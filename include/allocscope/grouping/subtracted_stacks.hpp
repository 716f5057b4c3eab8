// subtracted_stacks.hpp - subtracts the stacks of one snapshot from another's, with their threads.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by report/whole_difference.hpp
// Threads:  one at a time; the snapshots must outlive the result
// Memory:   of the arena that is passed in; 100 bytes for each thread of a stack, while it works
//
//     const subtracted_stacks change{memory, later, earlier};
//     made.table = change.table_of_stacks();
//
// Equal stacks are those of snapshot/stacks_of_difference.hpp. If only lifetimes have changed, the
// stack is left out, because that only means that time has passed.

#ifndef ALLOCSCOPE_GROUPING_SUBTRACTED_STACKS_HPP
#define ALLOCSCOPE_GROUPING_SUBTRACTED_STACKS_HPP

#include <allocscope/base/size_classes.hpp>
#include <allocscope/config.hpp>
#include <allocscope/grouping/same_threads.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/stack_order.hpp>
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

class subtracted_stacks {
public:
    // Throws std::bad_alloc.
    subtracted_stacks(arena& memory, const snapshot& later, const snapshot& earlier)
        : memory_(memory),
          stacks_(memory),
          modules_(memory),
          threads_(memory, scratch_, are_two_processes(later, earlier)) {
        add(later, true);
        add(earlier, false);
        finish();
    }

    stack_table table_of_stacks() const noexcept {
        return {stacks_.data(),  stacks_.size(),        modules_.data(),
                modules_.size(), threads_.all().data(), threads_.all().size()};
    }

private:
    struct subtracted : changed_stack {
        std::size_t number;
        bool has_changed_part;
        bool has_unknown_threads;
        bool lacks_details;
        snapshot::stack_details* details;
    };

    void add(const snapshot& side, bool is_later) {
        for (const snapshot::module& module : side.modules()) {
            if (has_module_.insert(module.path).is_new) modules_.push_back(module);
        }
        list<std::size_t> numbers{
            scratch_};  // for each thread of this side, its index in `threads_`
        for (const snapshot::thread& each : side.allocating_threads()) {
            numbers.push_back(threads_.number_of(each));
        }
        for (const snapshot::stack& stack : side.stacks()) {
            const auto at = merged_.insert({&stack});
            subtracted& here = at.value;
            if (at.is_new) {
                here.number = merged_.size() - 1;
                here.sum = without_numbers(stack);
            }
            here.add(stack, is_later);
            if (stack.thread_count == 0) here.has_unknown_threads = true;
            if (stack.details == nullptr) here.lacks_details = true;
            if (!here.lacks_details) {
                if (at.is_new) here.details = memory_.make<snapshot::stack_details>();
                if (is_later) {
                    detail::add_details(*here.details, *stack.details);
                } else {
                    subtract_details(*here.details, *stack.details);
                }
            }
            for_each_part(stack, [&](snapshot::thread_part part) {
                if (!is_later) part = negated(part, scratch_);
                part.thread = numbers[part.thread];
                parts_.add(here.number, part);
            });
        }
    }

    void finish() {
        list<snapshot::thread_part> changed{scratch_};
        parts_.for_each([&](std::size_t number, const list<snapshot::thread_part>& of_stack) {
            subtracted& here = merged_.begin()[number].value;
            if (here.has_unknown_threads) return;
            changed.clear();
            for (const snapshot::thread_part& part : of_stack) {
                const bool has_numbers = has_other_numbers(part);
                here.has_changed_part = here.has_changed_part || has_numbers;
                if (has_numbers || numbers_of(part).lifetime_us != 0) changed.push_back(part);
            }
            set_threads(here.sum, changed, memory_);
        });
        for (auto& each : merged_) {
            subtracted& here = each.value;
            if (!here.lacks_details) here.sum.details = here.details;
            if (here.has_changed_part || has_other_numbers(here.sum)) {
                stacks_.push_back(here.finished());
            }
        }
        sort_stacks(stacks_, scratch_, true);
    }

    static bool are_two_processes(const snapshot& later, const snapshot& earlier) noexcept {
        const std::uint64_t one = later.info().process_id;
        const std::uint64_t other = earlier.info().process_id;
        return one != 0 && other != 0 && one != other;
    }

    arena& memory_;
    arena scratch_;
    table<stack_names, subtracted> merged_{scratch_};
    parts_of_stacks parts_{memory_, scratch_};
    table<text, bool> has_module_{scratch_};
    list<snapshot::stack> stacks_;
    list<snapshot::module> modules_;
    same_threads threads_;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_SUBTRACTED_STACKS_HPP
