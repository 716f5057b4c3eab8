#if !__has_include(<benchmark/benchmark.h>)
    // In CMake: in the same folder, or in one above it.
    #error "no <benchmark/benchmark.h>: find_package(benchmark) must come before allocscope's"
#endif
#include <allocscope/integrations/google_benchmark.hpp>

ALLOCSCOPE_BENCHMARK_MAIN();
