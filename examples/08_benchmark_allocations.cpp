// Allocations of a benchmark beside its time; a leak or a broken limit fails the program. Needs
// Google Benchmark 1.7.1 or newer.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/08_benchmark_allocations.cpp -lbenchmark -pthread
//     ./a.out
//
// The first two pass, the third breaks its limit and the fourth leaks: the exit code is 1. The
// output stands in docs/how_to/google_benchmark.md.
#include <allocscope/define_once/operator_new_delete.hpp>
#include <allocscope/integrations/google_benchmark.hpp>

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view line = "2026-01-01 12:00:00 a_user_with_a_long_name logged in";

std::vector<std::string> split_into_copies(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = text.find(' ');
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return words;
}

void split_into_views(std::string_view text, std::vector<std::string_view>& words) {
    words.clear();
    while (!text.empty()) {
        const std::size_t end = text.find(' ');
        words.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

void copies(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) benchmark::DoNotOptimize(split_into_copies(line));
}
BENCHMARK(copies);

void views(benchmark::State& state) {
    std::vector<std::string_view> words;
    words.reserve(8);  // before the scope: no part of the loop
    allocscope::benchmark_scope memory{state};
    memory.at_most({0});
    for (auto _ : state) {
        split_into_views(line, words);
        benchmark::DoNotOptimize(words.data());
    }
}
BENCHMARK(views);

void copies_within_a_limit(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    memory.at_most({2});  // for each iteration
    for (auto _ : state) benchmark::DoNotOptimize(split_into_copies(line));
}
BENCHMARK(copies_within_a_limit);

struct session {
    std::string user;
    std::shared_ptr<session> peer;  // the bug: two sessions that hold each other are never freed
};

void connected_sessions(benchmark::State& state) {
    allocscope::benchmark_scope memory{state};
    for (auto _ : state) {
        const auto first = std::make_shared<session>();
        const auto second = std::make_shared<session>();
        first->peer = second;
        second->peer = first;
    }
}
BENCHMARK(connected_sessions);

}  // namespace

ALLOCSCOPE_BENCHMARK_MAIN();
