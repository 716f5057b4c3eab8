// opaque.hpp - what tests need to count allocations without adding any.
//
// A compiler may remove a new together with its delete when it sees both and nobody looks at the
// block in between. Tests that count allocations therefore show each block to an empty asm.

#ifndef ALLOCSCOPE_TESTS_OPERATORS_OPAQUE_HPP
#define ALLOCSCOPE_TESTS_OPERATORS_OPAQUE_HPP

namespace testing {

template <class Pointer>
Pointer opaque(Pointer pointer) {
    __asm__ volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

// Whether the work throws an `Exception`. doctest's own check allocates, which windows would see.
template <class Exception, class Work>
bool throws(Work&& work) {
    try {
        work();
    } catch (const Exception&) {
        return true;
    }
    return false;
}

}  // namespace testing

#endif  // ALLOCSCOPE_TESTS_OPERATORS_OPAQUE_HPP
