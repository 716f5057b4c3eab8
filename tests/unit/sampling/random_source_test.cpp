#include <allocscope/sampling/random_source.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <set>

using allocscope::detail::random_source;

TEST_CASE("random_source: the same seed gives the same numbers, another seed others") {
    random_source first;
    random_source again;
    random_source other;
    first.seed(7);
    again.seed(7);
    other.seed(8);
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t number = first.next();
        CHECK(number == again.next());
        CHECK(number != other.next());
    }
}

TEST_CASE("random_source: consecutive seeds do not give shifted series of each other") {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        random_source random;
        random.seed(seed);
        for (int i = 0; i < 1000; ++i) seen.insert(random.next());
    }
    CHECK(seen.size() == 100000);
}

TEST_CASE("random_source: each bit is set half of the time, and equal to each neighbour as often") {
    constexpr int draws = 40000;
    random_source random;
    random.seed(1);
    int ones[64] = {};
    int same[63] = {};
    for (int i = 0; i < draws; ++i) {
        const std::uint64_t number = random.next();
        for (unsigned bit = 0; bit < 64; ++bit) {
            ones[bit] += (number >> bit & 1U) != 0U ? 1 : 0;
            if (bit < 63) same[bit] += ((number >> bit ^ number >> (bit + 1U)) & 1U) == 0U ? 1 : 0;
        }
    }
    constexpr int five_deviations = 500;  // of draws / 2, whose deviation is sqrt(draws) / 2 = 100
    for (const int count : ones) {
        CHECK(count > draws / 2 - five_deviations);
        CHECK(count < draws / 2 + five_deviations);
    }
    for (const int count : same) {
        CHECK(count > draws / 2 - five_deviations);
        CHECK(count < draws / 2 + five_deviations);
    }
}
