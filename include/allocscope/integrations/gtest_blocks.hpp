// gtest_blocks.hpp - assertions about a block inside a test: ALLOCSCOPE_EXPECT_NO_LEAKS { }.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   through the macros, by the user in a test of GoogleTest
// Threads:  NO_LEAKS counts every thread's objects; the others, and what ends in _ON_THIS_THREAD,
//           only those of the thread that enters the block
// Memory:   about 300 bytes on the stack
//
//     ALLOCSCOPE_EXPECT_NO_LEAKS { connect(); disconnect(); }
//     ALLOCSCOPE_ASSERT_NO_ALLOCATIONS { filter.process(samples); }
//     ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(3) { parse(text); }
//     ALLOCSCOPE_EXPECT_WITHIN_BUDGET(limits) { load(file); }     // allocscope::allocation_budget
//
// EXPECT goes on after a failure, ASSERT returns from the function, as GoogleTest's own. The place
// is the line of the macro. A block that is left by an exception, or by return after a failed
// assertion, is not judged: the test has failed already. Assertions inside a block are counted when
// they allocate, which passing ones of GoogleTest do not.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_BLOCKS_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_BLOCKS_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/checked_block.hpp>
#include <allocscope/integrations/gtest_own.hpp>
#include <allocscope/measure/scope.hpp>

#include <gtest/gtest.h>  // ADD_FAILURE_AT, GTEST_FAIL_AT, Test

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct gtest_voice {
    static constexpr bool leaves_by_return = true;
    // Fatal ones are told by the macro.
    static void fail(const char* file, int line, const char* message, bool) {
        const pause_recording quietly;
        ADD_FAILURE_AT(file, line) << message;
    }
    static void fail_in_destructor(const char* file, int line, const char* message) {
        fail(file, line, message, false);
    }
    static bool has_failed() { return ::testing::Test::HasFailure(); }
};

template <class Check>
using gtest_block = checked_block<Check, gtest_voice>;

inline leak_options gtest_leaks_of(threads from) noexcept {
    leak_options wanted;
    wanted.is_expected = &is_gtest_own;
    wanted.is_expected_by_symbols = &is_gtest_own_by_symbols;
    wanted.window.from = from;
    return wanted;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#define ALLOCSCOPE_GTEST_JOIN_(left, right) left##right
#define ALLOCSCOPE_GTEST_NAME_(line) ALLOCSCOPE_GTEST_JOIN_(allocscope_block_, line)
#define ALLOCSCOPE_GTEST_LOOP_(name, check, ...)                                                 \
    for (::allocscope::detail::gtest_block<::allocscope::detail::check> name{__FILE__, __LINE__, \
                                                                             __VA_ARGS__};       \
         name.next();)
#define ALLOCSCOPE_GTEST_EXPECT_(check, ...) \
    ALLOCSCOPE_GTEST_LOOP_(ALLOCSCOPE_GTEST_NAME_(__LINE__), check, __VA_ARGS__)
// GTEST_FAIL_AT returns by itself in newer versions only. The switch keeps an `else` behind the
// block from being taken for one of this `if`.
#define ALLOCSCOPE_GTEST_ASSERT_(check, ...)                                             \
    switch (0)                                                                           \
    case 0:                                                                              \
    default:                                                                             \
        ALLOCSCOPE_GTEST_LOOP_(ALLOCSCOPE_GTEST_NAME_(__LINE__), check, __VA_ARGS__)     \
    if (ALLOCSCOPE_GTEST_NAME_(__LINE__).has_failed()) {                                 \
        GTEST_FAIL_AT(__FILE__, __LINE__) << ALLOCSCOPE_GTEST_NAME_(__LINE__).message(); \
        return;                                                                          \
    } else

#define ALLOCSCOPE_GTEST_LEAKS_(from) \
    ::allocscope::detail::gtest_leaks_of(::allocscope::threads::from)
#define ALLOCSCOPE_EXPECT_NO_LEAKS \
    ALLOCSCOPE_GTEST_EXPECT_(block_without_leaks, false, ALLOCSCOPE_GTEST_LEAKS_(all))
#define ALLOCSCOPE_ASSERT_NO_LEAKS \
    ALLOCSCOPE_GTEST_ASSERT_(block_without_leaks, true, ALLOCSCOPE_GTEST_LEAKS_(all))
#define ALLOCSCOPE_EXPECT_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_GTEST_EXPECT_(block_without_leaks, false, ALLOCSCOPE_GTEST_LEAKS_(current))
#define ALLOCSCOPE_ASSERT_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_GTEST_ASSERT_(block_without_leaks, true, ALLOCSCOPE_GTEST_LEAKS_(current))

#define ALLOCSCOPE_EXPECT_NO_ALLOCATIONS ALLOCSCOPE_GTEST_EXPECT_(block_without_allocations, false)
#define ALLOCSCOPE_ASSERT_NO_ALLOCATIONS ALLOCSCOPE_GTEST_ASSERT_(block_without_allocations, true)

// `most` is any integer; a negative one is refused by name.
#define ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(most)      \
    ALLOCSCOPE_GTEST_EXPECT_(block_within_budget, false, \
                             ::allocscope::detail::allocations_at_most(most))
#define ALLOCSCOPE_ASSERT_ALLOCATIONS_AT_MOST(most)     \
    ALLOCSCOPE_GTEST_ASSERT_(block_within_budget, true, \
                             ::allocscope::detail::allocations_at_most(most))

// An allocation_budget; commas of an initialiser may stand in it.
#define ALLOCSCOPE_EXPECT_WITHIN_BUDGET(...) \
    ALLOCSCOPE_GTEST_EXPECT_(block_within_budget, false, __VA_ARGS__)
#define ALLOCSCOPE_ASSERT_WITHIN_BUDGET(...) \
    ALLOCSCOPE_GTEST_ASSERT_(block_within_budget, true, __VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_BLOCKS_HPP
