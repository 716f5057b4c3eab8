// operator_new_delete.hpp - in place of the one that defines the operators, where those are linked.
//
// Room:     tests/support
// Called:   by examples that are built as tests, when this folder comes first on the include path
// Threads:  any
// Memory:   none
//
// The hooks take longer to compile than most examples. They are compiled once for all tests, as
// test_hooks.cpp; such an example links them. Others are built as their users build them.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_HOOKS_ARE_LINKED_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_HOOKS_ARE_LINKED_HPP

#include <allocscope/allocscope.hpp>

#include <string>  // as the real one, for the programs that include nothing else
#include <vector>  // likewise

#endif  // ALLOCSCOPE_TESTS_SUPPORT_HOOKS_ARE_LINKED_HPP
