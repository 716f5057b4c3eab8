// Linked without a build id.
#define NAME alpha_type
#define SOURCE "alpha_source.cpp"
#include "plugin_body.hpp"
