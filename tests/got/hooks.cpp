#include <allocscope/define_once/operator_new_delete.hpp>
