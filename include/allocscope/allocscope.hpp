// allocscope.hpp - the everyday door: windows, counts, and what is still alive.
//
// Room:     root, a door (above all floors)
// Called:   by every translation unit that opens a window or looks at one
// Threads:  see measure/scope.hpp
// Memory:   none of its own
//
//     #include <allocscope/allocscope.hpp>
//     #include <allocscope/define_once/operator_new_delete.hpp>   // in one .cpp of the program
//
//     allocscope::scope window{"quick start"};
//     work();
//     std::cout << window.stats();             // "   1000 quick_start.cpp:9:std::string"
//
// This header holds declarations only and compiles as fast as four small standard headers. The
// machinery is compiled once, in the translation unit that includes a header of define_once/.

#ifndef ALLOCSCOPE_ALLOCSCOPE_HPP
#define ALLOCSCOPE_ALLOCSCOPE_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/measure/allocation_budget.hpp>
#include <allocscope/measure/allocations_of.hpp>
#include <allocscope/measure/budget_guard.hpp>
#include <allocscope/measure/check_result.hpp>
#include <allocscope/measure/fail_allocation.hpp>
#include <allocscope/measure/for_each_allocation_failing.hpp>
#include <allocscope/measure/leak_check.hpp>
#include <allocscope/measure/library_frames.hpp>
#include <allocscope/measure/no_allocation_guard.hpp>
#include <allocscope/measure/on_violation.hpp>
#include <allocscope/measure/scope.hpp>
#include <allocscope/snapshot/print_rows.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/version.hpp>

#endif  // ALLOCSCOPE_ALLOCSCOPE_HPP
