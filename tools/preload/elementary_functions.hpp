// elementary_functions.hpp - log, log1p, exp and expm1 without libm.
//
// Called:   by sampling/, for the distance to the next sample and the weight of one
// Threads:  any
// Memory:   none
//
// If the preload library needed libm, it would bring libm into every program. That would show in
// /proc/self/maps and in ldd, and a library that the program loads later would no longer load it.
// So these functions are in the preload library and hidden. They are exact to a few units in the
// last place, which is far more than an estimate needs.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_ELEMENTARY_FUNCTIONS_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_ELEMENTARY_FUNCTIONS_HPP

#include <cstdint>
#include <cstring>

namespace allocscope_tools {
namespace elementary {

constexpr double ln2_high = 0x1.62e42fee00000p-1;  // its product with an exponent is exact
constexpr double ln2_low = 0x1.a39ef35793c76p-33;

inline std::uint64_t bits_of(double value) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline double from_bits(std::uint64_t bits) noexcept {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// 2^exponent, for normal numbers.
inline double power_of_two(int exponent) noexcept {
    return from_bits(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

// log((1 + s) / (1 - s)) for |s| <= 1/3.
inline double twice_artanh(double s) noexcept {
    const double square = s * s;
    double sum = 0;
    for (int odd = 35; odd >= 3; odd -= 2) sum = (sum + 1.0 / odd) * square;
    return 2 * (s + s * sum);
}

// For finite numbers above 0 that are not subnormal.
inline double logarithm(double value) noexcept {
    constexpr std::uint64_t mantissa_mask = (std::uint64_t{1} << 52U) - 1;
    const std::uint64_t bits = bits_of(value);
    int exponent = static_cast<int>(bits >> 52U) - 1023;
    double mantissa = from_bits((bits & mantissa_mask) | (std::uint64_t{1023} << 52U));
    if (mantissa > 1.4142135623730951) {
        mantissa /= 2;
        ++exponent;
    }
    const double rest = twice_artanh((mantissa - 1) / (mantissa + 1));
    return exponent * ln2_high + (rest + exponent * ln2_low);
}

// log(1 + value) for -1 < value.
inline double logarithm_of_one_and(double value) noexcept {
    if (value > -0.5 && value < 1) return twice_artanh(value / (2 + value));
    return logarithm(1 + value);
}

// exp(value) - 1.
inline double exponential_less_one(double value) noexcept {
    if (value > 709) return from_bits(std::uint64_t{0x7ff} << 52U);
    if (value < -40) return -1;
    const double halves = value / 0.6931471805599453 + (value < 0 ? -0.5 : 0.5);
    const int exponent = static_cast<int>(halves);
    const double rest = (value - exponent * ln2_high) - exponent * ln2_low;
    double sum = 0;  // the sum of rest^n / n!
    for (int n = 16; n >= 2; --n) sum = (sum + 1) * rest / n;
    const double less_one = rest + rest * sum;
    if (exponent == 0) return less_one;
    const double scale = power_of_two(exponent);
    return scale * less_one + (scale - 1);
}

inline double exponential(double value) noexcept {
    if (value < -700) return 0;
    if (value > -1) return 1 + exponential_less_one(value);
    return 1 / (1 + exponential_less_one(-value));
}

}  // namespace elementary
}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_ELEMENTARY_FUNCTIONS_HPP
