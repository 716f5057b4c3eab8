// replaced_malloc.cpp - puts malloc's hooks into a benchmark program, beside those of the operators.

#include <allocscope/define_once/malloc_family.hpp>
