// window_modes.hpp - the ways of recording that the benchmarks compare.

#ifndef ALLOCSCOPE_BENCHMARKS_WINDOW_MODES_HPP
#define ALLOCSCOPE_BENCHMARKS_WINDOW_MODES_HPP

#include <allocscope/allocscope.hpp>

#include <cstdint>   // uint32_t
#include <optional>  // optional

namespace benchmarks {

inline allocscope::options exact(std::uint32_t frames) {
    allocscope::options wanted;
    wanted.record = allocscope::recording::exact;
    wanted.stack_frames = frames;
    return wanted;
}

inline allocscope::options counters() {
    allocscope::options wanted;
    wanted.record = allocscope::recording::counters;
    return wanted;
}

inline allocscope::options sampled() {
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    return wanted;
}

// No window at all: the hooks are compiled in and find nothing to do.
using window_mode = std::optional<allocscope::options>;

class optional_window {
public:
    explicit optional_window(const window_mode& mode) {
        if (mode) window_.emplace("benchmark", *mode);
    }

private:
    std::optional<allocscope::scope> window_;
};

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_WINDOW_MODES_HPP
