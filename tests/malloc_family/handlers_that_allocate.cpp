// Danger: a signal handler that calls malloc, realloc and free interrupts a hook of malloc: it
// finds half-written tables, waits for a lock of its own thread, or its objects are lost. The
// malloc below the hooks is that of another library, which a handler may call at any time.

#include "../support/accounting.hpp"
#include "../support/own_threads.hpp"
#include "../support/process_test.hpp"
#include "../support/thread_timer.hpp"
#include "windows_of_all_kinds.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <initializer_list>

using namespace allocscope_test;

namespace {

constexpr int worker_count = 3;

std::atomic<bool> is_over{false};
std::atomic<std::uint64_t> handler_runs{0};
std::atomic<std::uint64_t> births{0};
std::atomic<std::uint64_t> deaths{0};
std::atomic<void*> kept{nullptr};

void allocate_in_handler(int) {
    void* block = std::malloc(24);
    block = std::realloc(block, 60);
    births.fetch_add(2);
    deaths.fetch_add(1);
    void* before = kept.exchange(block);
    std::free(before);
    if (before != nullptr) deaths.fetch_add(1);
    handler_runs.fetch_add(1);
}

void work(void*) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
    std::uint64_t mine = 0;
    {
        const thread_timer timer(SIGUSR1, 30000);
        void* ring[32] = {};
        for (std::size_t i = 0; !is_over.load(); ++i) {
            void*& block = ring[i % 32];
            if (i % 3 == 0 || block == nullptr) {
                std::free(block);
                if (block != nullptr) deaths.fetch_add(1);
                block = i % 2 == 0 ? std::malloc(16 + i % 90) : std::calloc(1 + i % 9, 10);
            } else {
                block = std::realloc(block, 1 + i % 100);
                deaths.fetch_add(1);
            }
            ++mine;
        }
        for (void* block : ring) {
            std::free(block);
            if (block != nullptr) deaths.fetch_add(1);
        }
    }
    pthread_sigmask(SIG_BLOCK, &own, nullptr);
    births.fetch_add(mine);
}

void under(const allocscope::options& wanted) {
    is_over.store(false);
    births.store(0);
    deaths.store(0);
    const std::uint64_t runs_before = handler_runs.load();
    allocscope::scope window{"handlers", wanted};
    own_thread workers[worker_count];
    {
        const allocscope::pause_recording here;
        for (own_thread& each : workers) each.start(work, nullptr);
    }
    const auto wanted_runs = static_cast<std::uint64_t>(scaled(9'000, 1'000'000));
    while (handler_runs.load() - runs_before < wanted_runs) usleep(1000);
    is_over.store(true);
    for (own_thread& each : workers) each.join();
    void* left = kept.exchange(nullptr);
    std::free(left);
    if (left != nullptr) deaths.fetch_add(1);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(births.load(), deaths.load());
    if (wanted.record != allocscope::recording::sampled) {
        expect_accounted(seen, {births.load(), deaths.load()});
    }
    ALLOCSCOPE_EXPECT_AT_MOST(seen.info().totals.live_objects(), declared_losses(seen));
}

}  // namespace

int main() {
    watchdog();
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &own, nullptr);
    struct sigaction action = {};
    action.sa_handler = allocate_in_handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    under(recording_as(allocscope::recording::exact));
    under(recording_as(allocscope::recording::counters));
    under(sampling_with(200));
    return verdict();
}
