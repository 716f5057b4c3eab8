#include <allocscope/sampling/random_source.hpp>
#include <allocscope/sampling/sample_gap.hpp>

#include <doctest/doctest.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <initializer_list>

using namespace allocscope::detail;

namespace {

constexpr std::uint64_t two_to_the(unsigned power) {
    return std::uint64_t{1} << power;
}

// How many deviations the share of gaps up to `bytes` is away from 1 - exp(-bytes / mean).
double deviations_at(std::uint64_t bytes, std::uint64_t mean, std::uint64_t seed) {
    constexpr int draws = 100000;
    random_source random;
    random.seed(seed);
    int reached = 0;
    for (int i = 0; i < draws; ++i) reached += draw_gap(random, mean) <= bytes ? 1 : 0;
    const double p = -std::expm1(-static_cast<double>(bytes) / static_cast<double>(mean));
    return (reached - draws * p) / std::sqrt(draws * p * (1 - p));
}

}  // namespace

TEST_CASE("sample_gap: a mean of one or nothing samples every byte") {
    random_source random;
    for (int i = 0; i < 1000; ++i) {
        CHECK(draw_gap(random, 1) == 1);
        CHECK(draw_gap(random, 0) == 1);
    }
}

TEST_CASE("sample_gap: is at least one and fits a signed number, whatever the mean") {
    random_source random;
    bool is_saturated = false;
    for (const unsigned power : {1U, 10U, 19U, 40U, 60U, 62U, 63U}) {
        for (int i = 0; i < 1000; ++i) {
            const std::uint64_t gap = draw_gap(random, two_to_the(power));
            CHECK(gap >= 1);
            CHECK(gap <= longest_sample_gap);
            is_saturated |= gap == longest_sample_gap;
        }
    }
    CHECK(is_saturated);
    CHECK(draw_gap(random, ~std::uint64_t{0}) >= 1);
}

TEST_CASE("sample_gap: is at most s with probability 1 - exp(-s / mean), also when rounded up") {
    std::uint64_t seed = 0;
    for (const std::uint64_t mean : {two_to_the(1), two_to_the(2), two_to_the(10), two_to_the(19),
                                     two_to_the(40), two_to_the(60)}) {
        for (const std::uint64_t part : {mean / 2, mean, 2 * mean, 4 * mean}) {
            CAPTURE(mean);
            CAPTURE(part);
            CHECK(std::fabs(deviations_at(part, mean, ++seed)) < 4.5);
        }
    }
    CHECK(std::fabs(deviations_at(1, 3, 100)) < 4.5);
    CHECK(std::fabs(deviations_at(16, 4096, 101)) < 4.5);
}

TEST_CASE("sample_gap: the ends of the random numbers give the longest and the shortest gaps") {
    random_source random;
    double shortest = 1;
    double longest = 0;
    for (int i = 0; i < 1000000; ++i) {
        const double drawn = draw_exponential(random);
        shortest = drawn < shortest ? drawn : shortest;
        longest = drawn > longest ? drawn : longest;
    }
    CHECK(shortest > 0);
    CHECK(shortest < 1e-5);
    CHECK(longest > 11);
    CHECK(longest < 45.1);
}

TEST_CASE("sample_gap: neither depends on how the program calculates, nor shows in it") {
    random_source first;
    random_source second;
    std::fesetround(FE_UPWARD);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_OVERFLOW);
    std::uint64_t rounded_up[1000];
    for (std::uint64_t& each : rounded_up) each = draw_gap(first, two_to_the(60));
    const bool is_as_before =
        std::fegetround() == FE_UPWARD && std::fetestexcept(FE_ALL_EXCEPT) == FE_OVERFLOW;
    std::fesetround(FE_TONEAREST);
    std::feclearexcept(FE_ALL_EXCEPT);
    CHECK(is_as_before);
    int differ = 0;
    for (const std::uint64_t each : rounded_up) {
        differ += draw_gap(second, two_to_the(60)) == each ? 0 : 1;
    }
    CHECK(differ == 0);
}
