// stack_numbers.hpp - what a stack allocated and what of it is alive: the numbers and their names.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by grouping/ and by the writers in report/, page/ and formats/
// Threads:  a plain value
// Memory:   64 bytes

#ifndef ALLOCSCOPE_GROUPING_STACK_NUMBERS_HPP
#define ALLOCSCOPE_GROUPING_STACK_NUMBERS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/size_classes.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

// Selects one of the numbers of a stack. The last two are 0 unless the window has details
// (options::details).
enum class stack_value : int {
    live_bytes,
    live_objects,
    bytes_allocated,
    allocations,
    peak_bytes,  // alive at the peak of the window
    temporary    // freed before the thread's next allocation
};

namespace detail {

// In a difference the first four are two's complement, and the others are 0.
struct stack_numbers {
    std::uint64_t objects = 0;  // alive
    std::uint64_t bytes = 0;    // alive
    std::uint64_t allocations = 0;
    std::uint64_t bytes_allocated = 0;
    std::uint64_t peak_objects = 0;  // from here on as in snapshot::stack_details
    std::uint64_t peak_bytes = 0;
    std::uint64_t temporary = 0;
    std::uint64_t lifetime_us = 0;

    void add(const stack_numbers& more) noexcept {
        objects += more.objects;
        bytes += more.bytes;
        allocations += more.allocations;
        bytes_allocated += more.bytes_allocated;
        peak_objects += more.peak_objects;
        peak_bytes += more.peak_bytes;
        temporary += more.temporary;
        lifetime_us += more.lifetime_us;
    }

    std::uint64_t operator[](stack_value which) const noexcept {
        switch (which) {
            case stack_value::live_objects:
                return objects;
            case stack_value::bytes_allocated:
                return bytes_allocated;
            case stack_value::allocations:
                return allocations;
            case stack_value::peak_bytes:
                return peak_bytes;
            case stack_value::temporary:
                return temporary;
            case stack_value::live_bytes:
                break;
        }
        return bytes;
    }

    bool is_nothing() const noexcept {
        return (objects | bytes | allocations | bytes_allocated) == 0;
    }
};

// The numbers of a stack, or of what one thread allocated at it.
template <class Stack>
stack_numbers numbers_of(const Stack& stack) noexcept {
    stack_numbers numbers{
        stack.objects, stack.bytes, stack.allocations, stack.bytes_allocated, 0, 0, 0, 0};
    if (stack.details == nullptr) return numbers;
    numbers.peak_objects = stack.details->peak_objects;
    numbers.peak_bytes = stack.details->peak_bytes;
    numbers.temporary = stack.details->temporary;
    numbers.lifetime_us = stack.details->lifetime_us;
    return numbers;
}

inline stack_numbers sum_of_stacks(const snapshot& rows) {
    stack_numbers sum;
    for (const snapshot::stack& stack : rows.stacks()) sum.add(numbers_of(stack));
    return sum;
}

// The name for people; for `live_bytes`: "live bytes".
inline const char* name_of(stack_value which) noexcept {
    constexpr const char* names[] = {"live bytes",  "live objects",      "bytes allocated",
                                     "allocations", "bytes at the peak", "temporary allocations"};
    return names[static_cast<std::size_t>(which)];
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_GROUPING_STACK_NUMBERS_HPP
