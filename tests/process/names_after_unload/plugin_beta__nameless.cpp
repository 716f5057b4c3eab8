// Linked without a build id.
#define ALLOCSCOPE_TEST_TYPE beta__type
#define ALLOCSCOPE_TEST_SOURCE "beta__source.cpp"
#include "plugin_body.hpp"
