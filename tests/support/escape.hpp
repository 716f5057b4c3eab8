// escape.hpp - allocations that no optimizer can take away.
//
// Room:     tests/support
// Called:   by every test that counts calls of operator new
// Threads:  any
// Memory:   none
//
// A compiler may drop a matching pair of new and delete whose pointer it can follow. A pointer that
// passed through `opaque` cannot be followed. The barrier behind the call also keeps it from
// becoming a tail call, so that the frame of the caller stays on the stack.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_ESCAPE_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_ESCAPE_HPP

#include <cstddef>  // size_t
#include <new>      // operator new, operator delete

namespace allocscope_test {

template <class Object>
inline Object* opaque(Object* object) {
    __asm__ volatile("" : "+r"(object) : : "memory");
    return object;
}

inline void barrier() {
    __asm__ volatile("" : : : "memory");
}

// One call of operator new; the line it is charged to is the one inside this function's caller
// when inlined frames are known, so tests that look at lines write the call out themselves.
inline void* allocate(std::size_t size) {
    return opaque(::operator new(size));
}

inline void release(void* object) {
    ::operator delete(opaque(object));
    barrier();
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_ESCAPE_HPP
