// stack_numbers.hpp - what a stack allocated and what of it is alive: the four numbers, and which.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by grouping/call_tree.hpp and by the writers in formats/
// Threads:  a plain value
// Memory:   32 bytes

#ifndef ALLOCSCOPE_GROUPING_STACK_NUMBERS_HPP
#define ALLOCSCOPE_GROUPING_STACK_NUMBERS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>  // int64_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

// Which of the numbers of a stack is meant, where there is room for one only.
enum class stack_value : int { live_bytes, live_objects, bytes_allocated, allocations };

namespace detail {

// In a difference all four are two's complement.
struct stack_numbers {
    std::uint64_t objects = 0;  // alive
    std::uint64_t bytes = 0;    // alive
    std::uint64_t allocations = 0;
    std::uint64_t bytes_allocated = 0;

    void add(const stack_numbers& more) noexcept {
        objects += more.objects;
        bytes += more.bytes;
        allocations += more.allocations;
        bytes_allocated += more.bytes_allocated;
    }

    std::uint64_t operator[](stack_value which) const noexcept {
        switch (which) {
            case stack_value::live_objects:
                return objects;
            case stack_value::bytes_allocated:
                return bytes_allocated;
            case stack_value::allocations:
                return allocations;
            case stack_value::live_bytes:
                break;
        }
        return bytes;
    }

    bool is_nothing() const noexcept {
        return (objects | bytes | allocations | bytes_allocated) == 0;
    }
};

inline stack_numbers numbers_of(const snapshot::stack& stack) noexcept {
    return {stack.objects, stack.bytes, stack.allocations, stack.bytes_allocated};
}

inline stack_numbers sum_of_stacks(const snapshot& rows) {
    stack_numbers sum;
    for (const snapshot::stack& stack : rows.stacks()) sum.add(numbers_of(stack));
    return sum;
}

// As a person names it; for `live_bytes`: "live bytes".
inline const char* name_of(stack_value which) noexcept {
    switch (which) {
        case stack_value::live_objects:
            return "live objects";
        case stack_value::bytes_allocated:
            return "bytes allocated";
        case stack_value::allocations:
            return "allocations";
        case stack_value::live_bytes:
            break;
    }
    return "live bytes";
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_GROUPING_STACK_NUMBERS_HPP
