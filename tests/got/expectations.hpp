// expectations.hpp - what the programs of this folder say when something is not as it should be.

#ifndef ALLOCSCOPE_TESTS_GOT_EXPECTATIONS_HPP
#define ALLOCSCOPE_TESTS_GOT_EXPECTATIONS_HPP

#include <allocscope/allocscope.hpp>

#include <cstdint>
#include <cstdio>

inline int failures = 0;

inline void expect_equal(std::uint64_t seen, std::uint64_t wanted, const char* what) {
    if (seen == wanted) return;
    std::printf("%s: %llu instead of %llu\n", what, static_cast<unsigned long long>(seen),
                static_cast<unsigned long long>(wanted));
    ++failures;
}

// Counts what `work` allocates, and expects that all of it is freed.
template <class Work>
void expect_counts(std::uint64_t allocations, std::uint64_t bytes, const char* what, Work&& work) {
    allocscope::scope window{what};
    const allocscope::allocation_counts before = window.counts();
    work();
    const allocscope::allocation_counts after = window.counts();
    expect_equal(after.allocations - before.allocations, allocations, what);
    expect_equal(after.bytes_allocated - before.bytes_allocated, bytes, what);
    expect_equal(after.frees - before.frees, allocations, what);
}

#endif  // ALLOCSCOPE_TESTS_GOT_EXPECTATIONS_HPP
