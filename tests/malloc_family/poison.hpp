// poison.hpp - makes sure that code of ours never asks the process for memory.
//
// Room:     tests/malloc_family
// Called:   by test programs that are linked with poison.cpp
// Threads:  any; the flag is each thread's own
// Memory:   none

#ifndef ALLOCSCOPE_TESTS_MALLOC_FAMILY_POISON_HPP
#define ALLOCSCOPE_TESTS_MALLOC_FAMILY_POISON_HPP

namespace allocscope_test {

// While it is set, any call of malloc or free on this thread ends the program.
extern thread_local bool is_malloc_forbidden;

// How many calls were looked at.
extern unsigned long calls_through_poison;

// What `work` does must not reach malloc.
template <class Work>
auto without_malloc(Work work) {
    is_malloc_forbidden = true;
    auto result = work();
    is_malloc_forbidden = false;
    return result;
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_MALLOC_FAMILY_POISON_HPP
