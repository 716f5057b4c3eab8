// catch2.hpp - Catch2: every test case must free what it allocated, and blocks keep to budgets.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the user's tests, with Catch2 2.13 and 3
// Threads:  see catch2_listener.hpp and check_blocks.hpp
// Memory:   see these two
//
//     #define CATCH_CONFIG_RUNNER          // version 2 only
//     #include <allocscope/integrations/catch2.hpp>
//     ALLOCSCOPE_CATCH2_MAIN()             // in one .cpp; beside another main:
//                                          // ALLOCSCOPE_CATCH2_CHECK_EVERY_CASE();
//
//     TEST_CASE("keeps two") {
//         allocscope::expect_leaks(2);
//         ALLOCSCOPE_CHECK_NO_LEAKS { connect(); disconnect(); }
//         ALLOCSCOPE_REQUIRE_ALLOCATIONS_AT_MOST(3) { parse(text); }
//     }
//
// docs/how_to/catch2.md explains the adapter and shows the output of a failing test.

#ifndef ALLOCSCOPE_INTEGRATIONS_CATCH2_HPP
#define ALLOCSCOPE_INTEGRATIONS_CATCH2_HPP

#include <allocscope/integrations/catch2_framework.hpp>
#include <allocscope/integrations/catch2_listener.hpp>
#include <allocscope/integrations/check_blocks.hpp>
#include <allocscope/integrations/leak_remarks.hpp>

#endif  // ALLOCSCOPE_INTEGRATIONS_CATCH2_HPP
