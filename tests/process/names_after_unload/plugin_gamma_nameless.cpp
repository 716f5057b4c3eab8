// Linked without a build id.
#define NAME gamma_type
#define SOURCE "gamma_source.cpp"
#include "plugin_body.hpp"
