// fault_run.hpp - what happened to a piece of code when one of its allocations failed.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   filled by verdict/fault_sweep.hpp, read through measure/for_each_allocation_failing.hpp
// Threads:  immutable after it was handed out
// Memory:   the texts belong to the sweep

#ifndef ALLOCSCOPE_SNAPSHOT_FAULT_RUN_HPP
#define ALLOCSCOPE_SNAPSHOT_FAULT_RUN_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/link/watch_requests.hpp>
#include <allocscope/snapshot/check_data.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

// How a run of the code ended.
enum class fault_outcome : std::uint32_t {
    returned,         // it managed without the memory, or none of its allocations failed
    threw_bad_alloc,  // or an exception derived from it
    threw_other       // this is an error: callers expect bad_alloc
};

struct fault_run {
    std::uint64_t nth;  // which allocation failed, from 1; 0: none, in the last run
    fault_outcome outcome;
    std::uint64_t leaked_objects;  // alive after the run
    std::uint64_t leaked_bytes;
    const char* site;    // of the failed allocation, as file:line; "" when unknown
    const char* detail;  // what() of another exception

    ALLOCSCOPE_FAST_PATH bool is_good() const noexcept {
        return outcome != fault_outcome::threw_other && leaked_objects == 0;
    }
};

namespace detail {

struct sweep_request {
    plan_id plan;
    window_id window;
    std::uint64_t nth;
    fault_outcome outcome;
    const char* detail;
    const char* expected;
};

struct sweep_data {
    std::uint32_t references;
    void (*release)(sweep_data*);
    const fault_run* runs;
    std::size_t run_count;
    std::uint64_t bad_runs;
    check_data* verdict;  // one reference; null until the sweep has ended
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_FAULT_RUN_HPP
