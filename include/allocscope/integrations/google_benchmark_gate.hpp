// google_benchmark_gate.hpp - a reporter before the reporter: leaks and broken limits fail the run.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by run_benchmarks(); by a user with reporters of their own
// Threads:  Google Benchmark calls a reporter on the thread that runs the benchmarks
// Memory:   copies of the runs of one benchmark while they are reported
//
//     my_reporter reporter;
//     allocscope::benchmark_gate gate{reporter};
//     benchmark::RunSpecifiedBenchmarks(&gate);
//     return gate.failures() == 0 ? 0 : 1;

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/google_benchmark_rules.hpp>
#include <allocscope/integrations/google_benchmark_scope.hpp>
#include <allocscope/integrations/google_benchmark_versions.hpp>

#include <benchmark/benchmark.h>  // BenchmarkReporter, MemoryManager, IterationCount
#include <cmath>                  // llround, isnan
#include <cstddef>                // size_t
#include <set>                    // set
#include <string>                 // string
#include <type_traits>            // is_trivially_copyable, is_trivially_destructible
#include <vector>                 // vector

ALLOCSCOPE_NAMESPACE_BEGIN

// Passes runs on to another reporter, with what it needs to show them right:
// - a run that leaks or breaks a limit has become an error, with its numbers where the format shows
//   both; its aggregates are left out, as Google Benchmark leaves out those of its own errors;
// - the memory fields of JSON are filled from the run itself (all threads, every repetition);
// - `pad_errors`: runs that failed get the four counters, all 0. CSV needs that (it shows none of
//   them): its header has the columns of the first run, and a later column ends the program.
// While a gate exists, scopes do not fail runs themselves. Each reporter needs one: also that of
// --benchmark_out, or its file shows the inner counter of the scopes.
class benchmark_gate : public detail::reporter_base<benchmark::BenchmarkReporter>::type {
public:
    // The reporter must outlive the gate.
    explicit benchmark_gate(benchmark::BenchmarkReporter& reporter, bool pad_errors = false)
        : reporter_(reporter), pads_errors_(pad_errors) {
        ++detail::benchmark_gates;
    }
    ~benchmark_gate() { --detail::benchmark_gates; }
    benchmark_gate(const benchmark_gate&) = delete;
    benchmark_gate& operator=(const benchmark_gate&) = delete;

    // Reported runs that failed: ours and those of SkipWithError().
    std::size_t failures() const noexcept { return failures_; }

    // For Google Benchmark. Not each is virtual in each release: no `override`.
    bool ReportContext(const Context& context);
    void ReportRuns(const std::vector<Run>& runs);
    void ReportRunsConfig(double min_time, bool has_iterations,
                          benchmark::IterationCount iterations) {
        detail::forward_runs_config(reporter_, min_time, has_iterations, iterations, 0);
    }
    void Finalize() { reporter_.Finalize(); }

private:
    benchmark::BenchmarkReporter& listed() { return reporter_; }

    void judge_run(Run& run);

    benchmark::BenchmarkReporter& reporter_;
    bool pads_errors_;
    std::set<std::string> seen_;    // benchmarks of which a run was reported
    std::set<std::string> failed_;  // and of those, or their aggregates, one failed
    std::size_t failures_ = 0;
};

namespace detail {

inline double counter_of(const benchmark_run& run, const char* name) {
    const auto found = run.counters.find(name);
    return found != run.counters.end() ? found->second.value : 0;
}

inline benchmark_usage usage_of(const benchmark_run& run) {
    benchmark_usage used;
    used.allocations = counter_of(run, "allocs/op");
    used.bytes = counter_of(run, "bytes/op");
    used.peak_bytes = counter_of(run, "peak");
    used.live_bytes = counter_of(run, "live");
    used.live_objects = counter_of(run, objects_counter);
    return used;
}

inline bool has_scope(const benchmark_run& run) {
    return run.counters.find(objects_counter) != run.counters.end();
}

// A result that is not constructed: its constructor uses a constant that shared libraries of older
// releases do not export.
class memory_result {
public:
    using result_type = benchmark::MemoryManager::Result;
    static_assert(std::is_trivially_copyable<result_type>::value &&
                      std::is_trivially_destructible<result_type>::value,
                  "its bytes are its value");

    void fill_from(const benchmark_run& run) {
        const benchmark_usage used = usage_of(run);
        const double iterations = static_cast<double>(run.iterations);
        const auto rounded = [](double value) {
            return static_cast<benchmark::IterationCount>(std::llround(value));
        };
        get().num_allocs = rounded(used.allocations * iterations);
        get().max_bytes_used = rounded(used.peak_bytes);
        set_growth(get(), rounded(used.bytes * iterations), rounded(used.live_bytes), 0);
        set_iterations(get(), run.iterations, 0);
    }
    result_type& get() noexcept { return *reinterpret_cast<result_type*>(bytes_); }

private:
    alignas(result_type) unsigned char bytes_[sizeof(result_type)] = {};
};

// The coefficient of variation of numbers that are all 0: older releases print it as NaN, which is
// not JSON.
inline void set_nan_to_zero(benchmark_run& run) {
    for (auto& [name, counter] : run.counters) {
        if (std::isnan(counter.value)) counter.value = 0;
    }
}

inline void pad_counters(benchmark_run& run) {
    for (const char* name : {"allocs/op", "bytes/op", "peak", "live"}) {
        run.counters.insert({name, benchmark::Counter{}});
    }
}

}  // namespace detail

// definitions

inline bool benchmark_gate::ReportContext(const Context& context) {
    reporter_.SetOutputStream(&GetOutputStream());
    reporter_.SetErrorStream(&GetErrorStream());
    return reporter_.ReportContext(context);
}

// Aggregates are judged only where they are all that is reported of a benchmark
// (--benchmark_report_aggregates_only). They may come in a call of their own, after the runs.
inline void benchmark_gate::judge_run(Run& run) {
    const std::string name = run.run_name.str();
    const bool is_aggregate = run.run_type != Run::RT_Iteration;
    if (!is_aggregate) seen_.insert(name);
    const bool is_judged =
        !is_aggregate || (seen_.count(name) == 0 && run.aggregate_name == "mean");
    if (is_judged && !detail::run_has_no_numbers(run, 0) && detail::has_scope(run)) {
        const std::string message =
            detail::judge(detail::remembered.last_rule(), detail::usage_of(run), name);
        if (!message.empty()) detail::fail_run(run, message, 0);
    }
    if (detail::run_failed(run, 0)) {
        ++failures_;
        failed_.insert(name);
        if (pads_errors_) detail::pad_counters(run);
    }
    if (is_aggregate && detail::has_scope(run)) detail::set_nan_to_zero(run);
    run.counters.erase(detail::objects_counter);
}

inline void benchmark_gate::ReportRuns(const std::vector<Run>& runs) {
    std::vector<Run> judged{runs};
    std::vector<detail::memory_result> results(judged.size());
    for (std::size_t i = 0; i < judged.size(); ++i) {
        Run& run = judged[i];
        if (run.run_type == Run::RT_Iteration && detail::has_scope(run)) {
            results[i].fill_from(run);
            detail::set_memory_result(run, results[i].get());
            run.allocs_per_iter = detail::counter_of(run, "allocs/op");
        }
        judge_run(run);
    }
    // The statistics over runs of which one failed say nothing.
    std::vector<Run> shown;
    for (const Run& run : judged) {
        if (run.run_type == Run::RT_Iteration || detail::run_failed(run, 0) ||
            failed_.count(run.run_name.str()) == 0) {
            shown.push_back(run);
        }
    }
    if (!shown.empty()) reporter_.ReportRuns(shown);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE_HPP
