#include "plugin_function.hpp"

// Linked without a build id.
ALLOCSCOPE_TEST_PLUGIN(40, 48);
