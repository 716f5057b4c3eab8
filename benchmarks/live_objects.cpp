// live_objects.cpp - how does the cost grow with the number of objects alive?
//
// The churn loop over 10,000 to 10,000,000 live blocks of 16 to 143 bytes, all of them born under
// the window. The baseline slows down too, because the blocks themselves no longer fit the caches.
// One row says what the standard library's own operator new costs over malloc in this loop: that is
// a part of every other ratio.

#include "churn_loop.hpp"
#include "churn_ratio.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

using namespace benchmarks;

namespace {

template <class Measured>
ratio compare(const run_options& options, std::size_t live, const window_mode& mode) {
    const optional_window window{mode};
    churn<bare> baseline{live, 16, 127};
    churn<Measured> measured{live, 16, 127};
    baseline.fill_with(measured);
    return compare_churn(options, baseline, measured);
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    result_table table{arguments[0], "How does the cost grow with the objects alive?",
                       "exact, 16 frames, 1000000 live", options};
    const std::size_t most = options.smoke ? 10000 : 10000000;
    for (std::size_t live = 1000; live <= most; live *= 10) {
        const std::string text = std::to_string(live) + " live";
        table.add_ratio("libstdc++'s operator new, " + text,
                        compare<library_new>(options, live, std::nullopt));
        table.add_ratio("counters, " + text, compare<hooked>(options, live, counters()));
        table.add_ratio("exact, 16 frames, " + text, compare<hooked>(options, live, exact(16)));
    }
    return table.finish();
}
