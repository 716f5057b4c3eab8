// mixes.hpp - what programs allocate: sizes and lifetimes to try the sampling on.

#ifndef ALLOCSCOPE_TESTS_SAMPLING_MIXES_HPP
#define ALLOCSCOPE_TESTS_SAMPLING_MIXES_HPP

#include <allocscope/sampling/random_source.hpp>

#include <algorithm>  // min
#include <cmath>      // cos, exp, log, pow, sqrt
#include <cstddef>    // size_t
#include <cstdint>    // uint32_t, uint64_t
#include <vector>     // vector

namespace allocscope_tests {

using allocscope::detail::random_source;

// Between 0 and 1, never either.
inline double draw_uniform(random_source& random) {
    return (static_cast<double>(random.next() >> 11U) + 0.5) / 9007199254740992.0;
}

inline std::uint32_t draw_lognormal(random_source& random, double median, double spread) {
    const double angle = 6.283185307179586 * draw_uniform(random);
    const double normal = std::sqrt(-2.0 * std::log(draw_uniform(random))) * std::cos(angle);
    return static_cast<std::uint32_t>(std::min(median * std::exp(spread * normal), 1e8));
}

struct size_mix {
    const char* name;
    std::uint32_t (*draw)(random_source&);
};

constexpr std::uint32_t kib = 1024;

// clang-format off
constexpr size_mix size_mixes[] = {
    {"16 B", [](random_source&) { return 16U; }},
    {"1 KiB", [](random_source&) { return kib; }},
    {"64 KiB", [](random_source&) { return 64U * kib; }},
    {"uniform to 4 KiB", [](random_source& r) {
        return 1U + static_cast<std::uint32_t>(r.next() % (4U * kib)); }},
    {"lognormal", [](random_source& r) { return draw_lognormal(r, 400, 1.0); }},
    {"wide lognormal", [](random_source& r) { return draw_lognormal(r, 150, 2.0); }},
    {"power law", [](random_source& r) {
        return static_cast<std::uint32_t>(
            std::min(16 * std::pow(draw_uniform(r), -1 / 1.1), 1e8)); }},
    {"256 B, some 2 MiB", [](random_source& r) {
        return draw_uniform(r) < 0.002 ? 2048U * kib : 256U; }},
    {"8 B, some 8 KiB", [](random_source& r) {
        return draw_uniform(r) < 0.01 ? 8U * kib : 8U; }},
    {"strings, some 0 B", [](random_source& r) {
        return draw_uniform(r) < 0.1 ? 0U : draw_lognormal(r, 40, 0.5); }},
    {"16 B to 4 KiB by twos", [](random_source& r) {
        return 16U << static_cast<std::uint32_t>(r.next() % 9); }},
    {"growing vectors", [](random_source& r) {
        std::uint32_t bytes = 64;
        while (bytes < 16384U * kib && draw_uniform(r) < 0.5) bytes *= 2;
        return bytes; }},
};

// A few bytes in small objects, the rest in large ones.
constexpr size_mix hidden_mixes[] = {
    {"8 B, 1/10 4 KiB", [](random_source& r) {
        return draw_uniform(r) < 0.1 ? 4U * kib : 8U; }},
    {"8 B, 1/140 64 KiB", [](random_source& r) {
        return draw_uniform(r) < 0.007 ? 64U * kib : 8U; }},
    {"24 B, 1/145 64 KiB", [](random_source& r) {
        return draw_uniform(r) < 0.0069 ? 64U * kib : 24U; }},
    {"64 B, 1/10 4 KiB", [](random_source& r) {
        return draw_uniform(r) < 0.1 ? 4U * kib : 64U; }},
    {"64 B, 1/54 64 KiB", [](random_source& r) {
        return draw_uniform(r) < 0.0185 ? 64U * kib : 64U; }},
    {"256 B, 1/54 256 KiB", [](random_source& r) {
        return draw_uniform(r) < 0.0185 ? 256U * kib : 256U; }},
};
// clang-format on

enum class lifetimes { kept, half_freed_at_random, most_freed_at_random, most_freed_in_order };
constexpr lifetimes all_lifetimes[] = {lifetimes::kept, lifetimes::half_freed_at_random,
                                       lifetimes::most_freed_at_random,
                                       lifetimes::most_freed_in_order};

inline const char* name_of(lifetimes lives) {
    switch (lives) {
        case lifetimes::kept:
            return "kept";
        case lifetimes::half_freed_at_random:
            return "half freed";
        case lifetimes::most_freed_at_random:
            return "95% freed";
        case lifetimes::most_freed_in_order:
            return "90% freed in order";
    }
    return "";
}

struct planned_object {
    std::uint32_t bytes;
    bool is_freed;
};

// The same stream each time: only what is sampled of it is left to chance.
inline std::vector<planned_object> plan_objects(const size_mix& sizes, lifetimes lives,
                                                std::size_t count) {
    random_source random;
    random.seed(20261);
    std::vector<planned_object> objects;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bytes = sizes.draw(random);
        const double fate = draw_uniform(random);
        const bool is_freed = (lives == lifetimes::half_freed_at_random && fate < 0.5) ||
                              (lives == lifetimes::most_freed_at_random && fate < 0.95) ||
                              (lives == lifetimes::most_freed_in_order && i < count - count / 10);
        objects.push_back({bytes, is_freed});
    }
    return objects;
}

// Rows are places, and a place mostly has one type: its objects are about equally large.
constexpr std::size_t size_class_count = 34;
inline std::size_t size_class_of(std::uint32_t bytes) {
    std::size_t bits = 0;
    for (; bytes != 0; bytes >>= 1U) ++bits;
    return bits;
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_SAMPLING_MIXES_HPP
