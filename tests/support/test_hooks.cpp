// The one translation unit with the hooks, compiled once for all tests that do not bring their own.
#include <allocscope/define_once/operator_new_delete.hpp>
