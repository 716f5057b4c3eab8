// interleaved_ratio.hpp - how much slower is this loop than that one, on a machine with noise?
//
// Clock speed, other programs and page placement change a time by more than the differences that
// are looked for here. So the two loops take turns in short slices, and only slices that follow
// each other are compared:
//
//     slice    base hook | hook base | base hook | hook base | ...
//     ratio       r0     |    r1     |    r2     |    r3     |      ->  median of r0, r1, r2 ...
//
// The order within a pair alternates, so that neither side always meets the caches as the other
// left them. A disturbed slice spoils one ratio of many, which a median does not notice; the
// quartiles tell how much disturbance there was.
//
//     ratio seen = measure_ratio(options, [&](std::uint64_t steps) { return timed_on_cpu(...); },
//                                         [&](std::uint64_t steps) { return timed_on_cpu(...); });
//     seen.median;   // 1.73: the second takes 1.73 times as long as the first

#ifndef ALLOCSCOPE_BENCHMARKS_INTERLEAVED_RATIO_HPP
#define ALLOCSCOPE_BENCHMARKS_INTERLEAVED_RATIO_HPP

#include "run_options.hpp"

#include <time.h>  // clock_gettime

#include <algorithm>  // sort, max
#include <cstddef>    // size_t
#include <cstdint>    // uint64_t
#include <vector>     // vector

namespace benchmarks {

inline double read_clock_ns(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

inline double wall_ns() {
    return read_clock_ns(CLOCK_MONOTONIC);
}

// Processor time of the calling thread: a slice that was put aside for another process is not
// charged for it. Only for loops that never wait.
template <class Work>
double timed_on_cpu(Work&& work) {
    const double begin = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    work();
    return read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

// The value below which `share` of the numbers lie; interpolated between two of them.
inline double quantile(std::vector<double> numbers, double share) {
    if (numbers.empty()) return 0;
    std::sort(numbers.begin(), numbers.end());
    const double position = share * static_cast<double>(numbers.size() - 1);
    const std::size_t below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, numbers.size() - 1);
    const double part = position - static_cast<double>(below);
    return numbers[below] * (1 - part) + numbers[above] * part;
}

inline double median(const std::vector<double>& numbers) {
    return quantile(numbers, 0.5);
}

struct ratio {
    double median = 0;          // of the ratios of neighbouring slices
    double lower_quartile = 0;  // the middle half of them
    double upper_quartile = 0;
    double undisturbed =
        0;  // 10th percentile of the one's slices over 10th percentile of the other's
    double baseline_ns = 0;  // for one step, median
    double measured_ns = 0;
};

// From the times of neighbouring slices, `steps` steps each.
inline ratio ratio_of(const std::vector<double>& baseline, const std::vector<double>& measured,
                      double steps) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < baseline.size(); ++i) ratios.push_back(measured[i] / baseline[i]);
    ratio result;
    result.median = median(ratios);
    result.lower_quartile = quantile(ratios, 0.25);
    result.upper_quartile = quantile(ratios, 0.75);
    result.undisturbed = quantile(measured, 0.1) / quantile(baseline, 0.1);
    result.baseline_ns = median(baseline) / steps;
    result.measured_ns = median(measured) / steps;
    return result;
}

// How many steps make a slice. The baseline takes as long as wanted, unless the other loop then
// takes more than six times as long; then that loop takes six times as long.
template <class Baseline, class Measured>
std::uint64_t steps_of_a_slice(double wanted_ns, Baseline&& baseline, Measured&& measured) {
    std::uint64_t steps = 256;
    double share = 0;  // of a slice, that so many steps are
    for (;;) {
        share = std::max(baseline(steps) / wanted_ns, measured(steps) / (6 * wanted_ns));
        if (share >= 0.5 || steps >= (std::uint64_t{1} << 40)) break;
        steps *= 2;
    }
    const auto slice = static_cast<std::uint64_t>(static_cast<double>(steps) / share);
    return std::max<std::uint64_t>(16, slice / 16 * 16);
}

// Both are called with a number of steps and return how many nanoseconds these took. Both are
// called a few times first, to find that number and to warm up.
template <class Baseline, class Measured>
ratio measure_ratio(const run_options& options, Baseline&& baseline, Measured&& measured) {
    const std::uint64_t steps = steps_of_a_slice(options.slice_ms * 1e6, baseline, measured);
    for (int warm_up = 0; warm_up < 2; ++warm_up) {
        baseline(steps);
        measured(steps);
    }
    std::vector<double> baseline_times;
    std::vector<double> measured_times;
    for (int pair = 0; pair < options.pairs; ++pair) {
        const bool measured_first = pair % 2 != 0;
        if (measured_first) measured_times.push_back(measured(steps));
        baseline_times.push_back(baseline(steps));
        if (!measured_first) measured_times.push_back(measured(steps));
    }
    return ratio_of(baseline_times, measured_times, static_cast<double>(steps));
}

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_INTERLEAVED_RATIO_HPP
