// rounds.hpp - how often a program does what its answer says: HAZARD_ROUNDS, 0 for the run with
// which it is compared. What the program needs besides is the same in both.
#ifndef ALLOCSCOPE_TESTS_PROGRAMS_HAZARDS_ROUNDS_HPP
#define ALLOCSCOPE_TESTS_PROGRAMS_HAZARDS_ROUNDS_HPP

#include <cstdio>
#include <cstdlib>

inline int rounds() {
    const char* text = ::getenv("HAZARD_ROUNDS");
    return text != nullptr ? std::atoi(text) : 0;
}

// Keeps the compiler from leaving out an allocation whose block nobody reads.
inline void* block_of(std::size_t bytes) {
    void* volatile block = std::malloc(bytes);
    return block;
}

// What hazards.py reads where only the program can know; to be called with stdout still open.
inline void print_answer(long allocations, long frees, long bytes) {
    std::printf("answer: %ld %ld %ld\n", allocations, frees, bytes);
    std::fflush(stdout);
}

#endif  // ALLOCSCOPE_TESTS_PROGRAMS_HAZARDS_ROUNDS_HPP
