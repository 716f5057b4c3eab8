// Allocations before main: the executable starts its window before any library is initialised, then
// three shared libraries allocate in their constructors. All must be counted, once.
#include <allocscope/allocscope.hpp>

#include <cinttypes>
#include <cstdio>

namespace {

// Runs before the constructors of the shared libraries, libstdc++'s among them.
void start_window() {
    allocscope::options wanted;
#ifdef COUNTERS_ONLY
    wanted.record = allocscope::recording::counters;
#endif
    allocscope::start(wanted);
}

__attribute__((section(".preinit_array"), used)) void (*const run_first)() = start_window;

}  // namespace

int main() {
    const allocscope::snapshot at_main = allocscope::stats();
    const allocscope::allocation_counts counts = at_main.info().totals;
    std::printf("allocations %" PRIu64 ", frees %" PRIu64 ", live %" PRIu64 ", bytes %" PRIu64 "\n",
                counts.allocations, counts.frees, counts.live_objects(), counts.bytes_allocated);
    std::printf("not recording: \"%s\"\n", at_main.info().not_recording);
    return 0;
}
