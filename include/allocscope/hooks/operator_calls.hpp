// operator_calls.hpp - the words through which the replaced operators call the C library.
//
// Room:     hooks (floor 6), malloc-safe
// Called:   by define_once/operator_memory.hpp; hooks/attached_hooks.hpp looks at it
// Threads:  any
// Memory:   none
//
// attach_hooks() changes the tables through which modules call malloc, including the program's own.
// But an allocation by an operator must be counted once, as the operator's. So the operators do not
// call through that table but through these three words, at the same cost.

#ifndef ALLOCSCOPE_HOOKS_OPERATOR_CALLS_HPP
#define ALLOCSCOPE_HOOKS_OPERATOR_CALLS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>

#include <cstddef>  // size_t
#include <cstdlib>  // malloc, free, posix_memalign

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct operator_calls {
    atomic<void* (*)(std::size_t) noexcept> obtain;
    atomic<int (*)(void**, std::size_t, std::size_t) noexcept> obtain_aligned;
    atomic<void (*)(void*) noexcept> release;
};

ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline operator_calls calls_of_operators{
    {&::malloc}, {&::posix_memalign}, {&::free}};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_HOOKS_OPERATOR_CALLS_HPP
