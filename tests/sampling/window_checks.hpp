// What the tests of sampled windows share.

#ifndef ALLOCSCOPE_TESTS_SAMPLING_WINDOW_CHECKS_HPP
#define ALLOCSCOPE_TESTS_SAMPLING_WINDOW_CHECKS_HPP

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <cstdint>

namespace sampling_test {

inline allocscope::options sampled_every(std::uint64_t bytes) {
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = bytes;
    return wanted;
}

inline void check_is_exactly(const allocscope::estimate& said, std::uint64_t value) {
    CHECK(said.value == value);
    CHECK(said.low == value);
    CHECK(said.high == value);
}

// Within three times the interval: six deviations, so that other seeds would do as well.
inline bool is_near(std::uint64_t value, const allocscope::estimate& said) {
    const double real = static_cast<double>(value);
    const double best = static_cast<double>(said.value);
    return real >= best - 3 * (best - static_cast<double>(said.low)) &&
           real <= best + 3 * (static_cast<double>(said.high) - best);
}

}  // namespace sampling_test

#endif  // ALLOCSCOPE_TESTS_SAMPLING_WINDOW_CHECKS_HPP
