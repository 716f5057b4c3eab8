#include <allocscope/integrations/google_benchmark.hpp>

ALLOCSCOPE_BENCHMARK_MAIN();
