#define ALLOCSCOPE_TEST_TYPE gamma_type
#define ALLOCSCOPE_TEST_SOURCE "gamma_source.cpp"
#include "plugin_body.hpp"
