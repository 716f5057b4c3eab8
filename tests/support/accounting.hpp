// accounting.hpp - what a program did is in the numbers of its window, or told as lost.
//
// Room:     tests/support
// Called:   at the end of tests that know how much they allocated and freed under a window
// Threads:  when no other thread allocates any more
// Memory:   none
//
//     expect_accounted(window.stats(), {allocations, frees});
//
// A loss that puts an event into no number is a missing allocation or a missing free. The free of
// an object whose allocation is missing may be told as well or not.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_ACCOUNTING_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_ACCOUNTING_HPP

#include "process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdint>  // uint64_t
#include <cstring>  // strstr

namespace allocscope_test {

struct produced_events {
    std::uint64_t allocations;
    std::uint64_t frees;
};

// Of these the events are in the numbers.
inline bool concerns_numbers(const char* reason) {
    return std::strstr(reason, "without their place") == nullptr &&
           std::strstr(reason, "without operator delete") == nullptr &&
           std::strstr(reason, "peak") == nullptr;
}

inline std::uint64_t declared_losses(const allocscope::snapshot& seen) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < seen.info().loss_count; ++i) {
        if (concerns_numbers(seen.info().losses[i].reason)) sum += seen.info().losses[i].count;
    }
    return sum;
}

// All that was produced under the window, by whichever thread, is recorded or told as lost.
inline void expect_accounted(const allocscope::snapshot& seen, const produced_events& produced) {
    const allocscope::allocation_counts& counts = seen.info().totals;
    const std::uint64_t lost = declared_losses(seen);
    ALLOCSCOPE_EXPECT_AT_MOST(counts.allocations, produced.allocations);
    ALLOCSCOPE_EXPECT_AT_MOST(counts.frees, produced.frees);
    const std::uint64_t missing_births = produced.allocations - counts.allocations;
    const std::uint64_t missing_deaths = produced.frees - counts.frees;
    ALLOCSCOPE_EXPECT_AT_MOST(missing_births, lost);
    ALLOCSCOPE_EXPECT_AT_MOST(missing_deaths, lost);
    ALLOCSCOPE_EXPECT_AT_MOST(lost, missing_births + missing_deaths);
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_ACCOUNTING_HPP
