// cost_of_recording.cpp - what does a malloc/free pair cost while a window records it?
//
// One thread, the standard churn loop, the same stack again and again: the usual case of a program
// that allocates in a loop. Each row is the loop on operator new under one kind of window, against
// the same loop on malloc, in turns; only the first row has another baseline, the operator new that
// the program would call without the hooks.

#include "churn_loop.hpp"
#include "churn_ratio.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

using namespace benchmarks;

namespace {

template <class Baseline = bare>
ratio compare(const run_options& options, const window_mode& mode) {
    const optional_window window{mode};
    churn<Baseline> baseline{1024};
    churn<hooked> measured{1024};
    return compare_churn(options, baseline, measured);
}

struct question {
    const char* name;
    window_mode mode;
    double target;
};

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    const question questions[] = {
        {"no window open", std::nullopt, 1.01},
        {"counters", counters(), 1.20},
        {"sampled, every 512 KiB", sampled(), no_target},
        {"exact, 1 frame", exact(1), 1.35},
        {"exact, 8 frames", exact(8), 1.55},
        {"exact, 16 frames", exact(16), 1.75},
        {"exact, 24 frames", exact(24), 1.95},
        {"no window open any more", std::nullopt, 1.01},
    };
    result_table table{arguments[0], "What does a malloc/free pair cost while it is recorded?",
                       "exact, 16 frames", options};
    const char* against_library = "no window open, against libstdc++'s operator new";
    if (options.wants(against_library)) {
        table.add_ratio(against_library, compare<library_new>(options, std::nullopt), 1.01);
    }
    for (const question& asked : questions) {
        if (!options.wants(asked.name)) continue;
        table.add_ratio(asked.name, compare(options, asked.mode), asked.target);
    }
    return table.finish();
}
