#if !__has_include(<doctest/doctest.h>)
    // In CMake: in the same folder, or in one above it.
    #error "no <doctest/doctest.h>: find_package(doctest) must come before allocscope's"
#endif
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <allocscope/integrations/doctest.hpp>

ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE();
