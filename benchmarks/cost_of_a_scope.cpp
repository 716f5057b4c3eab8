// cost_of_a_scope.cpp - what does a window cost by itself?
//
// Open, read the counts, close, with nothing allocated meanwhile: on an idle heap, over a million
// objects that were born before, inside another window, and beside 1000 open windows.

#include "absolute_times.hpp"
#include "allocation_policies.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

#include <benchmark/benchmark.h>

#include <memory>  // unique_ptr, make_unique

using namespace benchmarks;

namespace {

void open_count_close(benchmark::State& state, const allocscope::options& wanted) {
    for (auto step : state) {
        static_cast<void>(step);
        allocscope::scope window{"idle", wanted};
        benchmark::DoNotOptimize(window.counts());
    }
}

void idle_heap(benchmark::State& state) {
    open_count_close(state, exact(24));
}

void idle_heap_counters(benchmark::State& state) {
    open_count_close(state, counters());
}

void inside_another(benchmark::State& state) {
    const allocscope::scope outer{"outer", exact(24)};
    open_count_close(state, exact(24));
}

void beside_a_thousand(benchmark::State& state) {
    std::vector<std::unique_ptr<allocscope::scope>> windows;
    for (int i = 0; i < 1000; ++i) {
        windows.push_back(std::make_unique<allocscope::scope>("beside", exact(24)));
    }
    open_count_close(state, exact(24));
    while (!windows.empty()) windows.pop_back();
}

// The million was born under an outer window, so that every one of them has a record.
void over_a_million_objects(benchmark::State& state) {
    const allocscope::scope outer{"outer", exact(24)};
    std::vector<void*> blocks(1000000);
    for (void*& block : blocks) block = allocate_here<hooked, 0>(16);
    open_count_close(state, exact(24));
    for (void* block : blocks) hooked::release(block);
}

void counts_alone(benchmark::State& state) {
    const allocscope::scope window{"counts", exact(24)};
    for (auto step : state) {
        static_cast<void>(step);
        benchmark::DoNotOptimize(window.counts());
    }
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    benchmark::RegisterBenchmark("idle", idle_heap);
    benchmark::RegisterBenchmark("idle_counters", idle_heap_counters);
    benchmark::RegisterBenchmark("inside", inside_another);
    benchmark::RegisterBenchmark("thousand", beside_a_thousand);
    benchmark::RegisterBenchmark("million", over_a_million_objects);
    benchmark::RegisterBenchmark("counts", counts_alone);
    absolute_times times;
    times.measure(options);
    const char* headline = "open, counts(), close, idle heap";
    result_table table{arguments[0], "What does a window cost by itself?", headline, options};
    times.add_to(table, "idle", headline, 1e3, "us", 1.0);
    times.add_to(table, "idle_counters", "the same, counters only", 1e3, "us", 1.0);
    times.add_to(table, "inside", "the same, inside another window", 1e3, "us");
    times.add_to(table, "thousand", "the same, beside 1000 open windows", 1e3, "us");
    times.add_to(table, "million", "the same, inside a window with 1000000 live objects", 1e3,
                 "us");
    times.add_to(table, "counts", "counts() alone", 1e3, "us");
    return table.finish();
}
