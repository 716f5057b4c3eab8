// Linked without a build id.
#define NAME beta__type
#define SOURCE "beta__source.cpp"
#include "plugin_body.hpp"
