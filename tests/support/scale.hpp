// scale.hpp - how much work a test does: less under a sanitizer or at -O0, more when asked.
//
// Room:     tests/support
// Called:   by tests with a number of rounds
// Threads:  any
// Memory:   none
//
//     for (long i = 0; i < scaled(100000); ++i) ...
//     for (long i = 0; i < scaled(4000, 100000); ++i) ...     // 100000 in a soak
//
// ALLOCSCOPE_TEST_SCALE in the environment multiplies: 10 runs ten times the rounds, 0.1 a tenth.
// `cmake -P cmake/test.cmake soak` sets it to 3, with which an optimised test does what it asks
// for, and ALLOCSCOPE_TEST_SOAK, with which the second number counts in place of the first.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_SCALE_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_SCALE_HPP

#include <cstdlib>  // getenv, strtod

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    #define ALLOCSCOPE_TEST_SANITIZED 1
#elif defined(__has_feature)
    #if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
        __has_feature(memory_sanitizer)
        #define ALLOCSCOPE_TEST_SANITIZED 1
    #endif
#endif
#ifndef ALLOCSCOPE_TEST_SANITIZED
    #define ALLOCSCOPE_TEST_SANITIZED 0
#endif

namespace allocscope_test {

constexpr bool is_sanitized = ALLOCSCOPE_TEST_SANITIZED != 0;
#if defined(__OPTIMIZE__)
constexpr bool is_optimized = true;
#else
constexpr bool is_optimized = false;
#endif

inline bool is_soak() {
    return std::getenv("ALLOCSCOPE_TEST_SOAK") != nullptr;
}

inline long scaled(long rounds, long in_soak = 0) {
    double factor = is_sanitized ? 0.03 : is_optimized ? 0.34 : 0.08;
    if (in_soak != 0 && is_soak()) rounds = in_soak;
    if (const char* asked = std::getenv("ALLOCSCOPE_TEST_SCALE")) {
        factor *= std::strtod(asked, nullptr);
    }
    const long result = static_cast<long>(static_cast<double>(rounds) * factor);
    return result < 1 ? 1 : result;
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_SCALE_HPP
