// pool_reports.cpp - what does it cost that a pool reports?
//
// A pool of 24-byte slots on a list, which is about as fast as a pool can be: a pair of an
// allocation and a free with reports, against the same pair without.

#include "interleaved_ratio.hpp"
#include "result_table.hpp"
#include "window_modes.hpp"

#include <allocscope/hooks.hpp>

#include <cstdint>  // uint64_t

using namespace benchmarks;

namespace {

struct slot {
    slot* next;
    char rest[16];
};

template <bool Reports>
class slot_pool {
public:
    slot_pool() {
        for (slot& each : slots_) give_back(&each);
    }
    slot* take() {
        slot* const taken = free_;
        free_ = taken->next;
        if (Reports) allocscope::report_allocation(taken, sizeof(slot), "benchmark");
        return taken;
    }
    void give_back_reported(slot* freed) {
        if (Reports) allocscope::report_free(freed, "benchmark");
        give_back(freed);
    }

private:
    void give_back(slot* freed) {
        freed->next = free_;
        free_ = freed;
    }

    slot* free_ = nullptr;
    slot slots_[1024];
};

// 512 slots are taken at a time; each step gives the oldest back and takes another one.
template <bool Reports>
class pool_loop {
public:
    pool_loop() {
        for (slot*& each : held_) each = pool_.take();
    }
    ~pool_loop() {
        for (slot* each : held_) pool_.give_back_reported(each);
    }
    __attribute__((noinline)) void run(std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps; ++i) {
            slot*& place = held_[i % 512];
            pool_.give_back_reported(place);
            place = pool_.take();
            __asm__ volatile("" : "+r"(place) : : "memory");
        }
    }

private:
    slot_pool<Reports> pool_;
    slot* held_[512] = {};
};

ratio compare(const run_options& options, const window_mode& mode) {
    const optional_window window{mode};
    pool_loop<false> baseline;
    pool_loop<true> measured;
    return measure_ratio(
        options, [&](std::uint64_t steps) { return timed_on_cpu([&] { baseline.run(steps); }); },
        [&](std::uint64_t steps) { return timed_on_cpu([&] { measured.run(steps); }); });
}

}  // namespace

int main(int count, char** arguments) {
    const run_options options = parse_run_options(count, arguments);
    const char* headline = "no window is open";
    result_table table{arguments[0], "What does it cost that a pool reports?", headline, options};
    table.add_ratio(headline, compare(options, {}));
    table.add_ratio("sampled", compare(options, sampled()));
    table.add_ratio("counters", compare(options, counters()));
    table.add_ratio("exact, 16 frames", compare(options, exact(16)));
    return table.finish();
}
