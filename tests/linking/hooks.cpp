// The once-per-program part.
#include <allocscope/define_once/operator_new_delete.hpp>
