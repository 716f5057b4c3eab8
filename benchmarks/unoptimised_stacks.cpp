// unoptimised_stacks.cpp - what does it cost that stacks go on in code without optimisation?
//
// This file is always compiled with -O0. It copies a map of variants, whose strings are allocated
// some 40 calls below the copy. A window of 23 frames records so many; one of 24, the default, goes
// on for 40 more where it would be cut: see docs/decisions/0020.

#define ALLOCSCOPE_BENCHMARK_OF_UNOPTIMISED_CODE  // result_table.hpp: the level is meant

#include "interleaved_ratio.hpp"
#include "result_table.hpp"

#include <allocscope/allocscope.hpp>

#include <ctime>
#include <map>
#include <string>
#include <variant>
#include <vector>

using namespace benchmarks;

namespace {

using part = std::variant<int, std::string, std::vector<std::string>>;
using parts = std::map<std::string, part>;

parts hundred_parts() {
    const std::string text = "a text that does not fit into the object ";
    parts made;
    for (int i = 0; i < 100; ++i) {
        made[text + std::to_string(i)] = std::vector<std::string>{text, "x"};
    }
    return made;
}

double copies_ns(const parts& all, std::uint64_t steps) {
    const double begin = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (std::uint64_t i = 0; i < steps; ++i) {
        const parts copy = all;
        __asm__ volatile("" : : "r"(&copy) : "memory");
    }
    return read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

ratio compare(const run_options& options, const parts& all, std::uint32_t frames) {
    allocscope::options wanted;
    wanted.stack_frames = frames;
    return measure_ratio(
        options, [&all](std::uint64_t steps) { return copies_ns(all, steps); },
        [&all, &wanted](std::uint64_t steps) {
            const allocscope::scope window{"copies", wanted};
            return copies_ns(all, steps);
        });
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    result_table table{arguments[0], "What does it cost that stacks go on at -O0?",
                       "24 frames, and as far as the user's line", options};
    const parts all = hundred_parts();
    table.add_ratio("23 frames", compare(options, all, 23));
    table.add_ratio("24 frames, and as far as the user's line", compare(options, all, 24));
    return table.finish();
}
