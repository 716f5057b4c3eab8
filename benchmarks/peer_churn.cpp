// peer_churn.cpp - what does recording cost in the loops by which heap profilers are compared?
//
// The churn through 256 stacks, and blocks that another thread frees (peer_workloads.hpp). What
// other tools cost in loops like these is in docs/against_peers.md; peer_live.cpp is the third.

#include "interleaved_ratio.hpp"
#include "peer_workloads.hpp"
#include "result_table.hpp"
#include "two_thread_ratios.hpp"
#include "window_modes.hpp"

using namespace benchmarks;

namespace {

ratio churn_ratio(const run_options& options, const window_mode& mode) {
    const optional_window window{mode};
    batched_churn<bare> baseline;
    batched_churn<hooked> measured;
    return measure_ratio(
        options, [&](std::uint64_t steps) { return timed_on_cpu([&] { baseline.run(steps); }); },
        [&](std::uint64_t steps) { return timed_on_cpu([&] { measured.run(steps); }); });
}

ratio handover_ratio(const run_options& options, const window_mode& mode) {
    return compare_handover<bare>(options, mode, {peer_paths, 16, 112});
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    result_table table{arguments[0], "What does recording cost in the loops of the other tools?",
                       "churn, exact, 16 frames", options};
    table.add_ratio("churn, no window open", churn_ratio(options, std::nullopt));
    table.add_ratio("churn, counters", churn_ratio(options, counters()));
    table.add_ratio("churn, sampled, every 512 KiB", churn_ratio(options, sampled()));
    table.add_ratio("churn, exact, 16 frames", churn_ratio(options, exact(16)), 1.75);
    table.add_ratio("churn, exact, 24 frames", churn_ratio(options, exact(24)), 2.0);
    table.add_ratio("freed by another thread, exact, 16 frames", handover_ratio(options, exact(16)),
                    1.2);
    table.add_ratio("freed by another thread, exact, 24 frames", handover_ratio(options, exact(24)),
                    1.2);
    return table.finish();
}
