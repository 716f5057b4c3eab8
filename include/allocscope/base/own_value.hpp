// own_value.hpp - reads a variable that no thread but the calling one writes.
//
// Room:     base (floor 0), malloc-safe
// Called:   on every allocation and free
// Threads:  the one that writes the variable; others read it as an atomic
// Memory:   none
//
// Compilers make a separate instruction of each atomic load, even of a relaxed one: they do not
// fold it into the comparison or addition that needs it. A thread that is the only one to write a
// variable may read it plainly.
//
//     if (own_value(thread.busy) != 0) ...    cmpq $0, (thread)   instead of   mov; test

#ifndef ALLOCSCOPE_BASE_OWN_VALUE_HPP
#define ALLOCSCOPE_BASE_OWN_VALUE_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>

ALLOCSCOPE_HOT_BEGIN

namespace detail {

template <class T>
ALLOCSCOPE_FAST_PATH T own_value(const atomic<T>& variable) noexcept {
#if ALLOCSCOPE_ON(THREAD_SANITIZER)
    return variable.load(memory_order::relaxed);  // the sanitizer sees it
#else
    static_assert(sizeof(atomic<T>) == sizeof(T), "the atomic is nothing but its value");
    return reinterpret_cast<const T&>(variable);
#endif
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_BASE_OWN_VALUE_HPP
