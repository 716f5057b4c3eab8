// churn_ratio.hpp - how much slower is one churn loop than another, with both timed in turns?
//
//     churn<bare> baseline{1024};
//     churn<hooked> measured{1024};
//     const ratio seen = compare_churn(options, baseline, measured);

#ifndef ALLOCSCOPE_BENCHMARKS_CHURN_RATIO_HPP
#define ALLOCSCOPE_BENCHMARKS_CHURN_RATIO_HPP

#include "churn_loop.hpp"
#include "interleaved_ratio.hpp"
#include "run_options.hpp"

#include <cstdint>  // uint64_t

namespace benchmarks {

// Both loops run below `Frames` frames.
template <int Frames = standard_chain, class Baseline, class Measured>
ratio compare_churn(const run_options& options, churn<Baseline>& baseline,
                    churn<Measured>& measured) {
    return measure_ratio(
        options,
        [&](std::uint64_t steps) {
            return timed_on_cpu([&] { baseline.template run_below<Frames>(steps); });
        },
        [&](std::uint64_t steps) {
            return timed_on_cpu([&] { measured.template run_below<Frames>(steps); });
        });
}

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_CHURN_RATIO_HPP
