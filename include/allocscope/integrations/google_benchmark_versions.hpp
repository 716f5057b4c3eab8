// google_benchmark_versions.hpp - what differs between releases of Google Benchmark.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by the other google_benchmark_*.hpp
// Threads:  each function touches only its arguments
// Memory:   what a std::string takes
//
// benchmark.h has no version macro, so each difference is found by what compiles: from release
// 1.7.1 to what follows 1.9.5.
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
#include <type_traits>            // is_pointer_v, void_t
#include <utility>                // declval

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

using benchmark_run = benchmark::BenchmarkReporter::Run;

// Overloads below end in `int` where the newer form compiles and in `long` elsewhere: called with 0
// the first is the better match.

// Skipped with a message or with an error: either way its numbers mean nothing.
template <class State>
auto is_skipped(const State& state, int) -> decltype(state.skipped()) {
    return state.skipped();
}
template <class State>
bool is_skipped(const State& state, long) {
    return state.error_occurred();
}

template <class Run>
auto run_failed(const Run& run, int) -> decltype(run.skip_message, bool()) {
    return run.skipped == decltype(Run::skipped)::SkippedWithError;
}
template <class Run>
bool run_failed(const Run& run, long) {
    return run.error_occurred;
}

// A run without numbers, whether that is an error or not.
template <class Run>
auto run_has_no_numbers(const Run& run, int) -> decltype(run.skip_message, bool()) {
    return run.skipped != decltype(Run::skipped)::NotSkipped;
}
template <class Run>
bool run_has_no_numbers(const Run& run, long) {
    return run.error_occurred;
}

template <class Run>
auto fail_run(Run& run, const std::string& message, int) -> decltype(run.skip_message, void()) {
    run.skipped = decltype(Run::skipped)::SkippedWithError;
    run.skip_message = message;
}
template <class Run>
void fail_run(Run& run, const std::string& message, long) {
    run.error_occurred = true;
    run.error_message = message;
}

// The last two fields of a result: not in every release.
template <class Result>
auto set_growth(Result& result, benchmark::IterationCount total, benchmark::IterationCount net, int)
    -> decltype(result.net_heap_growth, void()) {
    result.total_allocated_bytes = total;
    result.net_heap_growth = net;
}
template <class Result>
void set_growth(Result&, benchmark::IterationCount, benchmark::IterationCount, long) {}

template <class Result>
auto set_iterations(Result& result, benchmark::IterationCount iterations, int)
    -> decltype(result.memory_iterations, void()) {
    result.memory_iterations = iterations;
}
template <class Result>
void set_iterations(Result&, benchmark::IterationCount, long) {}

// `result` must outlive what is done with the run where the run only points to it.
template <class Run>
void set_memory_result(Run& run, const benchmark::MemoryManager::Result& result) {
    if constexpr (std::is_pointer_v<decltype(run.memory_result)>) {
        run.memory_result = &result;
    } else {
        run.memory_result = result;
    }
}

// Forwards the calls that only some releases make. `Member` is the type of Base::List.
template <class Base, class Member>
class forwards_list;

template <class Base, class Argument>
class forwards_list<Base, void (Base::*)(Argument)> : public Base {
public:
    void List(Argument benchmarks) { listed().List(benchmarks); }

private:
    virtual Base& listed() = 0;
};

class forwards_no_list : public benchmark::BenchmarkReporter {
    virtual benchmark::BenchmarkReporter& listed() = 0;
};

template <class Base, class = void>
struct reporter_base {
    using type = forwards_no_list;
};
template <class Base>
struct reporter_base<Base, std::void_t<decltype(&Base::List)>> {
    using type = forwards_list<Base, decltype(&Base::List)>;
};

template <class Reporter>
auto forward_runs_config(Reporter& reporter, double min_time, bool has_iterations,
                         benchmark::IterationCount iterations, int)
    -> decltype(reporter.ReportRunsConfig(min_time, has_iterations, iterations)) {
    reporter.ReportRunsConfig(min_time, has_iterations, iterations);
}
template <class Reporter>
void forward_runs_config(Reporter&, double, bool, benchmark::IterationCount, long) {}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

// For ALLOCSCOPE_BENCHMARK_MAIN: newer releases start the program again without randomised
// addresses, for steadier times. Outside our namespace, because there it would hide theirs.
namespace allocscope_older_benchmark {
inline void MaybeReenterWithoutASLR(...) {}
}  // namespace allocscope_older_benchmark

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_VERSIONS_HPP
