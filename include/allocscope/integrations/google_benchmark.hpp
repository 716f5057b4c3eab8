// google_benchmark.hpp - allocations of benchmarks beside their times; leaks are errors.
//
// Room:     integrations (floor 11), not malloc-safe
// Called:   by the user, from the sources of a benchmark program (Google Benchmark 1.7.1 and newer)
// Threads:  see google_benchmark_scope.hpp; main() runs on one thread
// Memory:   see the headers that it includes
//
//     static void parse(benchmark::State& state) {
//         allocscope::benchmark_scope memory{state};   // allocs/op, bytes/op, peak, live
//         for (auto _ : state) work();
//     }
//     BENCHMARK(parse);
//     ALLOCSCOPE_BENCHMARK_MAIN();                     // exit code 1 when a benchmark failed

#ifndef ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_HPP
#define ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_HPP

#include <allocscope/config.hpp>
#include <allocscope/integrations/google_benchmark_gate.hpp>
#include <allocscope/integrations/google_benchmark_memory_manager.hpp>
#include <allocscope/integrations/google_benchmark_scope.hpp>
#include <allocscope/integrations/google_benchmark_versions.hpp>

#include <benchmark/benchmark.h>  // Initialize, RunSpecifiedBenchmarks, the reporters
#include <cstddef>                // size_t
#include <cstdlib>                // secure_getenv
#include <cstring>                // strlen, strncmp
#include <memory>                 // unique_ptr
#include <optional>               // optional
#include <string>                 // string

ALLOCSCOPE_NAMESPACE_BEGIN

// Does what BENCHMARK_MAIN does, with a benchmark_gate before each reporter. Returns 0, or 1 if a
// reported run failed or an argument is unknown. Call it once, from main().
int run_benchmarks(int argc, char** argv);

namespace detail {

// Null if the format is unknown.
inline std::unique_ptr<benchmark::BenchmarkReporter> reporter_of(const std::string& format) {
    using benchmark::ConsoleReporter;
    std::unique_ptr<benchmark::BenchmarkReporter> made;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // of CSVReporter, which is the only one
    if (format == "csv") made.reset(new benchmark::CSVReporter);
#pragma GCC diagnostic pop
    if (format == "json") made.reset(new benchmark::JSONReporter);
    if (format == "console") made.reset(new ConsoleReporter(ConsoleReporter::OO_None));
    return made;
}

}  // namespace detail

// definitions

inline int run_benchmarks(int argc, char** argv) {
    // Reads a flag as Google Benchmark does: first the environment, then the arguments; the last
    // one counts. This is needed because Google Benchmark does not tell which reporters it uses.
    const auto flag = [argc, argv](const char* start, const char* variable, const char* otherwise) {
        const char* const found = ::secure_getenv(variable);
        const char* value = found != nullptr ? found : otherwise;
        const std::size_t length = std::strlen(start);
        for (int i = 1; i < argc; ++i) {
            if (std::strncmp(argv[i], start, length) == 0) value = argv[i] + length;
        }
        return std::string{value};
    };
    const std::string format = flag("--benchmark_format=", "BENCHMARK_FORMAT", "console");
    const std::string file = flag("--benchmark_out=", "BENCHMARK_OUT", "");
    const std::string file_format = flag("--benchmark_out_format=", "BENCHMARK_OUT_FORMAT", "json");
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;

    // Older releases return a raw pointer, newer ones a unique_ptr.
    const std::unique_ptr<benchmark::BenchmarkReporter> display{
        benchmark::CreateDefaultDisplayReporter()};
    const auto written = file.empty() ? nullptr : detail::reporter_of(file_format);
    benchmark_gate display_gate{*display, format == "csv"};
    std::optional<benchmark_gate> file_gate;
    if (written) file_gate.emplace(*written, file_format == "csv");
    benchmark::RunSpecifiedBenchmarks(&display_gate, file_gate ? &*file_gate : nullptr);
    benchmark::Shutdown();
    return display_gate.failures() != 0 || (file_gate && file_gate->failures() != 0) ? 1 : 0;
}

ALLOCSCOPE_NAMESPACE_END

// main() of a benchmark program.
#define ALLOCSCOPE_BENCHMARK_MAIN()                      \
    int main(int argc, char** argv) {                    \
        using namespace benchmark;                       \
        using namespace allocscope_older_benchmark;      \
        MaybeReenterWithoutASLR(argc, argv);             \
        return ::allocscope::run_benchmarks(argc, argv); \
    }                                                    \
    static_assert(true, "for the semicolon after ALLOCSCOPE_BENCHMARK_MAIN()")

#endif  // ALLOCSCOPE_INTEGRATIONS_GOOGLE_BENCHMARK_HPP
