// A main() of its own without gates, and with the memory manager when asked for.
#include <allocscope/integrations/google_benchmark.hpp>

#include <benchmark/benchmark.h>

#include <cstdlib>

int main(int argc, char** argv) {
    allocscope::benchmark_memory_manager memory;
    if (std::getenv("WITH_MEMORY_MANAGER") != nullptr) benchmark::RegisterMemoryManager(&memory);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::RegisterMemoryManager(nullptr);
    benchmark::Shutdown();
}
