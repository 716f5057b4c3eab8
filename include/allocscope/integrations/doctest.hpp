// doctest.hpp - the door for doctest: every case, or a block, must free what it allocates.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by test files that include it instead of <doctest/doctest.h>, or after it
// Threads:  see check_blocks.hpp and doctest_listener.hpp
// Memory:   none of its own
//
//     #include <allocscope/integrations/doctest.hpp>
//     ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE();                        // in one .cpp
//
//     TEST_CASE("keeps two" * allocscope::expect_leaks(2)) { ... }
//     TEST_CASE("explicit") {
//         ALLOCSCOPE_CHECK_NO_LEAKS { work(); }
//         ALLOCSCOPE_CHECK_ALLOCATIONS_AT_MOST(3) { work(); }
//     }
//
// For doctest 2.4.9 and later. The program needs the hooks as always, from a header of define_once/
// or from a CMake target. Without the hooks the first case fails and says so. With
// DOCTEST_CONFIG_DISABLE nothing is checked, and blocks just run. See docs/how_to/doctest.md.

#ifndef ALLOCSCOPE_INTEGRATIONS_DOCTEST_HPP
#define ALLOCSCOPE_INTEGRATIONS_DOCTEST_HPP

#include <allocscope/integrations/check_blocks.hpp>
#include <allocscope/integrations/doctest_framework.hpp>
#include <allocscope/integrations/doctest_listener.hpp>

// Use it in one .cpp of the program: every case must free what it allocates, on each pass. The
// argument holds for all cases. It is allocscope::threads::current, which charges only the
// allocations of the thread that runs the cases, or leak_options, whose texts must stay valid.
#ifdef DOCTEST_CONFIG_DISABLE
    #define ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE(...) static_assert(true, "")
#else
    #define ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE(...)                                   \
        [[maybe_unused]] static const bool DOCTEST_ANONYMOUS(allocscope_every_case_) = \
            ::allocscope::detail::check_every_doctest_case(                            \
                ::allocscope::detail::doctest_options(__VA_ARGS__))
#endif

#endif  // ALLOCSCOPE_INTEGRATIONS_DOCTEST_HPP
