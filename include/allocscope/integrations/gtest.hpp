// gtest.hpp - GoogleTest: every test must free what it allocated, and blocks keep to budgets.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the user's tests, with GoogleTest 1.12 and newer
// Threads:  see gtest_listener.hpp and gtest_framework.hpp
// Memory:   see these two
//
//     #include <allocscope/integrations/gtest.hpp>
//     ALLOCSCOPE_GTEST_CHECK_EVERY_TEST();     // in one .cpp; or append the listener in main
//
//     TEST(registry, keeps_two) {
//         allocscope::expect_leaks(2);
//         ALLOCSCOPE_EXPECT_NO_LEAKS { connect(); disconnect(); }
//         ALLOCSCOPE_ASSERT_ALLOCATIONS_AT_MOST(3) { parse(text); }
//     }
//
// docs/how_to/gtest.md explains the adapter and shows the output of a failing test.

#ifndef ALLOCSCOPE_INTEGRATIONS_GTEST_HPP
#define ALLOCSCOPE_INTEGRATIONS_GTEST_HPP

#include <allocscope/integrations/gtest_framework.hpp>
#include <allocscope/integrations/gtest_listener.hpp>
#include <allocscope/integrations/leak_remarks.hpp>

#endif  // ALLOCSCOPE_INTEGRATIONS_GTEST_HPP
