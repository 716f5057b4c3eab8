#include "plugin_function.hpp"

ALLOCSCOPE_TEST_PLUGIN(56, 64);
