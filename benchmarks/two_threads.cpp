// two_threads.cpp - does recording two threads cost more than recording one?
//
// Two threads with a churn loop each, in processor time; and one thread that allocates what another
// one frees, in real time. The target is the ratio of one thread, measured first in the same run,
// and a tenth.

#include "churn_loop.hpp"
#include "interleaved_ratio.hpp"
#include "peer_workloads.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"
#include "worker_team.hpp"

using namespace benchmarks;

namespace {

template <class Policy>
double churn_together(worker_team& team, churn<Policy>* loops, std::uint64_t steps) {
    team.run([&](int worker) { loops[worker].template run_below<standard_chain>(steps); });
    return team.busy_ns();
}

template <class Policy>
double hand_over(worker_team& team, handover<Policy>& loop, std::uint64_t steps) {
    team.run([&](int worker) { loop.run(worker, steps); });
    return team.elapsed_ns();
}

ratio independent(const run_options& options, int threads, const window_mode& mode) {
    const optional_window window{mode};
    worker_team team{threads};
    churn<bare> baseline[]{churn<bare>{1024, 16, 511, 1}, churn<bare>{1024, 16, 511, 2}};
    churn<hooked> measured[]{churn<hooked>{1024, 16, 511, 1}, churn<hooked>{1024, 16, 511, 2}};
    return measure_ratio(
        options, [&](std::uint64_t steps) { return churn_together(team, baseline, steps); },
        [&](std::uint64_t steps) { return churn_together(team, measured, steps); });
}

ratio one_frees_for_the_other(const run_options& options, const window_mode& mode) {
    const optional_window window{mode};
    worker_team team{2};
    handover<bare> baseline{1, 16, 527};
    handover<hooked> measured{1, 16, 527};
    return measure_ratio(
        options, [&](std::uint64_t steps) { return hand_over(team, baseline, steps); },
        [&](std::uint64_t steps) { return hand_over(team, measured, steps); });
}

struct question {
    const char* name;
    window_mode mode;
};

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    const question questions[] = {
        {"no window open", std::nullopt},
        {"counters", counters()},
        {"exact, 16 frames", exact(16)},
    };
    result_table table{arguments[0], "Does recording two threads cost more than recording one?",
                       "exact, 16 frames, two independent threads", options};
    for (const question& asked : questions) {
        const std::string name = asked.name;
        if (!options.wants(name)) continue;
        const ratio alone = independent(options, 1, asked.mode);
        table.add_ratio(name + ", one thread", alone);
        table.add_ratio(name + ", two independent threads", independent(options, 2, asked.mode),
                        1.1 * alone.median);
        table.add_ratio(name + ", freed by the other thread",
                        one_frees_for_the_other(options, asked.mode), 1.1 * alone.median);
    }
    return table.finish();
}
