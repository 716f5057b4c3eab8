// two_thread_ratios.hpp - how much slower are loops of two threads while they are recorded?
//
//     const ratio seen = compare_churns<bare>(options, exact(16), 2);
//     const ratio freed_elsewhere = compare_handover<bare>(options, exact(16), {1, 16, 527});

#ifndef ALLOCSCOPE_BENCHMARKS_TWO_THREAD_RATIOS_HPP
#define ALLOCSCOPE_BENCHMARKS_TWO_THREAD_RATIOS_HPP

#include "churn_loop.hpp"
#include "interleaved_ratio.hpp"
#include "peer_workloads.hpp"
#include "run_options.hpp"
#include "window_modes.hpp"
#include "worker_team.hpp"

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, uint32_t

namespace benchmarks {

template <class Policy>
double churn_together(worker_team& team, churn<Policy>* loops, std::uint64_t steps) {
    team.run([&](int worker) { loops[worker].template run_below<standard_chain>(steps); });
    return team.busy_ns();
}

// One or two threads with a churn loop each, in processor time.
template <class Baseline>
ratio compare_churns(const run_options& options, const window_mode& mode, int threads) {
    const optional_window window{mode};
    worker_team team{threads};
    churn<Baseline> baseline[]{churn<Baseline>{1024, 16, 511, 1},
                               churn<Baseline>{1024, 16, 511, 2}};
    churn<hooked> measured[]{churn<hooked>{1024, 16, 511, 1}, churn<hooked>{1024, 16, 511, 2}};
    return measure_ratio(
        options, [&](std::uint64_t steps) { return churn_together(team, baseline, steps); },
        [&](std::uint64_t steps) { return churn_together(team, measured, steps); });
}

template <class Policy>
double hand_over(worker_team& team, handover<Policy>& loop, std::uint64_t steps) {
    team.run([&](int worker) { loop.run(worker, steps); });
    return team.elapsed_ns();
}

struct handed_blocks {
    std::uint32_t stacks;
    std::size_t smallest;
    std::size_t largest;
};

// One thread frees what another one allocates, in real time.
template <class Baseline>
ratio compare_handover(const run_options& options, const window_mode& mode,
                       const handed_blocks& blocks) {
    const optional_window window{mode};
    worker_team team{2};
    handover<Baseline> baseline{blocks.stacks, blocks.smallest, blocks.largest};
    handover<hooked> measured{blocks.stacks, blocks.smallest, blocks.largest};
    return measure_ratio(
        options, [&](std::uint64_t steps) { return hand_over(team, baseline, steps); },
        [&](std::uint64_t steps) { return hand_over(team, measured, steps); });
}

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_TWO_THREAD_RATIOS_HPP
