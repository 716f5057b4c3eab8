#include <allocscope/define_once/malloc_family.hpp>
