// replaced_malloc.cpp - puts the hooks of malloc into a benchmark program, and the operators'.

#include <allocscope/define_once/malloc_family.hpp>
