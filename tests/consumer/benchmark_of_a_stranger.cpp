// main() and the hooks come from allocscope::benchmark_main.
#include <allocscope/integrations/google_benchmark.hpp>

#include <benchmark/benchmark.h>

#include <memory>

static void frees(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) benchmark::DoNotOptimize(std::make_unique<int>(1));
}
BENCHMARK(frees);

static void leaks(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) benchmark::DoNotOptimize(new int);
}
BENCHMARK(leaks)->Iterations(2);
