// fwd.hpp - the public names, as declarations only.
//
// Room:     root (floor 0), malloc-safe
// Called:   include it where a signature mentions an allocscope type
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_FWD_HPP
#define ALLOCSCOPE_FWD_HPP

#include <allocscope/config.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

enum class recording;
enum class threads;
enum class unwinding;
struct options;
struct allocation_counts;
class scope;
class snapshot;
class pause_recording;
class check_result;
class allocation_budget;
class allocation_limit;
class budget_guard;
class leak_check;
class leak_guard;
class no_allocation_guard;
class allow_allocations;
class on_violation;
class violation_error;
class fail_allocation;
class fail_after_bytes;
class fail_randomly;
class fault_sweep;
class reported_resource;
template <class T>
class allocator;
struct leak_options;
struct memory_use;
struct run_counts;
struct sweep_options;

namespace detail {
struct engine;
struct snapshot_data;
}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_FWD_HPP
