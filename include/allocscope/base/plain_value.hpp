// plain_value.hpp - reads a variable that threads share in the instruction that uses it.
//
// Room:     base (floor 0), malloc-safe
// Called:   on every allocation and free
// Threads:  see each function; other threads read and write the variable as an atomic
// Memory:   none
//
// Compilers make a separate instruction of each atomic load, even of a relaxed one: they do not
// fold it into the comparison, addition or jump that needs it. In the two cases below a plain read
// gives the same value.
//
//     if (own_value(thread.busy) != 0) ...    cmpq $0, (thread)   instead of   mov; test

#ifndef ALLOCSCOPE_BASE_PLAIN_VALUE_HPP
#define ALLOCSCOPE_BASE_PLAIN_VALUE_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// Of a variable that no thread but the calling one writes.
template <class T>
ALLOCSCOPE_FAST_PATH T own_value(const atomic<T>& variable) noexcept {
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
    return variable.load(memory_order::relaxed);  // the sanitizer sees it
#else
    static_assert(sizeof(atomic<T>) == sizeof(T), "the atomic is nothing but its value");
    return reinterpret_cast<const T&>(variable);
#endif
}

// Of a variable that any thread may write, for one use of the value. It stands for an acquiring
// load: x86_64 reads an aligned word as a whole, and no later read overtakes an earlier one.
template <class T>
ALLOCSCOPE_FAST_PATH T value_for_one_use(const atomic<T>& variable) noexcept {
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
    return variable.load(memory_order::acquire);
#else
    return own_value(variable);
#endif
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_BASE_PLAIN_VALUE_HPP
