// gtest_framework.hpp - what only GoogleTest has: its names, its failures, the blocks in its tests.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by gtest_listener.hpp, and through the macros by the user in a test of GoogleTest
// Threads:  NO_LEAKS counts the objects of every thread; the other macros, and those that end in
//           _ON_THIS_THREAD, count only those of the thread that enters the block
// Memory:   about 300 bytes on the stack for a block
//
//     ALLOCSCOPE_EXPECT_NO_LEAKS { connect(); disconnect(); }
//     ALLOCSCOPE_ASSERT_NO_ALLOCATIONS { filter.process(samples); }
//     ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(3) { parse(text); }
//     ALLOCSCOPE_EXPECT_WITHIN_BUDGET(limits) { load(file); }     // allocscope::allocation_budget
//
// After a failure EXPECT continues and ASSERT returns from the function, as with GoogleTest's own.
// The failure names the line of the macro. An assertion inside a block counts if it allocates; a
// passing one of GoogleTest does not.
//
// In a test GoogleTest keeps recorded properties, the buffers of SCOPED_TRACE, and the mocks that
// it knows.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_FRAMEWORK_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_FRAMEWORK_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/checked_block.hpp>
#include <allocscope/integrations/checked_test.hpp>
#include <allocscope/integrations/framework_stacks.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/scope.hpp>

#include <gtest/gtest.h>  // ADD_FAILURE_AT, GTEST_FAIL_AT, Test

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline constexpr const char* gtest_runners[] = {
    "testing::internal::HandleExceptionsInMethodIfSupported",
    "testing::internal::HandleSehExceptionsInMethodIfSupported",
    "testing::Test::Run",
    "testing::TestInfo::Run",
    "testing::TestSuite::Run",
    "testing::internal::UnitTestImpl::RunAllTests",
    "testing::UnitTest::Run",
    "RUN_ALL_TESTS",
    nullptr};
inline constexpr const char* gtest_callers[] = {"testing::internal::TestFactoryImpl", nullptr};
inline constexpr const char* gtest_tellers[] = {"testing::internal::TestEventRepeater::", nullptr};
inline constexpr framework_names gtest_names{"testing::",   gtest_runners, gtest_callers, nullptr,
                                             gtest_tellers, nullptr,       nullptr};

inline constexpr test_framework gtest_framework{
    own_leaks<gtest_names>(nullptr),
    true,
    [] { return "block"; },
    [] { return ::testing::Test::HasFailure(); },
    nullptr,
    [](const block_claim& claim, const check_result& found, bool) {
        if (found) return;
        const pause_recording quietly;
        ADD_FAILURE_AT(claim.file, claim.line) << found.message();
    }};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#define ALLOCSCOPE_GTEST_EXPECT_(check, ...) \
    ALLOCSCOPE_BLOCK_(&::allocscope::detail::gtest_framework, check, false, "", __VA_ARGS__)
// GTEST_FAIL_AT returns by itself only in newer versions. The switch keeps an `else` after the
// block from being taken for the else of this `if`.
#define ALLOCSCOPE_GTEST_ASSERT_(check, ...)                                                    \
    switch (0)                                                                                  \
    case 0:                                                                                     \
    default:                                                                                    \
        ALLOCSCOPE_BLOCK_(&::allocscope::detail::gtest_framework, check, true, "", __VA_ARGS__) \
    if (ALLOCSCOPE_BLOCK_NAME_(check, __LINE__).has_failed()) {                                 \
        GTEST_FAIL_AT(__FILE__, __LINE__) << ALLOCSCOPE_BLOCK_NAME_(check, __LINE__).message(); \
        return;                                                                                 \
    } else

// Nothing that any thread allocates in the block is alive at its end.
#define ALLOCSCOPE_EXPECT_NO_LEAKS \
    ALLOCSCOPE_GTEST_EXPECT_(block_without_leaks, ::allocscope::threads::all)
#define ALLOCSCOPE_ASSERT_NO_LEAKS \
    ALLOCSCOPE_GTEST_ASSERT_(block_without_leaks, ::allocscope::threads::all)
#define ALLOCSCOPE_EXPECT_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_GTEST_EXPECT_(block_without_leaks, ::allocscope::threads::current)
#define ALLOCSCOPE_ASSERT_NO_LEAKS_ON_THIS_THREAD \
    ALLOCSCOPE_GTEST_ASSERT_(block_without_leaks, ::allocscope::threads::current)

#define ALLOCSCOPE_EXPECT_NO_ALLOCATIONS \
    ALLOCSCOPE_GTEST_EXPECT_(block_without, ::allocscope::forbidden::allocations)
#define ALLOCSCOPE_ASSERT_NO_ALLOCATIONS \
    ALLOCSCOPE_GTEST_ASSERT_(block_without, ::allocscope::forbidden::allocations)

// `most` is any integer; a negative one fails, and the message names it.
#define ALLOCSCOPE_EXPECT_ALLOCATIONS_AT_MOST(most) \
    ALLOCSCOPE_EXPECT_WITHIN_BUDGET(::allocscope::detail::allocations_at_most(most))
#define ALLOCSCOPE_ASSERT_ALLOCATIONS_AT_MOST(most) \
    ALLOCSCOPE_ASSERT_WITHIN_BUDGET(::allocscope::detail::allocations_at_most(most))

// The argument is an allocation_budget. An initialiser with commas works, too.
#define ALLOCSCOPE_EXPECT_WITHIN_BUDGET(...) \
    ALLOCSCOPE_GTEST_EXPECT_(block_within_budget, __VA_ARGS__)
#define ALLOCSCOPE_ASSERT_WITHIN_BUDGET(...) \
    ALLOCSCOPE_GTEST_ASSERT_(block_within_budget, __VA_ARGS__)

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_FRAMEWORK_HPP
