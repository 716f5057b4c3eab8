// stack_depth.cpp - how does the cost grow with the number of frames recorded?
//
// The churn loop below 70 real frames, under windows that keep 1 to 64 of them.

#include "churn_loop.hpp"
#include "churn_ratio.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

using namespace benchmarks;

namespace {

constexpr int deep_chain = 64;

ratio compare(const run_options& options, const window_mode& mode) {
    const optional_window window{mode};
    churn<bare> baseline{1024};
    churn<hooked> measured{1024};
    return compare_churn<deep_chain>(options, baseline, measured);
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    result_table table{arguments[0], "How does the cost grow with the frames recorded?",
                       "64 frames", options};
    for (const std::uint32_t frames : {1U, 2U, 4U, 8U, 12U, 16U, 24U, 32U, 48U, 64U}) {
        table.add_ratio(std::to_string(frames) + " frames", compare(options, exact(frames)));
    }
    return table.finish();
}
