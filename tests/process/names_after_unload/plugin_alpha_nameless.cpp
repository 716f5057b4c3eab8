// Linked without a build id.
#define ALLOCSCOPE_TEST_TYPE alpha_type
#define ALLOCSCOPE_TEST_SOURCE "alpha_source.cpp"
#include "plugin_body.hpp"
