// sampling.cpp - is sampling cheap enough to be left on?
//
// One sample is drawn in 512 KiB on average. The loops are the standard churn on one thread and on
// two, the churn over ten million live blocks, and blocks that another thread frees. Each is
// compared with the same loop on malloc itself, which the targets are about, and on the operator
// new of the standard library, which a program had before. Last comes the memory beside several
// heaps, in processes of their own.
//
// With ten million blocks alive a step waits for memory. How many steps wait at the same time
// depends on the calls around malloc, even with nothing recorded: a function that only calls malloc
// and one that only calls free make the loop 0.9 to 1.25 times as long, the standard library's pair
// 1.2 times. So there is one more row: the same loop of the same program, without a window and with
// one, in processes that take turns. That row tells what sampling adds.
//
//     sampling --child=sampled --blocks=1000000 --size=16        prints: grown_KiB
//     sampling --child=churn-sampled --blocks=1000000 --size=0   prints: ns of a step

#include "block_heap.hpp"
#include "churn_loop.hpp"
#include "churn_ratio.hpp"
#include "interleaved_ratio.hpp"
#include "result_table.hpp"
#include "two_thread_ratios.hpp"
#include "window_modes.hpp"

#include <cstdlib>  // strtoull

using namespace benchmarks;

namespace {

template <class Baseline>
ratio one_thread(const run_options& options, const window_mode& mode) {
    const optional_window window{mode};
    churn<Baseline> baseline{1024};
    churn<hooked> measured{1024};
    return compare_churn(options, baseline, measured);
}

// Blocks of 16 to 143 bytes, all of them born under the window.
template <class Baseline>
ratio many_alive(const run_options& options, const window_mode& mode, std::size_t live) {
    const optional_window window{mode};
    churn<Baseline> baseline{live, 16, 127};
    churn<hooked> measured{live, 16, 127};
    baseline.fill_with(measured);
    return compare_churn(options, baseline, measured);
}

// `measure(policy, mode)` compares with a loop on that policy. The row without a window says what
// the hooks cost by themselves; sampling costs the rest.
template <class Measure>
void ask(result_table& table, const run_options& options, const std::string& name, double target,
         Measure&& measure) {
    const std::string row = "sampled, " + name;
    if (options.wants(row)) {
        table.add_ratio(row, measure(bare{}, sampled()), target);
        table.add_ratio(row + ", against libstdc++'s operator new",
                        measure(library_new{}, sampled()));
    }
    const std::string idle_row = "no window open, " + name;
    if (options.wants(idle_row)) table.add_ratio(idle_row, measure(bare{}, std::nullopt));
}

// In a child process: the churn over `live` blocks born under the window, ns for each step.
void churn_and_print(std::size_t live, const window_mode& mode) {
    constexpr std::uint64_t slice_steps = 50000;
    const optional_window window{mode};
    churn<hooked> loop{live, 16, 127};
    for (std::size_t i = 0; i < live; ++i) loop.fill_place(i);
    std::vector<double> slices;
    for (int slice = 0; slice < 24; ++slice) {
        slices.push_back(timed_on_cpu([&] { loop.run_below<standard_chain>(slice_steps); }));
    }
    slices.erase(slices.begin(), slices.begin() + 3);  // the warm-up
    std::printf("%.3f\n", median(slices) / static_cast<double>(slice_steps));
    std::fflush(stdout);
    std::_Exit(0);
}

void ask_in_processes(result_table& table, const run_options& options, std::size_t live) {
    const std::string name = "sampled, " + std::to_string(live) + " live, against no window open";
    if (!options.wants(name)) return;
    const std::string rest = " --blocks=" + std::to_string(live) + " --size=0";
    std::vector<double> baseline;
    std::vector<double> measured;
    for (int pair = 0; pair < (options.smoke ? 1 : 5); ++pair) {
        const bool measured_first = pair % 2 != 0;
        if (measured_first)
            measured.push_back(run_this_program("--child=churn-sampled" + rest, 1)[0]);
        baseline.push_back(run_this_program("--child=churn-off" + rest, 1)[0]);
        if (!measured_first)
            measured.push_back(run_this_program("--child=churn-sampled" + rest, 1)[0]);
    }
    table.add_ratio(name, ratio_of(baseline, measured, 1));
}

void ask_about_memory(result_table& table, const run_options& options) {
    const std::uint64_t divisor = options.smoke ? 1000 : 1;
    for (const heap_shape& shape : heap_shapes) {
        const std::string name = std::string("sampled, ") + shape.name + ", beside the heap";
        if (!options.wants(name)) continue;
        const double heap = grown_kib("bare", shape, divisor);
        table.add_value(name, (grown_kib("sampled", shape, divisor) - heap) / 1024, "MiB",
                        heap / 1024 / 100 + 4);
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 4 && value_of(arguments[1], "child") != nullptr) {
        const std::string mode = value_of(arguments[1], "child");
        const std::uint64_t blocks = std::strtoull(value_of(arguments[2], "blocks"), nullptr, 10);
        const std::uint64_t size = std::strtoull(value_of(arguments[3], "size"), nullptr, 10);
        if (mode == "churn-off") churn_and_print(blocks, std::nullopt);
        if (mode == "churn-sampled") churn_and_print(blocks, sampled());
        if (mode == "bare") build_and_print<bare>(blocks, size, std::nullopt);
        build_and_print<hooked>(blocks, size, sampled());
    }
    const run_options options = parse_run_options(count, arguments);
    result_table table{arguments[0], "Is sampling cheap enough to be left on?", "sampled, 1 thread",
                       options};
    const std::size_t live = options.smoke ? 10000 : 10000000;
    ask(table, options, "1 thread", 1.02, [&](auto baseline, const window_mode& mode) {
        return one_thread<decltype(baseline)>(options, mode);
    });
    ask(table, options, "2 threads", 1.02, [&](auto baseline, const window_mode& mode) {
        return compare_churns<decltype(baseline)>(options, mode, 2);
    });
    ask(table, options, "freed by another thread", 1.03,
        [&](auto baseline, const window_mode& mode) {
            return compare_handover<decltype(baseline)>(options, mode, {1, 16, 527});
        });
    ask(table, options, std::to_string(live) + " live", 1.03,
        [&](auto baseline, const window_mode& mode) {
            return many_alive<decltype(baseline)>(options, mode, live);
        });
    ask_in_processes(table, options, live);
    ask_about_memory(table, options);
    return table.finish();
}
