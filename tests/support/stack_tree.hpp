// stack_tree.hpp - as many different call stacks as wanted.
//
// Room:     tests/support
// Called:   by tests that fill the site table or go deep
// Threads:  any
// Memory:   the stack
//
// Each bit of `path` chooses which of two functions makes the next call: depth 17 gives 131,072
// different stacks below the same caller.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_STACK_TREE_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_STACK_TREE_HPP

#include "escape.hpp"

#include <cstddef>  // size_t

namespace allocscope_test {

void* allocate_on_path(unsigned path, int depth, std::size_t size);

__attribute__((noinline)) inline void* left_branch(unsigned path, int depth, std::size_t size) {
    void* object = allocate_on_path(path, depth, size);
    barrier();
    return object;
}

__attribute__((noinline)) inline void* right_branch(unsigned path, int depth, std::size_t size) {
    void* object = allocate_on_path(path, depth, size);
    barrier();
    return object;
}

__attribute__((noinline)) inline void* allocate_on_path(unsigned path, int depth,
                                                        std::size_t size) {
    void* object = nullptr;
    if (depth == 0) {
        object = allocate(size);
    } else if ((path & 1U) != 0) {
        object = left_branch(path >> 1, depth - 1, size);
    } else {
        object = right_branch(path >> 1, depth - 1, size);
    }
    barrier();
    return object;
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_STACK_TREE_HPP
