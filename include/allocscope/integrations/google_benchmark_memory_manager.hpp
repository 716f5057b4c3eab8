// google_benchmark_memory_manager.hpp - fills Google Benchmark's own memory fields from a window.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by users who have their own main(); by Google Benchmark around its memory pass
// Threads:  Google Benchmark calls it on the thread that runs the benchmarks
// Memory:   a window, during a memory pass
//
//     allocscope::benchmark_memory_manager memory;      // in main(), before the benchmarks run
//     benchmark::RegisterMemoryManager(&memory);
//
// ALLOCSCOPE_BENCHMARK_MAIN does not need it: it fills the same fields from the timed run itself.

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/google_benchmark_scope.hpp>
#include <allocscope/integrations/google_benchmark_versions.hpp>
#include <allocscope/measure/scope.hpp>

#include <benchmark/benchmark.h>  // MemoryManager
#include <cstdint>                // int64_t, uint64_t
#include <memory>                 // unique_ptr

ALLOCSCOPE_NAMESPACE_BEGIN

// Fills num_allocs, max_bytes_used, total_allocated_bytes and net_heap_growth. For these fields
// Google Benchmark calls the function once more, with up to 16 iterations on one thread.
//
// If the function has a benchmark_scope, the numbers are those of the scope: only the loop counts.
// Otherwise all that the thread allocates in the pass counts, also what Google Benchmark allocates:
// releases up to 1.9.5 allocate one object there and call Setup and Teardown. Releases up to 1.9.1
// keep pointers to results that have moved: with two or more repetitions their memory fields are
// wrong with any memory manager.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
class benchmark_memory_manager : public benchmark::MemoryManager {
public:
    // Releases differ in which of these are virtual, so there is no `override`.
    void Start();
    void Stop(Result& result) { fill(result); }
    void Stop(Result* result) { fill(*result); }

private:
    void fill(Result& result);

    std::unique_ptr<scope> window_;
};
#pragma GCC diagnostic pop

// definitions

inline void benchmark_memory_manager::Start() {
    const pause_recording not_of_the_benchmark;
    detail::memory_pass = {};
    detail::memory_pass.is_open = true;
    window_.reset(
        new scope{"benchmark memory pass", detail::options_of_benchmark(recording::counters)});
}

inline void benchmark_memory_manager::fill(Result& result) {
    const allocation_counts all = window_ ? window_->counts() : allocation_counts{};
    window_.reset();
    detail::memory_pass.is_open = false;
    const allocation_counts used = detail::memory_pass.had_scope ? detail::memory_pass.totals : all;
    const auto number = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    result.num_allocs = number(used.allocations);
    result.max_bytes_used = number(used.peak_bytes);
    result.total_allocated_bytes = number(used.bytes_allocated);
    result.net_heap_growth = number(used.live_bytes());
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_MEMORY_MANAGER_HPP
