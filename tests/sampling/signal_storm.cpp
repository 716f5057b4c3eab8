// Signal handlers that allocate interrupt sampling anywhere, also while a sample is being recorded:
// nothing is lost, and what is estimated stays right.
// not with: asan, tsan (their own allocator must not be re-entered)

#include "support/signal_safe_malloc.hpp"

#include "support/thread_timer.hpp"

#include <allocscope/allocscope.hpp>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <new>

namespace {

constexpr std::size_t bytes = 40;
constexpr std::uint64_t least_handler_runs = 500;
constexpr std::uint64_t least_pairs = 100000;

std::atomic<std::uint64_t> births{0};
std::atomic<std::uint64_t> handler_runs{0};

void pair_of_events() {
    ::operator delete(::operator new(bytes));
}

void allocate_in_handler(int) {
    for (int i = 0; i < 3; ++i) pair_of_events();
    births.fetch_add(3);
    handler_runs.fetch_add(1);
}

bool is_right(std::uint64_t sample_bytes) {
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.sample_bytes = sample_bytes;
    births = 0;
    handler_runs = 0;
    allocscope::scope window{"storm", wanted};
    {
        const allocscope_test::thread_timer timer(SIGUSR1, 100000);
        for (std::uint64_t i = 0; i < least_pairs || handler_runs < least_handler_runs; ++i) {
            pair_of_events();
            births.fetch_add(1);
        }
    }
    const allocscope::snapshot rows = window.stop();
    const auto& info = rows.info();
    const double count = static_cast<double>(births.load());
    const double p =
        sample_bytes == 1
            ? 1
            : -std::expm1(-static_cast<double>(bytes + 16) / static_cast<double>(sample_bytes));
    const double off = static_cast<double>(info.totals.allocations) - count;
    const double deviation = std::sqrt(count * (1 - p) / p);
    std::printf("every %llu bytes: %.0f allocations, %llu samples, off by %.0f, deviation %.0f\n",
                static_cast<unsigned long long>(sample_bytes), count,
                static_cast<unsigned long long>(info.samples), off, deviation);
    // Six deviations: the seed is another one in each run.
    return std::fabs(off) <= 6 * deviation && info.totals.live_objects() == 0 && rows.empty() &&
           info.loss_count == 0;
}

}  // namespace

int main() {
    struct sigaction action = {};
    action.sa_handler = &allocate_in_handler;
    ::sigaction(SIGUSR1, &action, nullptr);
    int failures = 0;
    for (const std::uint64_t every : {std::uint64_t{1}, std::uint64_t{2000}}) {
        if (!is_right(every)) {
            ++failures;
            std::printf("FAILED: every %llu bytes\n", static_cast<unsigned long long>(every));
        }
    }
    return failures == 0 ? 0 : 1;
}
