#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <allocscope/integrations/doctest.hpp>

ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE();
