// operator_memory.hpp - where the replaced operators get their memory.
//
// Room:     define_once (floor 12), malloc-safe
// Called:   by define_once/operator_new_entry.hpp and malloc_family.hpp
// Threads:  any
// Memory:   the C library's allocator, or what malloc_family.hpp says
//
// Usually the operators call malloc through words of their own (hooks/operator_calls.hpp). If
// malloc is replaced, too, they call the underlying allocator directly, because an allocation by an
// operator is counted once, as the operator's. For that, malloc_family.hpp specialises memory_of
// for the operators, before or after the operators' own header. Both orders work, because the
// functions below are templates and are instantiated at the end of the file.

#ifndef ALLOCSCOPE_DEFINE_ONCE_OPERATOR_MEMORY_HPP
#define ALLOCSCOPE_DEFINE_ONCE_OPERATOR_MEMORY_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/plain_value.hpp>
#include <allocscope/hooks/operator_calls.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct the_operators;

template <class User>
struct memory_of {
    ALLOCSCOPE_FAST_PATH static void* obtain(std::size_t bytes) noexcept {
        return value_for_one_use(calls_of_operators.obtain)(bytes);
    }
    ALLOCSCOPE_FAST_PATH static int obtain_aligned(void** place, std::size_t alignment,
                                                   std::size_t bytes) noexcept {
        return value_for_one_use(calls_of_operators.obtain_aligned)(place, alignment, bytes);
    }
    ALLOCSCOPE_FAST_PATH static void release(void* block) noexcept {
        value_for_one_use(calls_of_operators.release)(block);
    }
};

template <class User>
ALLOCSCOPE_FAST_PATH void* obtain(std::size_t bytes) noexcept {
    return memory_of<User>::obtain(bytes);
}
template <class User>
ALLOCSCOPE_FAST_PATH int obtain_aligned(void** place, std::size_t alignment,
                                        std::size_t bytes) noexcept {
    return memory_of<User>::obtain_aligned(place, alignment, bytes);
}
template <class User>
ALLOCSCOPE_FAST_PATH void release(void* block) noexcept {
    memory_of<User>::release(block);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_DEFINE_ONCE_OPERATOR_MEMORY_HPP
