// google_benchmark.hpp - allocations of benchmarks beside their times; leaks and limits as errors.
//
// Room:     integrations (floor 10), not malloc-safe
// Called:   by the user, from the sources of a benchmark program (Google Benchmark 1.7.1 and newer)
// Threads:  see google_benchmark_scope.hpp; main runs on one
// Memory:   see the parts
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
#include <cstdlib>                // secure_getenv
#include <memory>                 // unique_ptr
#include <string>                 // string

ALLOCSCOPE_NAMESPACE_BEGIN

// What BENCHMARK_MAIN does, with gates before the reporters. 0; 1 when a reported run failed or an
// argument is not known. To be called once, from main().
int run_benchmarks(int argc, char** argv);

namespace detail {

// The flags that say which reporters there will be. Google Benchmark does not tell.
struct benchmark_outputs {
    std::string format;       // --benchmark_format
    std::string file;         // --benchmark_out
    std::string file_format;  // --benchmark_out_format
};

inline std::string text_of_environment(const char* name, const char* otherwise) {
    const char* found = ::secure_getenv(name);
    return found != nullptr ? found : otherwise;
}

inline void read_flag(const std::string& argument, const std::string& flag, std::string& value) {
    if (argument.compare(0, flag.size(), flag) == 0) value = argument.substr(flag.size());
}

// As Google Benchmark reads them: the environment, then the arguments, the last one counts.
inline benchmark_outputs read_outputs(int argc, char** argv) {
    benchmark_outputs found;
    found.format = text_of_environment("BENCHMARK_FORMAT", "console");
    found.file = text_of_environment("BENCHMARK_OUT", "");
    found.file_format = text_of_environment("BENCHMARK_OUT_FORMAT", "json");
    for (int i = 1; i < argc; ++i) {
        read_flag(argv[i], "--benchmark_format=", found.format);
        read_flag(argv[i], "--benchmark_out=", found.file);
        read_flag(argv[i], "--benchmark_out_format=", found.file_format);
    }
    return found;
}

// Null when there is no file.
inline std::unique_ptr<benchmark::BenchmarkReporter> file_reporter_of(
    const benchmark_outputs& outputs) {
    std::unique_ptr<benchmark::BenchmarkReporter> made;
    if (outputs.file.empty()) return made;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // of CSVReporter, which is the only one
    if (outputs.file_format == "csv") made.reset(new benchmark::CSVReporter);
#pragma GCC diagnostic pop
    if (outputs.file_format == "json") made.reset(new benchmark::JSONReporter);
    if (outputs.file_format == "console") {
        made.reset(new benchmark::ConsoleReporter(benchmark::ConsoleReporter::OO_None));
    }
    return made;
}

}  // namespace detail

// definitions

inline int run_benchmarks(int argc, char** argv) {
    const detail::benchmark_outputs outputs = detail::read_outputs(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;

    // A raw pointer in older releases, a unique_ptr in newer ones.
    const std::unique_ptr<benchmark::BenchmarkReporter> display{
        benchmark::CreateDefaultDisplayReporter()};
    const std::unique_ptr<benchmark::BenchmarkReporter> file = detail::file_reporter_of(outputs);
    benchmark_gate display_gate{*display, outputs.format == "csv"};
    std::unique_ptr<benchmark_gate> file_gate;
    if (file) file_gate.reset(new benchmark_gate{*file, outputs.file_format == "csv"});
    benchmark::RunSpecifiedBenchmarks(&display_gate, file_gate.get());
    benchmark::Shutdown();
    const bool has_failed =
        display_gate.failures() != 0 || (file_gate && file_gate->failures() != 0);
    return has_failed ? 1 : 0;
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
