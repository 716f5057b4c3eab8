// frozen_time.cpp - preloaded for programs that seed their hash tables with the time: it stands
// still. Allocates nothing. Compiled as counting_shim.cpp.
#include <sys/time.h>
#include <ctime>

namespace {
constexpr std::time_t second = 1'700'000'000;
}

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
