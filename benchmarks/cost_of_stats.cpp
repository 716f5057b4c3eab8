// cost_of_stats.cpp - what does a snapshot of a window cost?
//
// 1000 sites with one live object each, or with 1,000,000 live objects between them. The first
// stats() looks up the names; the ones that are timed find them in the cache. The second target is
// twice what the first row took: the cost goes by the sites and not by the objects.

#include "absolute_times.hpp"
#include "allocation_policies.hpp"
#include "call_chain.hpp"
#include "churn_loop.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

#include <benchmark/benchmark.h>

using namespace benchmarks;

namespace {

constexpr std::uint32_t site_count = 1000;

// Blocks born through 1000 different stacks, in turn.
class blocks_of_many_sites {
public:
    explicit blocks_of_many_sites(std::size_t count) {
        blocks_.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto path = static_cast<std::uint32_t>(i) % site_count;
            call_chain<standard_chain>::descend(&one_more, &blocks_, path);
        }
    }
    blocks_of_many_sites(const blocks_of_many_sites&) = delete;
    blocks_of_many_sites& operator=(const blocks_of_many_sites&) = delete;
    ~blocks_of_many_sites() {
        for (void* block : blocks_) hooked::release(block);
    }

private:
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t one_more(void* list) {
        static_cast<std::vector<void*>*>(list)->push_back(allocate_here<hooked, 0>(32));
        return 1;
    }

    std::vector<void*> blocks_;
};

void stats_of(benchmark::State& state, std::size_t objects) {
    allocscope::scope window{"stats", exact(24)};
    const blocks_of_many_sites blocks{objects};
    benchmark::DoNotOptimize(window.stats().live_objects());
    for (auto step : state) {
        static_cast<void>(step);
        benchmark::DoNotOptimize(window.stats().live_objects());
    }
}

void thousand_objects(benchmark::State& state) {
    stats_of(state, site_count);
}

void million_objects(benchmark::State& state) {
    stats_of(state, 1000000);
}

// A window's first snapshot when the names are already known: what a suite pays for each case that
// leaves objects behind.
void open_allocate_stats_close(benchmark::State& state) {
    for (auto step : state) {
        static_cast<void>(step);
        allocscope::scope window{"case", exact(24)};
        void* block = allocate_here<hooked, 1>(32);
        benchmark::DoNotOptimize(window.stop().live_objects());
        hooked::release(block);
    }
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    benchmark::RegisterBenchmark("thousand", thousand_objects);
    benchmark::RegisterBenchmark("million", million_objects);
    benchmark::RegisterBenchmark("one", open_allocate_stats_close);
    absolute_times times;
    times.measure(options);
    const char* headline = "stats(), 1000 sites, 1000 live objects";
    result_table table{arguments[0], "What does a snapshot of a window cost?", headline, options};
    times.add_to(table, "thousand", headline, 1e6, "ms", 1.0);
    times.add_to(table, "million", "stats(), 1000 sites, 1000000 live objects", 1e6, "ms",
                 2 * times.median_ns("thousand") / 1e6);
    times.add_to(table, "one", "open, allocate once, stop(), close", 1e3, "us");
    return table.finish();
}
