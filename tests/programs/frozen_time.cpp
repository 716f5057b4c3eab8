// frozen_time.cpp - preloaded for programs that seed their hash tables with the time: it stands
// still. Allocates nothing. Compiled as counting_shim.cpp.
#include <sys/time.h>
#include <cstdint>
#include <ctime>

namespace {
constexpr std::time_t second = 1'700'000'000;
}

// Highway, below JPEG XL, asks the processor's own clock when it is loaded: with a block for each
// sample that it takes, it measures how fine that clock is.
namespace hwy::platform {
std::uint64_t TimerResolution() {
    return 1;
}
}  // namespace hwy::platform

extern "C" {

std::time_t time(std::time_t* result) {
    if (result != nullptr) *result = second;
    return second;
}

int gettimeofday(timeval* result, void*) noexcept {
    *result = {second, 0};
    return 0;
}

int clock_gettime(clockid_t, timespec* result) noexcept {
    *result = {second, 0};
    return 0;
}
}
