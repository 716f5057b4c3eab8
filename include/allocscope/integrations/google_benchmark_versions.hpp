// google_benchmark_versions.hpp - the differences between releases of Google Benchmark.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the other google_benchmark_*.hpp
// Threads:  each function uses only its arguments
// Memory:   what a std::string takes
//
// benchmark.h has no version macro, so each difference is detected by what compiles, from release
// 1.7.1 to the state after 1.9.5.
//
//                      1.7.1                        1.8                       1.9.2
//     failed run       Run::error_occurred          Run::skipped              the same
//     memory fields    Run::memory_result points    the same                  they are in the Run
//     ReportRunsConfig -                            virtual                   the same
//     List             -                            -                         virtual (after 1.9.5)

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_VERSIONS_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_VERSIONS_HPP

#include <allocscope/config.hpp>

#include <benchmark/benchmark.h>  // BenchmarkReporter, MemoryManager, State
#include <string>                 // string
#include <type_traits>            // false_type, is_invocable_v, is_pointer_v, void_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

using benchmark_run = benchmark::BenchmarkReporter::Run;

// Releases since 1.8 distinguish runs that were skipped from runs that failed.
template <class Run, class = void>
struct tells_skips : std::false_type {};
template <class Run>
struct tells_skips<Run, std::void_t<decltype(&Run::skip_message)>> : std::true_type {};

enum class run_outcome { has_numbers, skipped, failed };

template <class Run>
run_outcome outcome_of(const Run& run) {
    if constexpr (tells_skips<Run>::value) {
        using skips = decltype(Run::skipped);
        if (run.skipped == skips::SkippedWithError) return run_outcome::failed;
        return run.skipped == skips::NotSkipped ? run_outcome::has_numbers : run_outcome::skipped;
    } else {
        return run.error_occurred ? run_outcome::failed : run_outcome::has_numbers;
    }
}

template <class Run>
void fail_run(Run& run, const std::string& message) {
    if constexpr (tells_skips<Run>::value) {
        run.skipped = decltype(Run::skipped)::SkippedWithError;
        run.skip_message = message;
    } else {
        run.error_occurred = true;
        run.error_message = message;
    }
}

// Calls `newer`, or `older` if `newer` does not compile with these arguments.
template <class Newer, class Older, class... Arguments>
decltype(auto) newer_or(Newer newer, Older older, Arguments&... arguments) {
    if constexpr (std::is_invocable_v<Newer, Arguments&...>) {
        return newer(arguments...);
    } else {
        return older(arguments...);
    }
}

// Whether the run was skipped, with a message or with an error: in both cases its numbers mean
// nothing.
template <class State>
bool is_skipped(const State& state) {
    return newer_or([](auto& its) -> decltype(its.skipped()) { return its.skipped(); },
                    [](auto& its) { return its.error_occurred(); }, state);
}

template <class Result>
void set_iterations(Result& result, benchmark::IterationCount iterations) {
    newer_or([iterations](auto& its) -> decltype(its.memory_iterations,
                                                 void()) { its.memory_iterations = iterations; },
             [](auto&) {}, result);
}

// If the run only points to the result, `result` must outlive the use of the run.
template <class Run>
void set_memory_result(Run& run, const benchmark::MemoryManager::Result& result) {
    if constexpr (std::is_pointer_v<decltype(run.memory_result)>) {
        run.memory_result = &result;
    } else {
        run.memory_result = result;
    }
}

// The type that BenchmarkReporter::List takes; where there is no such function, a type that no
// object has.
template <class Reporter, class = void>
struct list_argument {
    struct type {};
};
template <class Reporter>
struct list_argument<Reporter, std::void_t<decltype(&Reporter::List)>> {
    template <class Argument>
    static Argument taken_by(void (Reporter::*)(Argument));
    using type = decltype(taken_by(&Reporter::List));
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

// For ALLOCSCOPE_BENCHMARK_MAIN: newer releases start the program again without address
// randomisation, for steadier times. It is outside our namespace, because inside it would hide
// theirs.
namespace allocscope_older_benchmark {
inline void MaybeReenterWithoutASLR(...) {}
}  // namespace allocscope_older_benchmark

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_VERSIONS_HPP
