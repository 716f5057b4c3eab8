#include "plugin_function.hpp"

ALLOCSCOPE_TEST_PLUGIN(24, 32);
