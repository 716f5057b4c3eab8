// The second inclusion in one program: must be refused by the linker.
#include <allocscope/define_once/operator_new_delete.hpp>
