// two_threads.cpp - does recording two threads cost more than recording one?
//
// Two threads with a churn loop each, in processor time; and one thread that allocates what another
// one frees, in real time. The target is the ratio of one thread, measured first in the same run,
// and a tenth.

#include "result_table.hpp"
#include "two_thread_ratios.hpp"
#include "window_modes.hpp"

using namespace benchmarks;

namespace {

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
        const ratio alone = compare_churns<bare>(options, asked.mode, 1);
        table.add_ratio(name + ", one thread", alone);
        table.add_ratio(name + ", two independent threads",
                        compare_churns<bare>(options, asked.mode, 2), 1.1 * alone.median);
        table.add_ratio(name + ", freed by the other thread",
                        compare_handover<bare>(options, asked.mode, {1, 16, 527}),
                        1.1 * alone.median);
    }
    return table.finish();
}
