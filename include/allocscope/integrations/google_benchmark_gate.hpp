// google_benchmark_gate.hpp - a reporter before the reporter: leaks and broken limits fail the run.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by run_benchmarks(); by users who have their own reporters
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
#include <cmath>                  // llround
#include <cstddef>                // size_t
#include <cstdint>                // uint64_t
#include <cstring>                // memcpy
#include <map>                    // map
#include <mutex>                  // mutex, lock_guard
#include <optional>               // optional
#include <string>                 // string
#include <type_traits>            // is_trivially_copyable_v
#include <vector>                 // vector

ALLOCSCOPE_NAMESPACE_BEGIN

// Passes runs on to another reporter, and adds what that one needs to show them correctly:
// - A run that leaks or breaks a limit becomes an error. It keeps its numbers if the format shows
//   both. Its aggregates are left out, as Google Benchmark leaves out those of its own errors.
// - The memory fields of JSON are filled from the run itself (all threads, every repetition).
// - `pad_errors`: runs that failed get the four counters, all 0. CSV needs them, although it does
//   not show them: its header has the columns of the first run, and a column that only a later run
//   has ends the program.
// While a gate exists, scopes do not fail runs themselves. Each reporter needs its own gate, also
// that of --benchmark_out; without one its file shows the internal counter of the scopes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
class benchmark_gate : public benchmark::BenchmarkReporter {
public:
    // The reporter must outlive the gate.
    explicit benchmark_gate(benchmark::BenchmarkReporter& reporter, bool pad_errors = false)
        : reporter_(reporter), pads_errors_(pad_errors) {
        ++detail::benchmark_gates;
    }
    ~benchmark_gate() { --detail::benchmark_gates; }
    benchmark_gate(const benchmark_gate&) = delete;
    benchmark_gate& operator=(const benchmark_gate&) = delete;

    // The number of reported runs that failed: those that the gate failed, and those that called
    // SkipWithError().
    std::size_t failures() const noexcept { return failures_; }

    // Called by Google Benchmark. Not every release has all of them as virtual functions, so there
    // is no `override`.
    bool ReportContext(const Context& context);
    void ReportRuns(const std::vector<Run>& runs);
    void ReportRunsConfig(double min_time, bool has_iterations, benchmark::IterationCount count) {
        const auto forward =
            [=](auto& to) -> decltype(to.ReportRunsConfig(min_time, has_iterations, count)) {
            to.ReportRunsConfig(min_time, has_iterations, count);
        };
        detail::newer_or(
            forward, [](auto&) {}, reporter_);
    }
    void List(detail::list_argument<benchmark::BenchmarkReporter>::type benchmarks) {
        const auto forward = [](auto& to, auto& listed) -> decltype(to.List(listed)) {
            to.List(listed);
        };
        detail::newer_or(
            forward, [](auto&, auto&) {}, reporter_, benchmarks);
    }
    void Finalize() { reporter_.Finalize(); }

private:
    // This also judges the run. `used`: what its scope has counted, if it had one.
    bool is_shown(Run& run, const std::optional<detail::benchmark_usage>& used);

    benchmark::BenchmarkReporter& reporter_;
    bool pads_errors_;
    std::map<std::string, bool> has_failed_;  // of each benchmark with a reported run
    std::size_t failures_ = 0;
};
#pragma GCC diagnostic pop

namespace detail {

// std::isnan() is always false with -ffast-math, with which Google Benchmark was not compiled.
inline bool is_no_number(double value) noexcept {
    std::uint64_t bits = 0;
    static_assert(sizeof bits == sizeof value, "IEEE 754");
    std::memcpy(&bits, &value, sizeof bits);
    constexpr std::uint64_t infinity = 0x7ff0000000000000;
    return (bits & ~(std::uint64_t{1} << 63U)) > infinity;
}

// Nothing if the run had no scope.
inline std::optional<benchmark_usage> usage_of(const benchmark_run& run) {
    if (run.counters.count(objects_counter) == 0) return {};
    benchmark_usage used{};
    for (std::size_t i = 0; i < quantity::count; ++i) {
        const auto found = run.counters.find(benchmark_quantities[i].counter);
        if (found != run.counters.end()) used[i] = found->second.value;
    }
    return used;
}

// Memory for a result without constructing one: the constructor uses a constant that shared
// libraries of older releases do not export.
using memory_result = benchmark::MemoryManager::Result;
struct room_for_result {
    alignas(memory_result) unsigned char bytes[sizeof(memory_result)];
};
static_assert(std::is_trivially_copyable_v<memory_result>, "its bytes are its value");

inline void fill_memory_fields(benchmark_run& run, const benchmark_usage& used,
                               room_for_result& room) {
    const double iterations = static_cast<double>(run.iterations);
    auto& result = *reinterpret_cast<memory_result*>(&room);
    result.num_allocs = std::llround(used[quantity::allocations] * iterations);
    result.max_bytes_used = std::llround(used[quantity::peak_bytes]);
    result.total_allocated_bytes = std::llround(used[quantity::bytes] * iterations);
    result.net_heap_growth = std::llround(used[quantity::live_bytes]);
    set_iterations(result, run.iterations);
    set_memory_result(run, result);
    run.allocs_per_iter = used[quantity::allocations];
}

}  // namespace detail

// definitions

inline bool benchmark_gate::ReportContext(const Context& context) {
    reporter_.SetOutputStream(&GetOutputStream());
    reporter_.SetErrorStream(&GetErrorStream());
    return reporter_.ReportContext(context);
}

// Aggregates are judged only if nothing else of a benchmark is reported
// (--benchmark_report_aggregates_only). They may come in a separate call, after the runs.
inline bool benchmark_gate::is_shown(Run& run, const std::optional<detail::benchmark_usage>& used) {
    const std::string name = run.run_name.str();
    const bool is_aggregate = run.run_type != Run::RT_Iteration;
    const bool is_judged =
        !is_aggregate || (has_failed_.count(name) == 0 && run.aggregate_name == "mean");
    if (is_judged && used && detail::outcome_of(run) == detail::run_outcome::has_numbers) {
        const std::lock_guard<std::mutex> lock{detail::remembered.mutex};
        const std::string message = detail::judge_ended(*used, name);
        if (!message.empty()) detail::fail_run(run, message);
    }
    const bool has_failed = detail::outcome_of(run) == detail::run_outcome::failed;
    // The coefficient of variation of zeros is NaN. Older releases print it, and JSON cannot
    // express it.
    for (auto& [counter, number] : run.counters) {
        if (is_aggregate && used && detail::is_no_number(number.value)) number.value = 0;
    }
    for (const detail::benchmark_quantity& each : detail::benchmark_quantities) {
        if (has_failed && pads_errors_) run.counters.insert({each.counter, benchmark::Counter{}});
    }
    run.counters.erase(detail::objects_counter);
    if (has_failed) ++failures_;
    if (has_failed || !is_aggregate) has_failed_[name] |= has_failed;
    // Statistics over runs say nothing if one of the runs failed.
    return !is_aggregate || has_failed || has_failed_.count(name) == 0 || !has_failed_[name];
}

inline void benchmark_gate::ReportRuns(const std::vector<Run>& runs) {
    std::vector<detail::room_for_result> results(runs.size());
    std::vector<Run> shown;
    for (Run run : runs) {
        const auto used = detail::usage_of(run);
        if (used && run.run_type == Run::RT_Iteration) {
            detail::fill_memory_fields(run, *used, results[shown.size()]);
        }
        if (is_shown(run, used)) shown.push_back(run);
    }
    if (!shown.empty()) reporter_.ReportRuns(shown);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_GATE_HPP
