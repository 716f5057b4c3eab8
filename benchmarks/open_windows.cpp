// open_windows.cpp - how does the cost grow with the number of windows that are open?
//
// The churn loop under 1 to 1000 nested windows of the whole process, exact, 16 frames. A window is
// a boundary in time, not work to be done for each event, so the ratio should hardly move.

#include "churn_loop.hpp"
#include "churn_ratio.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

#include <memory>  // unique_ptr

using namespace benchmarks;

namespace {

ratio compare(const run_options& options, int window_count) {
    std::vector<std::unique_ptr<allocscope::scope>> windows;
    for (int i = 0; i < window_count; ++i) {
        windows.push_back(std::make_unique<allocscope::scope>("nested", exact(16)));
    }
    churn<bare> baseline{1024};
    churn<hooked> measured{1024};
    const ratio seen = compare_churn(options, baseline, measured);
    while (!windows.empty()) windows.pop_back();
    return seen;
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    result_table table{arguments[0], "How does the cost grow with the windows that are open?",
                       "1000 windows open", options};
    for (const int windows : {1, 10, 100, 1000}) {
        table.add_ratio(std::to_string(windows) + " windows open", compare(options, windows));
    }
    return table.finish();
}
