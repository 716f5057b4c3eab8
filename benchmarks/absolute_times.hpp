// absolute_times.hpp - runs registered Google Benchmarks and hands their times to a result_table.
//
// For questions whose answer is a time and not a ratio. Google Benchmark finds the number of
// iterations and repeats them; the median of the repetitions is the answer.
//
//     absolute_times times;
//     benchmark::RegisterBenchmark("stats", run_stats);
//     times.measure(options);
//     times.add_to(table, "stats", "stats(), 1000 sites", 1e6, "ms", 1.0);

#ifndef ALLOCSCOPE_BENCHMARKS_ABSOLUTE_TIMES_HPP
#define ALLOCSCOPE_BENCHMARKS_ABSOLUTE_TIMES_HPP

#include "interleaved_ratio.hpp"
#include "result_table.hpp"
#include "run_options.hpp"

#include <allocscope/integrations/google_benchmark_versions.hpp>

#include <benchmark/benchmark.h>

#include <cstdio>  // fprintf
#include <map>     // map
#include <string>  // string
#include <vector>  // vector

namespace benchmarks {

class absolute_times : private benchmark::BenchmarkReporter {
public:
    void measure(const run_options& options) {
        std::string program = "benchmark";
        std::string repetitions =
            std::string("--benchmark_repetitions=") + (options.smoke ? "1" : "11");
        std::string min_time =
            std::string("--benchmark_min_time=") + (options.smoke ? "0.0001" : "0.1");
        std::string interleaving = "--benchmark_enable_random_interleaving=true";
        char* arguments[] = {&program[0], &repetitions[0], &min_time[0], &interleaving[0], nullptr};
        int count = 4;
        benchmark::Initialize(&count, arguments);
        benchmark::RunSpecifiedBenchmarks(this);
    }

    // Median real time of one iteration in nanoseconds.
    double median_ns(const std::string& name) { return median(times_ns_[name]); }

    // `ns_per_unit` nanoseconds are one `unit`.
    void add_to(result_table& table, const std::string& name, const std::string& row,
                double ns_per_unit, const char* unit, double target = no_target) {
        const std::vector<double>& seen = times_ns_[name];
        table.add_value(row, median(seen) / ns_per_unit, unit, target,
                        quantile(seen, 0.25) / ns_per_unit, quantile(seen, 0.75) / ns_per_unit);
    }

private:
    bool ReportContext(const Context&) override { return true; }

    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            if (run.run_type != Run::RT_Iteration) continue;
            using namespace allocscope::detail;
            if (outcome_of(run) != run_outcome::has_numbers) {
                const std::string why = newer_or(
                    [](auto& its) -> decltype(its.skip_message) { return its.skip_message; },
                    [](auto& its) { return its.error_message; }, run);
                std::fprintf(stderr, "%s: %s\n", run.run_name.function_name.c_str(), why.c_str());
                continue;
            }
            times_ns_[run.run_name.function_name].push_back(run.real_accumulated_time * 1e9 /
                                                            static_cast<double>(run.iterations));
        }
    }

    std::map<std::string, std::vector<double>> times_ns_;
};

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_ABSOLUTE_TIMES_HPP
