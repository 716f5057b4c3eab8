// Benchmarks of which adapter_test.py runs some at a time and reads what is reported.
#include <allocscope/integrations/google_benchmark.hpp>

#include <benchmark/benchmark.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<const void*> sink{nullptr};

// The compiler cannot leave out what was done to get there.
void touch(const void* pointer) {
    sink.store(pointer, std::memory_order_relaxed);
}

void empty(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
    }
}
BENCHMARK(empty)->Iterations(1000);
BENCHMARK(empty)->Name("empty_converging");
BENCHMARK(empty)->Name("empty_threads")->Iterations(1000)->Threads(3);
BENCHMARK(empty)->Name("empty_stacks")->Iterations(1);

void empty_paused(benchmark::State& state) {
    allocscope::benchmark_scope memory{state, allocscope::recording::exact};
    for (auto _ : state) {
        state.PauseTiming();
        state.ResumeTiming();
    }
}
BENCHMARK(empty_paused)->Iterations(100);

// 2 allocations and 48 + 8 bytes in each iteration; 48 and 8 are alive together.
void two_blocks(benchmark::State& state) {
    std::vector<int> before(100);  // no part of the loop
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        char* large = new char[48];
        touch(large);
        double* small = new double;
        touch(small);
        delete small;
        delete[] large;
    }
    memory.stop();
    before.resize(1000);
    state.SetLabel("a label that is too long to be kept inside of a string");
}
BENCHMARK(two_blocks)->Iterations(100);
BENCHMARK(two_blocks)->Name("two_blocks_threads")->Iterations(100)->Threads(4);
BENCHMARK(two_blocks)->Name("two_blocks_converging");

// Counters of the benchmark's own are Google Benchmark's memory, not the loop's.
void own_counters(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        for (std::int64_t i = 0; i < state.range(0); ++i) {
            int* number = new int;
            touch(number);
            delete number;
        }
    }
    state.SetItemsProcessed(100);
    state.counters["a counter with a long name"] = 7;
    state.counters["b"] = 8;
}
BENCHMARK(own_counters)->Iterations(100)->Arg(0)->Arg(1);

// Those from before the scope are no part of what it counts.
void leak_beside_counter(benchmark::State& state) {
    state.counters["a counter from before"] = 7;
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        touch(new int);
    }
}
BENCHMARK(leak_beside_counter)->Iterations(3);

// So is the text of a label that it keeps.
void long_label(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
    }
    state.counters["c"] = 7;
    state.SetLabel("a label that is too long to be kept inside of a string");
}
BENCHMARK(long_label)->MinTime(0.01);
BENCHMARK(long_label)->Name("long_label_once")->Iterations(1);

// A label and the names of counters on one line, as a macro of the user has them.
#define ALLOCSCOPE_TEST_REPORT(state)                                       \
    (state).counters["a counter whose name is not inside of a string"] = 1; \
    (state).counters["another one whose name is not there"] = 2;            \
    (state).SetLabel("a label that is too long to be kept inside of a string")
void label_among_counters(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
    }
    ALLOCSCOPE_TEST_REPORT(state);
}
BENCHMARK(label_among_counters)->MinTime(0.01);

// A label of several threads: one of them has allocated it, and nobody knows which. So it counts.
void label_and_leak(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
    }
    touch(new int);
    state.SetLabel("a label that is too long to be kept inside of a string");
}
BENCHMARK(label_and_leak)->Name("leak_with_label")->MinTime(0.01);
BENCHMARK(label_and_leak)->Name("leak_with_label_in_threads")->Iterations(10)->Threads(2);

// The first thread allocates in each iteration, the others never: the counters add and divide.
void one_of_four(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        if (state.thread_index() != 0) continue;
        char* block = new char[1024];
        touch(block);
        delete[] block;
    }
}
BENCHMARK(one_of_four)->Iterations(50)->Threads(4);

// What one thread makes another one frees, while all are in the loop.
void handed_over(benchmark::State& state) {
    static std::atomic<int*> slot{nullptr};
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        if (state.thread_index() == 0) {
            int* made = new int;
            int* nothing = nullptr;
            while (!slot.compare_exchange_weak(nothing, made)) {
                nothing = nullptr;
                std::this_thread::yield();
            }
        } else {
            int* found = nullptr;
            while ((found = slot.exchange(nullptr)) == nullptr) std::this_thread::yield();
            delete found;
        }
    }
}
BENCHMARK(handed_over)->Iterations(20)->Threads(2);

void leaks(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        touch(new std::string("not deleted"));
    }
}
BENCHMARK(leaks)->Iterations(1);
BENCHMARK(leaks)->Name("leaks_often");
BENCHMARK(leaks)->Name("leaks_in_threads")->Iterations(5)->Threads(2);

void keeps_ten(benchmark::State& state) {
    std::vector<int*> kept;
    kept.reserve(10);
    {
        allocscope::benchmark_scope memory{state};
        memory.may_keep(static_cast<std::uint64_t>(state.range(0)));
        for (auto _ : state) {
            kept.push_back(new int);
        }
    }
    for (int* number : kept) delete number;
}
BENCHMARK(keeps_ten)->Iterations(10)->Arg(10)->Arg(9);

// One thread says what all threads together may use.
void limited_by_one_thread(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    if (state.thread_index() == state.range(0)) memory.at_most({0.5});
    for (auto _ : state) {
        int* number = new int;
        touch(number);
        delete number;
    }
}
BENCHMARK(limited_by_one_thread)->Iterations(10)->DenseRange(0, 4)->Threads(4);

void kept_by_one_thread(benchmark::State& state) {
    std::unique_ptr<int> kept;
    allocscope::benchmark_scope memory{state};
    if (state.thread_index() == state.range(0)) {
        memory.may_keep(1);
        kept.reset(new int);
    }
    for (auto _ : state) {
    }
    memory.stop();
}
BENCHMARK(kept_by_one_thread)->Iterations(10)->DenseRange(0, 3)->Threads(4);

void two_scopes(benchmark::State& state) {
    {
        allocscope::benchmark_scope leaking{state};
        touch(new int);
    }
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
    }
}
BENCHMARK(two_scopes)->Iterations(10);

void a_scope_in_a_scope(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    std::unique_ptr<int> kept;
    allocscope::benchmark_scope leaking{state};
    kept.reset(new int);
    for (auto _ : state) {
    }
}
BENCHMARK(a_scope_in_a_scope)->Iterations(10);

// Filled by the first call: no leak of a later one.
void fills_cache(benchmark::State& state) {
    static std::string* cache = nullptr;
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        if (cache == nullptr) cache = new std::string(100, 'x');
        touch(cache);
    }
}
BENCHMARK(fills_cache)->MinTime(0.05);
BENCHMARK(fills_cache)->Name("fills_cache_already_full")->Iterations(1);

void frees_older(benchmark::State& state) {
    std::vector<std::string> texts(static_cast<std::size_t>(state.max_iterations),
                                   std::string(100, 'x'));
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        texts.pop_back();
    }
}
BENCHMARK(frees_older)->Iterations(100);

void limited(benchmark::State& state, double allocations, double bytes, double peak) {
    allocscope::benchmark_scope memory{state};
    memory.at_most({allocations, bytes, peak});
    for (auto _ : state) {
        int* number = new int;
        touch(number);
        delete number;
    }
}
constexpr double any = allocscope::benchmark_limits::unlimited;
BENCHMARK_CAPTURE(limited, kept, 1, 4, 4)->Iterations(10);
BENCHMARK_CAPTURE(limited, too_many, 0, any, any)->Iterations(10);
BENCHMARK_CAPTURE(limited, too_large, any, 3.5, any)->Iterations(10);
BENCHMARK_CAPTURE(limited, too_high, any, any, 3)->Iterations(10);
BENCHMARK_CAPTURE(limited, negative, -1, any, any)->Iterations(10);
BENCHMARK_CAPTURE(limited, not_a_number, any, std::nan(""), any)->Iterations(10);

// The same with the budget of the tests. The first is in the constructor.
allocscope::allocation_budget budget_of(const std::string& kind) {
    allocscope::allocation_budget budget;
    if (kind == "kept") {
        budget.allocations = allocscope::exactly(1);
        budget.bytes = allocscope::between(1, 4);
        budget.peak_bytes = 8;
        budget.live_objects = 0;
    }
    if (kind == "too_many") budget.allocations = 0;
    if (kind == "too_large") budget.bytes = 3;
    if (kind == "too_high") budget.peak_bytes = 3;
    if (kind == "too_few") budget.allocations = allocscope::at_least(2);
    if (kind == "negative") budget.peak_bytes = -5;
    if (kind == "crossed") budget.bytes = allocscope::between(9, 3);
    return budget;
}

void within_budget(benchmark::State& state, const char* kind) {
    allocscope::benchmark_scope memory{state, budget_of(kind)};
    for (auto _ : state) {
        int* number = new int;  // ALLOCATED
        touch(number);
        delete number;
    }
}
BENCHMARK_CAPTURE(within_budget, kept, "kept");
BENCHMARK_CAPTURE(within_budget, kept_by_threads, "kept")->Threads(2)->Iterations(10);
BENCHMARK_CAPTURE(within_budget, too_many, "too_many");
BENCHMARK_CAPTURE(within_budget, too_large, "too_large")->Iterations(1)->Repetitions(3);
BENCHMARK_CAPTURE(within_budget, too_high, "too_high")->Iterations(1);
BENCHMARK_CAPTURE(within_budget, too_few, "too_few")->Iterations(10);
BENCHMARK_CAPTURE(within_budget, negative, "negative");
BENCHMARK_CAPTURE(within_budget, crossed, "crossed");

// A limit of what is alive takes the place of "nothing".
void may_stay_alive(benchmark::State& state) {
    std::vector<int*> kept;
    kept.reserve(static_cast<std::size_t>(state.max_iterations));
    {
        allocscope::benchmark_scope memory{state};
        allocscope::allocation_budget budget;
        if (state.range(0) == 0) budget.live_bytes = 40;
        if (state.range(0) == 1) budget.live_objects = allocscope::exactly(10);
        if (state.range(0) == 2) budget.live_bytes = 39;
        if (state.range(0) == 3) budget.live_objects = allocscope::exactly(11);
        if (state.range(0) == 4) budget.allocations = 1;  // says nothing about the living
        memory.keep_within(budget);
        for (auto _ : state) kept.push_back(new int);
    }
    for (int* number : kept) delete number;
}
BENCHMARK(may_stay_alive)->Iterations(10)->DenseRange(0, 4);

// Only the first call allocates: a budget of nothing is kept by the run that is reported.
void warms_up(benchmark::State& state) {
    static std::string* cache = nullptr;
    allocscope::allocation_budget budget;
    budget.allocations = 0;
    allocscope::benchmark_scope memory{state, budget};
    for (auto _ : state) {
        if (cache == nullptr) cache = new std::string(100, 'x');
        touch(cache);
    }
}
BENCHMARK(warms_up)->MinTime(0.05);

// The time is the benchmark's own; what is allocated while it stands still counts all the same.
void by_hand(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        int* number = new int;
        touch(number);
        delete number;
        state.SetIterationTime(1e-6);
    }
}
BENCHMARK(by_hand)->UseManualTime()->Iterations(50)->Repetitions(3);

void allocates_while_paused(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        state.PauseTiming();
        {
            const allocscope::pause_recording quietly;
            std::string not_counted(100, 'x');
            touch(&not_counted);
        }
        std::string counted(50, 'x');
        touch(&counted);
        state.ResumeTiming();
    }
}
BENCHMARK(allocates_while_paused)->Iterations(50);

void ends_itself(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        touch(new int);
        state.SkipWithError("in the middle");
        break;
    }
}
BENCHMARK(ends_itself)->Iterations(10);

void sampled(benchmark::State& state) {
    allocscope::benchmark_scope memory{state, allocscope::recording::sampled};
    for (auto _ : state) {
    }
}
BENCHMARK(sampled);

// Less than one allocation for each iteration: true of a long run only.
void grows(benchmark::State& state) {
    std::vector<char> bytes;
    allocscope::benchmark_scope memory{state};
    memory.at_most({0.5});
    memory.may_keep(1);
    for (auto _ : state) bytes.push_back('x');
}
BENCHMARK(grows)->MinTime(0.05);

void fails_itself(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    touch(new int);
    state.SkipWithError("an error of its own");
    for (auto _ : state) {
    }
}
BENCHMARK(fails_itself);

void without_scope(benchmark::State& state) {
    for (auto _ : state) {
        char* block = new char[7];
        touch(block);
        delete[] block;
    }
}
BENCHMARK(without_scope)->Iterations(10);

}  // namespace
