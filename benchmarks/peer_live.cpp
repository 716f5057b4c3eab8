// peer_live.cpp - what does a window cost a program that keeps millions of objects alive?
//
// Maps, strings and vectors grow to 5 million live objects, then everything is destroyed. Every run
// is a process of its own, bare and recorded in turns; time and peak memory are compared.
//
//     peer_live --child=exact --objects=5000000      prints: grow_ns drop_ns peak_KiB

#include "child_process.hpp"
#include "peer_workloads.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

#include <cstring>  // strcmp

using namespace benchmarks;

namespace {

int be_the_child(const std::string& mode, std::uint64_t objects) {
    phase_times times;
    if (mode == "bare") {
        times = grow_and_drop<bare>{}.run(objects);
    } else {
        const optional_window window{mode == "counters" ? counters() : exact(16)};
        times = grow_and_drop<hooked>{}.run(objects);
    }
    std::printf("%.0f %.0f %.0f\n", times.grow_ns, times.drop_ns, status_kib("VmHWM:"));
    return 0;
}

struct side {
    std::vector<double> grow, total, peak;

    void run(const std::string& mode, std::uint64_t objects) {
        const std::vector<double> seen =
            run_this_program("--child=" + mode + " --objects=" + std::to_string(objects), 3);
        grow.push_back(seen[0]);
        total.push_back(seen[0] + seen[1]);
        peak.push_back(seen[2]);
    }
};

void compare(result_table& table, const std::string& mode, const std::string& name, int pairs,
             std::uint64_t objects, bool has_targets) {
    side baseline;
    side measured;
    for (int pair = 0; pair < pairs; ++pair) {
        if (pair % 2 != 0) measured.run(mode, objects);
        baseline.run("bare", objects);
        if (pair % 2 == 0) measured.run(mode, objects);
    }
    const auto steps = static_cast<double>(objects);
    table.add_ratio(name + ", time to grow and to destroy",
                    ratio_of(baseline.total, measured.total, steps),
                    has_targets ? 1.15 : no_target);
    table.add_ratio(name + ", time to grow", ratio_of(baseline.grow, measured.grow, steps));
    table.add_value(name + ", peak memory", ratio_of(baseline.peak, measured.peak, 1).median, "x",
                    has_targets ? 1.45 : no_target);
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 3 && value_of(arguments[1], "child") && value_of(arguments[2], "objects")) {
        return be_the_child(value_of(arguments[1], "child"),
                            std::strtoull(value_of(arguments[2], "objects"), nullptr, 10));
    }
    const run_options options = parse_run_options(count, arguments);
    const std::uint64_t objects = options.smoke ? 10000 : 5000000;
    const int pairs = options.smoke ? 1 : std::min(options.pairs, 7);
    result_table table{arguments[0],
                       "What does a window cost a program with 5 million live objects?",
                       "exact, 16 frames, time to grow and to destroy", options};
    compare(table, "exact", "exact, 16 frames", pairs, objects, true);
    compare(table, "counters", "counters", pairs, objects, false);
    return table.finish();
}
