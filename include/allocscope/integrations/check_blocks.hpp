// check_blocks.hpp - assertions about a block inside a test: ALLOCSCOPE_CHECK_NO_LEAKS { }.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   through the macros, by the user in a test case of doctest or Catch2
// Threads:  NO_LEAKS counts the objects of every thread; the other macros, and those that end in
//           _ON_THIS_THREAD, count only those of the thread that enters the block
// Memory:   about 300 bytes on the stack
//
//     ALLOCSCOPE_CHECK_NO_LEAKS { connect(); disconnect(); }
//     ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS { filter.process(samples); }
//     ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(3) { parse(text); }
//     ALLOCSCOPE_CHECK_WITHIN_BUDGET(limits) { load(file); }      // allocscope::allocation_budget
//
// Each block is one assertion, on the line of the macro; in Catch2, only if it fails. After a
// failure CHECK continues and REQUIRE ends the test case. In a program with both frameworks the
// assertion belongs to the test case that is running. An assertion inside a block counts if it
// allocates: when it fails, and with -s.

#ifndef ALLOCSCOPE_INTEGRATIONS_CHECK_BLOCKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_CHECK_BLOCKS_HPP

#include <allocscope/integrations/checked_block.hpp>

// If doctest is disabled, the block just runs.
#if defined(DOCTEST_CONFIG_DISABLE) && !defined(CATCH_VERSION_MAJOR)
    #define ALLOCSCOPE_CHECK_BLOCK_(check, is_fatal, claim, ...) if (true)
#else
    #define ALLOCSCOPE_CHECK_BLOCK_(check, is_fatal, claim, ...)                             \
        ALLOCSCOPE_BLOCK_(::allocscope::detail::running_framework(), check, is_fatal, claim, \
                          __VA_ARGS__)
#endif

#define ALLOCSCOPE_LEAK_BLOCK_(is_fatal, from) \
    ALLOCSCOPE_CHECK_BLOCK_(block_without_leaks, is_fatal, "no leaks", ::allocscope::threads::from)
#define ALLOCSCOPE_SILENT_BLOCK_(is_fatal)                             \
    ALLOCSCOPE_CHECK_BLOCK_(block_without, is_fatal, "no allocations", \
                            ::allocscope::forbidden::allocations)
#define ALLOCSCOPE_AT_MOST_BLOCK_(is_fatal, most)                                        \
    ALLOCSCOPE_CHECK_BLOCK_(block_within_budget, is_fatal, "allocations at most " #most, \
                            ::allocscope::detail::allocations_at_most(most))
#define ALLOCSCOPE_BUDGET_BLOCK_(is_fatal, ...)                                           \
    ALLOCSCOPE_CHECK_BLOCK_(block_within_budget, is_fatal, "within budget " #__VA_ARGS__, \
                            __VA_ARGS__)

// Nothing that any thread allocates in the block is alive at its end.
#define ALLOCSCOPE_CHECK_NO_LEAKS ALLOCSCOPE_LEAK_BLOCK_(false, all)
#define ALLOCSCOPE_REQUIRE_NO_LEAKS ALLOCSCOPE_LEAK_BLOCK_(true, all)
// The same, but only for what this thread allocates, while other threads work.
#define ALLOCSCOPE_CHECK_NO_LEAKS_ON_THIS_THREAD ALLOCSCOPE_LEAK_BLOCK_(false, current)
#define ALLOCSCOPE_REQUIRE_NO_LEAKS_ON_THIS_THREAD ALLOCSCOPE_LEAK_BLOCK_(true, current)

// This thread allocates nothing in the block.
#define ALLOCSCOPE_CHECK_NO_ALLOCATIONS ALLOCSCOPE_SILENT_BLOCK_(false)
#define ALLOCSCOPE_REQUIRE_NO_ALLOCATIONS ALLOCSCOPE_SILENT_BLOCK_(true)

// This thread allocates at most `most` objects in the block. `most` is any integer; a negative one
// fails the test case, and the message names it.
#define ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(most) ALLOCSCOPE_AT_MOST_BLOCK_(false, most)
#define ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(most) ALLOCSCOPE_AT_MOST_BLOCK_(true, most)

// The argument is an allocation_budget. An initialiser with commas works, too.
#define ALLOCSCOPE_CHECK_WITHIN_BUDGET(...) ALLOCSCOPE_BUDGET_BLOCK_(false, __VA_ARGS__)
#define ALLOCSCOPE_REQUIRE_WITHIN_BUDGET(...) ALLOCSCOPE_BUDGET_BLOCK_(true, __VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_CHECK_BLOCKS_HPP
