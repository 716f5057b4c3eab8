#include <allocscope/sampling/sample_weight.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>

using namespace allocscope::detail;

namespace {

constexpr std::uint64_t two_to_the(unsigned power) {
    return std::uint64_t{1} << power;
}

void check_is_certain(const sample_weight& weight, std::uint64_t bytes) {
    CHECK(weight.objects == 1.0);
    CHECK(weight.bytes == static_cast<double>(bytes));
    CHECK(weight.objects_variance == 0.0);
    CHECK(weight.bytes_variance == 0.0);
    CHECK(weight.objects_skew == 0.0);
    CHECK(weight.bytes_skew == 0.0);
}

}  // namespace

TEST_CASE("sample_weight: with a mean of one every object stands for itself") {
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, two_to_the(40)}) {
        check_is_certain(weigh_sample(bytes, 1), bytes);
        check_is_certain(weigh_sample(bytes, 0), bytes);
    }
}

TEST_CASE("sample_weight: an object far beyond the mean stands for itself, exactly") {
    check_is_certain(weigh_sample(38 * two_to_the(19), two_to_the(19)), 38 * two_to_the(19));
    check_is_certain(weigh_sample(two_to_the(62), 2), two_to_the(62));
}

TEST_CASE("sample_weight: the numbers of the card") {
    const sample_weight small = weigh_sample(16, two_to_the(19));
    CHECK(small.objects == doctest::Approx(16384.5));
    CHECK(small.bytes == doctest::Approx(262152.0));
    const sample_weight middle = weigh_sample(two_to_the(13), two_to_the(19));
    CHECK(middle.objects == doctest::Approx(64.37595));
    const sample_weight equal = weigh_sample(two_to_the(19), two_to_the(19));
    CHECK(equal.objects == doctest::Approx(1.581949));
    CHECK(equal.bytes == doctest::Approx(1.581949 * 524288));
    const sample_weight large = weigh_sample(two_to_the(22), two_to_the(19));
    CHECK(large.objects == doctest::Approx(1.000336).epsilon(1e-6));
    CHECK(weigh_sample(two_to_the(25), two_to_the(19)).objects == 1.0);
}

TEST_CASE("sample_weight: an object of nothing stands for the most objects, and for no bytes") {
    const sample_weight none = weigh_sample(0, two_to_the(19));
    CHECK(none.objects == doctest::Approx(32768.5));
    CHECK(none.bytes == 0.0);
    CHECK(none.bytes_variance == 0.0);
    CHECK(none.bytes_skew == 0.0);
}

TEST_CASE("sample_weight: no object of any size leaves more unseen than one of nothing") {
    for (const unsigned power : {1U, 4U, 12U, 19U, 62U}) {
        const std::uint64_t mean = two_to_the(power);
        const double most = most_unseen_objects(mean);
        const sample_weight none = weigh_sample(0, mean);
        CHECK(none.objects_variance / none.objects == doctest::Approx(most).epsilon(1e-9));
        for (const std::uint64_t bytes : {1U, 8U, 24U, 4096U}) {
            const sample_weight weight = weigh_sample(bytes, mean);
            CHECK(weight.objects_variance / weight.objects <= most * (1 + 1e-9));
        }
    }
    CHECK(most_unseen_objects(512 * 1024) == doctest::Approx(32767.5));
    CHECK(most_unseen_objects(1) == 0.0);
    CHECK(most_unseen_objects(0) == 0.0);
}

TEST_CASE("sample_weight: is right to the last digits where the probability is tiny") {
    const sample_weight weight = weigh_sample(16, two_to_the(62));
    CHECK(weight.objects == doctest::Approx(std::ldexp(1.0, 57)).epsilon(1e-15));
    CHECK(weight.objects_variance == doctest::Approx(std::ldexp(1.0, 114)).epsilon(1e-15));
    CHECK(std::isfinite(weigh_sample(two_to_the(62), two_to_the(63)).bytes_skew));
    CHECK(std::isfinite(weigh_sample(~std::uint64_t{0}, ~std::uint64_t{0}).bytes_skew));
}

TEST_CASE("sample_weight: probability times weight is one, and the variance is the estimator's") {
    constexpr double mean = 4096;
    for (const std::uint64_t bytes : {1U, 7U, 100U, 4000U, 4096U, 10000U, 40000U}) {
        const double p = 1 - std::exp(-static_cast<double>(bytes_to_count(bytes)) / mean);
        const sample_weight weight = weigh_sample(bytes, 4096);
        CHECK(p * weight.objects == doctest::Approx(1.0).epsilon(1e-9));
        // E[(drawn / p)^2] - 1 = 1 / p - 1; the sum counts it only when drawn, hence times p
        CHECK(p * weight.objects_variance == doctest::Approx(1 / p - 1).epsilon(1e-9));
        CHECK(weight.bytes_variance ==
              doctest::Approx(weight.objects_variance * static_cast<double>(bytes * bytes)));
        CHECK(weight.objects_skew / weight.objects_variance ==
              doctest::Approx(weight.objects_variance / weight.objects).epsilon(1e-9));
    }
}
