// Danger: memory for samples is refused, and the estimate is too low without a word. Each sample
// that is lost stands for several objects: estimate and loss together say how many there were.

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"

#include <sys/resource.h>
#include <cstdio>
#include <cstring>
#include <new>

using namespace allocscope_test;

namespace {

constexpr std::size_t most_objects = 200000;
void* objects[most_objects];

// From now on the process gets little memory.
bool limit_memory(rlim_t more_bytes) {
    std::FILE* sizes = std::fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;
    if (sizes == nullptr || std::fscanf(sizes, "%llu", &pages) != 1) return false;
    std::fclose(sizes);
    const rlimit limit = {pages * 4096 + more_bytes, RLIM_INFINITY};
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

}  // namespace

int main() {
    watchdog();
    if (is_sanitized) return 77;  // their own memory knows no such limit
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = 1024;
    allocscope::scope window{"little memory", wanted};
    release(allocate(100000));
    if (!limit_memory(rlim_t{48} << 20U)) return 77;
    std::uint64_t produced = 1;
    for (void*& object : objects) {
        object = opaque(::operator new(80, std::nothrow));
        if (object != nullptr) ++produced;
    }
    const rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &none);
    const allocscope::snapshot seen = window.stats();
    const std::uint64_t estimate = seen.info().estimates.allocations.value;
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < seen.info().loss_count; ++i) {
        const bool is_of_samples =
            std::strstr(seen.info().losses[i].reason, "missing in the estimates") != nullptr;
        ALLOCSCOPE_EXPECT(is_of_samples);
        lost += seen.info().losses[i].count;
    }
    ALLOCSCOPE_EXPECT(lost > produced / 50);  // or the test tests nothing
    ALLOCSCOPE_EXPECT_AT_MOST(estimate + lost, produced + produced / 20);
    ALLOCSCOPE_EXPECT_AT_MOST(produced - produced / 20, estimate + lost);
    for (void* object : objects) release(object);
    return verdict();
}
