// pools.hpp - the door for allocators other than operator new: they report what they hand out.
//
// Room:     root, a door (above all floors)
// Called:   by the translation units that have such allocators
// Threads:  see the headers behind it
// Memory:   see the headers behind it
//
//     #include <allocscope/pools.hpp>
//
//     allocscope::report_allocation(block, bytes, "arena");
//     std::vector<order, allocscope::allocator<order>> orders;
//     allocscope::reported_resource reported{&pool, "orders"};
//
// This door is a part of hooks.hpp and takes half the time to compile.

#ifndef ALLOCSCOPE_POOLS_HPP
#define ALLOCSCOPE_POOLS_HPP

#include <allocscope/measure/pool_reports.hpp>
#include <allocscope/measure/reported_resource.hpp>
#include <allocscope/measure/typed_allocator.hpp>

#endif  // ALLOCSCOPE_POOLS_HPP
