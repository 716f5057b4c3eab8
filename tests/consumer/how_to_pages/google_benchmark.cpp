#include <allocscope/integrations/google_benchmark.hpp>

static void leaks(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) benchmark::DoNotOptimize(new int);
}
BENCHMARK(leaks)->Iterations(2);
