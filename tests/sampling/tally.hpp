// tally.hpp - how often the truth lay in the printed interval, and how far estimates were off.

#ifndef ALLOCSCOPE_TESTS_SAMPLING_TALLY_HPP
#define ALLOCSCOPE_TESTS_SAMPLING_TALLY_HPP

#include <allocscope/sampling/estimate.hpp>

#include <cmath>    // sqrt
#include <cstdint>  // uint64_t

namespace allocscope_tests {

// A number that is known, with the variance that its estimate must have.
struct truth {
    std::uint64_t value = 0;
    double variance = 0;

    // `size` is 1 for a count of objects, or its bytes; sampled with probability `p`.
    void add(std::uint64_t size, double p) {
        value += size;
        const double weight = static_cast<double>(size);
        variance += weight * weight * (1 - p) / p;
    }
};

struct tally {
    std::uint64_t runs = 0;
    std::uint64_t inside = 0;
    double z_sum = 0;  // deviations of the estimate from the truth
    double samples = 0;

    void add(const allocscope::estimate& known, double estimated, const truth& real,
             std::uint64_t sample_count) {
        ++runs;
        samples += static_cast<double>(sample_count);
        if (known.low <= real.value && real.value <= known.high) ++inside;
        if (real.variance > 0) {
            z_sum += (estimated - static_cast<double>(real.value)) / std::sqrt(real.variance);
        }
    }
    void add(const tally& other) {
        runs += other.runs;
        inside += other.inside;
        z_sum += other.z_sum;
        samples += other.samples;
    }
    double mean_z() const { return runs == 0 ? 0.0 : z_sum / static_cast<double>(runs); }
    double coverage() const {
        return runs == 0 ? 0.0 : static_cast<double>(inside) / static_cast<double>(runs);
    }
    double mean_samples() const { return runs == 0 ? 0.0 : samples / static_cast<double>(runs); }
};

struct tallies {
    tally objects;
    tally bytes;

    void add(const tallies& other) {
        objects.add(other.objects);
        bytes.add(other.bytes);
    }
};

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_SAMPLING_TALLY_HPP
