// many_threads.cpp - how does the cost grow with the number of threads?
//
// 1 to 8 threads with a churn loop each, whatever number of processors there is; in processor time.

#include "churn_loop.hpp"
#include "interleaved_ratio.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"
#include "worker_team.hpp"

#include <deque>  // deque

using namespace benchmarks;

namespace {

template <class Policy>
class churn_for_each {
public:
    explicit churn_for_each(int threads) {
        for (int i = 0; i < threads; ++i) {
            loops_.emplace_back(std::size_t{1024}, std::size_t{16}, std::size_t{511},
                                static_cast<std::uint64_t>(i));
        }
    }

    double run(worker_team& team, std::uint64_t steps) {
        team.run([&](int worker) {
            loops_[static_cast<std::size_t>(worker)].template run_below<standard_chain>(steps);
        });
        return team.busy_ns();
    }

private:
    std::deque<churn<Policy>> loops_;
};

ratio compare(const run_options& options, int threads, const window_mode& mode) {
    const optional_window window{mode};
    worker_team team{threads};
    churn_for_each<bare> baseline{threads};
    churn_for_each<hooked> measured{threads};
    return measure_ratio(
        options, [&](std::uint64_t steps) { return baseline.run(team, steps); },
        [&](std::uint64_t steps) { return measured.run(team, steps); });
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    result_table table{arguments[0], "How does the cost grow with the number of threads?",
                       "exact, 16 frames, 8 threads", options};
    for (const int threads : {1, 2, 3, 4, 6, 8}) {
        const std::string text = std::to_string(threads) + (threads == 1 ? " thread" : " threads");
        table.add_ratio("counters, " + text, compare(options, threads, counters()));
        table.add_ratio("exact, 16 frames, " + text, compare(options, threads, exact(16)));
    }
    return table.finish();
}
