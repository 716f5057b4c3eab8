#include <allocscope/sampling/confidence_interval.hpp>
#include <allocscope/sampling/sample_sums.hpp>
#include <allocscope/sampling/sample_weight.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace allocscope::detail;

TEST_CASE("confidence_interval: of one to ten equal samples is the score interval of a count") {
    // n + z^2 / 2 -+ z sqrt(n + z^2 / 4)
    CHECK(interval_95(1, 1).low == doctest::Approx(0.17653));
    CHECK(interval_95(1, 1).high == doctest::Approx(5.66493));
    CHECK(interval_95(10, 10).low == doctest::Approx(5.43199));
    CHECK(interval_95(10, 10).high == doctest::Approx(18.40947));
}

TEST_CASE("confidence_interval: grows with the weight of a sample") {
    const confidence_interval counts = interval_95(4, 4);
    const confidence_interval weighted = interval_95(4 * 512.0, 4 * 512.0 * 512.0);
    CHECK(weighted.low == doctest::Approx(512 * counts.low));
    CHECK(weighted.high == doctest::Approx(512 * counts.high));
    const confidence_interval with_skew =
        interval_95(4 * 512.0, 4 * 512.0 * 512.0, 4 * 512.0 * 512.0 * 512.0);
    CHECK(with_skew.low == doctest::Approx(weighted.low));
    CHECK(with_skew.high == doctest::Approx(weighted.high));
}

TEST_CASE("confidence_interval: without variance is the estimate") {
    CHECK(interval_95(17, 0).low == 17);
    CHECK(interval_95(17, 0).high == 17);
    CHECK(interval_95(0, 0).high == 0);
}

TEST_CASE("confidence_interval: what is certain only moves it") {
    const confidence_interval alone = interval_95(100, 10000, 1000000);
    const confidence_interval moved = interval_95(1e9 + 100, 10000, 1000000);
    CHECK(moved.low - 1e9 == doctest::Approx(alone.low).epsilon(1e-6));
    CHECK(moved.high - 1e9 == doctest::Approx(alone.high).epsilon(1e-6));
}

TEST_CASE("sample_sums: what is recorded for certain is exact") {
    sample_sums sums;
    for (int i = 0; i < 1000; ++i) sums.add(weigh_sample(24, 1));
    CHECK(sums.samples == 1000);
    CHECK(sums.objects_95().value == 1000);
    CHECK(sums.objects_95().low == 1000);
    CHECK(sums.objects_95().high == 1000);
    CHECK(sums.bytes_95().value == 24000);
    CHECK(sums.bytes_95().low == 24000);
    CHECK(sums.bytes_95().high == 24000);
}

TEST_CASE("sample_sums: four samples of 1 KiB, of 512 KiB on average") {
    sample_sums sums;
    for (int i = 0; i < 4; ++i) sums.add(weigh_sample(1024, 512 * 1024));
    const allocscope::estimate objects = sums.objects_95();
    CHECK(objects.value == 2018);
    CHECK(objects.low == 785);
    CHECK(objects.high == 5186);
    CHECK(sums.bytes_95().value == 2066937);
}

TEST_CASE("sample_sums: when all are freed nothing is left, whatever was rounded") {
    sample_sums born;
    sample_sums freed;
    for (std::uint64_t bytes = 1; bytes < 1000; ++bytes) born.add(weigh_sample(bytes, 4096));
    for (std::uint64_t bytes = 999; bytes > 0; --bytes) freed.add(weigh_sample(bytes, 4096));
    sample_sums alive = born;
    alive.subtract(freed);
    CHECK(alive.samples == 0);
    CHECK(alive.objects == 0.0);
    CHECK(alive.objects_95().high == 0);
    CHECK(alive.bytes_95().high == 0);

    alive = born;
    alive.subtract(sample_sums{});
    CHECK(alive.objects == born.objects);
}

TEST_CASE("sample_sums: freed samples leave the estimate of the others") {
    sample_sums born;
    sample_sums freed;
    sample_sums left;
    for (std::uint64_t bytes = 1; bytes < 1000; ++bytes) {
        born.add(weigh_sample(bytes, 4096));
        (bytes % 3 == 0 ? left : freed).add(weigh_sample(bytes, 4096));
    }
    born.subtract(freed);
    CHECK(born.samples == left.samples);
    CHECK(born.objects == doctest::Approx(left.objects));
    CHECK(born.bytes_skew == doctest::Approx(left.bytes_skew));
    CHECK(born.objects_95().low == left.objects_95().low);
    CHECK(born.objects_95().high == left.objects_95().high);
}

TEST_CASE("sample_sums: there are at least as many objects as samples") {
    sample_sums sums;
    for (int i = 0; i < 3; ++i) sums.add(weigh_sample(4096, 4096));
    CHECK(sums.objects_95().value == 5);
    CHECK(sums.objects_95().low == 3);
}

TEST_CASE("sample_sums: estimates beyond 64 bits saturate") {
    sample_sums sums;
    for (int i = 0; i < 4; ++i) sums.add(weigh_sample(0, ~std::uint64_t{0}));
    for (int i = 0; i < 16; ++i) sums.add(weigh_sample(0, ~std::uint64_t{0}));
    CHECK(sums.objects_95().value == std::numeric_limits<std::uint64_t>::max());
    CHECK(sums.objects_95().high == std::numeric_limits<std::uint64_t>::max());
    CHECK(sums.objects_95().low < sums.objects_95().value);
}

TEST_CASE("sample_sums: of a single sample nothing is certain but itself") {
    sample_sums sums;
    sums.add(weigh_sample(1000, 512 * 1024));
    CHECK(sums.objects_95().value == 517);
    CHECK(sums.objects_95().low == 1);
    CHECK(sums.bytes_95().low == 1000);
    CHECK(sums.objects_95().high == 2923);
}

TEST_CASE("sample_sums: what met no sample is counted into the totals") {
    constexpr std::uint64_t mean = 512 * 1024;
    sample_sums sums;
    CHECK(sums.bytes_95(mean).low == 0);
    CHECK(sums.bytes_95(mean).high == 2014031);
    CHECK(sums.objects_95(mean).low == 0);
    CHECK(sums.objects_95(mean).high == 125876);  // 3.84 * mean / 16
    CHECK(sums.bytes_95(1).high == 0);
    CHECK(sums.objects_95(1).high == 0);
    sums.add(weigh_sample(40 * mean, mean));
    CHECK(sums.bytes_95().high == 40 * mean);
    CHECK(sums.bytes_95(mean).low == 40 * mean);
    CHECK(sums.bytes_95(mean).high == 40 * mean + 2014031);
    CHECK(sums.objects_95(mean).low == 1);
    CHECK(sums.objects_95(mean).high == 1 + 125876);
}

TEST_CASE("sample_sums: what rounding leaves does not widen the interval of what is certain") {
    constexpr std::uint64_t mean = 4096;
    sample_sums born;
    sample_sums freed;
    for (std::uint64_t i = 1; i < 20000; ++i) born.add(weigh_sample(1 + i % 97, mean));
    born.add(weigh_certain(100 * mean));
    for (std::uint64_t i = 19999; i > 0; --i) freed.add(weigh_sample(1 + i % 97, mean));
    born.subtract(freed);
    CHECK(born.samples == 1);
    CHECK(born.objects_95().low == 1);
    CHECK(born.objects_95().high == 1);
    CHECK(born.bytes_95().low == 100 * mean);
    CHECK(born.bytes_95().high == 100 * mean);
}

// The danger: 20 samples, all of 64 KiB, and 5% of the bytes in objects of 24 bytes that no sample
// met. Whatever is computed from the samples alone knows nothing of 140,000 objects.
TEST_CASE("sample_sums: the number of all objects has room for small ones that were not met") {
    constexpr std::uint64_t mean = 64 * 1024;
    sample_sums large;
    for (int i = 0; i < 20; ++i) large.add(weigh_sample(64 * 1024, mean));
    CHECK(large.objects_95(mean).value == large.objects_95().value);
    CHECK(large.objects_95(mean).low == large.objects_95().low);
    // No sample at all is met of three means' worth of counted bytes in 5 of 100 cases.
    CHECK(large.objects_95(mean).high > large.objects_95().value + 3 * mean / (24 + 16));
    CHECK(large.objects_95(mean).high < large.objects_95().high + 4 * mean / 16);
}

TEST_CASE("sample_sums: where the smallest objects were met nothing has to be added for them") {
    constexpr std::uint64_t mean = 64 * 1024;
    sample_sums smallest;
    for (int i = 0; i < 50; ++i) smallest.add(weigh_sample(0, mean));
    CHECK(smallest.objects_95(mean).low == smallest.objects_95().low);
    CHECK(smallest.objects_95(mean).high <= smallest.objects_95().high + 1);
}

TEST_CASE("sample_sums: the more samples, the less room is left beside them") {
    constexpr std::uint64_t mean = 64 * 1024;
    const auto room = [](int samples) {
        sample_sums equal;
        for (int i = 0; i < samples; ++i) equal.add(weigh_sample(112, mean));
        return static_cast<double>(equal.objects_95(mean).high) / equal.objects;
    };
    CHECK(room(10) > 3.0);
    CHECK(room(100) < 1.5);
    CHECK(room(1000) < 1.1);
}
