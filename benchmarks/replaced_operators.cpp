// replaced_operators.cpp - the one translation unit that puts the hooks into a benchmark program.

#include <allocscope/define_once/operator_new_delete.hpp>
