// Danger: a realloc gives the old address back before its record is gone, another thread is given
// it, and the record of the new object is taken for the old one's. Four threads hand blocks to each
// other and resize them, in one heap and without a thread's own cache, so that addresses come back
// at once.
// hooks: malloc
// not with: asan, tsan (they define malloc themselves)

#include "../support/dice.hpp"
#include "../support/own_threads.hpp"
#include "../support/process_test.hpp"
#include "windows_of_all_kinds.hpp"

#include <malloc.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>

using namespace allocscope_test;

namespace {

constexpr int thread_count = 4;
constexpr int shelf_count = 64;

struct worker {
    std::uint64_t seed = 0;
    std::uint64_t births = 0;
    std::uint64_t deaths = 0;
};

std::atomic<void*> shelves[shelf_count];

void work(void* argument) {
    worker& self = *static_cast<worker*>(argument);
    dice roll{self.seed};
    const long rounds = scaled(300'000, 6'000'000);
    for (long i = 0; i < rounds; ++i) {
        std::atomic<void*>& shelf = shelves[roll.below(shelf_count)];
        void* block = shelf.exchange(nullptr);
        const std::size_t bytes = 1 + roll.below(400);
        if (block == nullptr) {
            block = std::malloc(bytes);
            ++self.births;
        } else if (roll.one_in(4)) {
            std::free(block);
            block = nullptr;
            ++self.deaths;
        } else {
            block = std::realloc(block, bytes);
            ++self.births;
            ++self.deaths;
        }
        void* other = shelf.exchange(block);
        if (other == nullptr) continue;
        std::free(other);
        ++self.deaths;
    }
}

// The C library then allocates room for ours in each thread, which belongs to no window.
void take_keys() {
    for (int i = 0; i < 40; ++i) {
        pthread_key_t key;
        pthread_key_create(&key, nullptr);
    }
}

void under(const allocscope::options& wanted) {
    allocscope::scope window{"threads", wanted};
    worker workers[thread_count];
    own_thread threads[thread_count];
    {
        const allocscope::pause_recording here;  // what a thread itself needs is the parent's
        for (int i = 0; i < thread_count; ++i) {
            workers[i].seed = static_cast<std::uint64_t>(i) + 1;
            threads[i].start(work, &workers[i]);
        }
    }
    worker all;
    for (int i = 0; i < thread_count; ++i) {
        threads[i].join();
        all.births += workers[i].births;
        all.deaths += workers[i].deaths;
    }
    for (std::atomic<void*>& shelf : shelves) {
        void* left = shelf.exchange(nullptr);
        if (left == nullptr) continue;
        std::free(left);
        ++all.deaths;
    }
    const allocscope::snapshot seen = window.stats();
    const allocscope::allocation_counts& totals = seen.info().totals;
    ALLOCSCOPE_EXPECT_EQUAL(all.births, all.deaths);
    ALLOCSCOPE_EXPECT_EQUAL(totals.live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(totals.live_bytes(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(seen.info().loss_count, 0);
    if (wanted.record == allocscope::recording::sampled) return;
    ALLOCSCOPE_EXPECT_EQUAL(totals.allocations, all.births);
    ALLOCSCOPE_EXPECT_EQUAL(totals.frees, all.deaths);
}

}  // namespace

int main(int, char** arguments) {
    watchdog();
    if (std::getenv("GLIBC_TUNABLES") == nullptr) {
        setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1", 1);
        execv("/proc/self/exe", arguments);
    }
    take_keys();
    under(recording_as(allocscope::recording::exact));
    under(recording_as(allocscope::recording::counters));
    under(sampling_with(1));
    under(sampling_with(300));
    return verdict();
}
