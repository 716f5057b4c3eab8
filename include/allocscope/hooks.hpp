// hooks.hpp - the door to memory that operator new does not see: malloc of libraries, your pools.
//
// Room:     root, a door (above all floors)
// Called:   by the translation units that attach hooks, or have such allocators
// Threads:  see the headers behind it
// Memory:   see the headers behind it
//
//     #include <allocscope/hooks.hpp>
//
//     allocscope::attach_hooks();  // malloc of every library is seen from now on
//     ...
//     allocscope::detach_hooks();
//
// Files that only report what their own pools hand out include pools.hpp instead.

#ifndef ALLOCSCOPE_HOOKS_HPP
#define ALLOCSCOPE_HOOKS_HPP

#include <allocscope/hooks/attach_hooks.hpp>
#include <allocscope/measure/pool_reports.hpp>
#include <allocscope/measure/reported_resource.hpp>
#include <allocscope/measure/typed_allocator.hpp>

#endif  // ALLOCSCOPE_HOOKS_HPP
