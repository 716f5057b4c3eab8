#include "plugin_function.hpp"

// Linked without a build id.
ALLOCSCOPE_TEST_PLUGIN(88, 96);
