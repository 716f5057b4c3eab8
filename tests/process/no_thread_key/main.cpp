// Danger: the program owns every pthread key, so nobody tells the library that a thread has ended.
// The states of ended threads are found all the same and used again.

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/state/process_state.hpp>

using namespace allocscope_test;

namespace {

constexpr int at_a_time = 8;

void keep_one(void* kept) {
    *static_cast<void**>(kept) = allocate(40);
    release(allocate(50));
}

}  // namespace

int main() {
    watchdog();
    pthread_key_t key;
    while (pthread_key_create(&key, nullptr) == 0) {
    }
    allocscope::scope window{"no key"};
    const long generations = scaled(1500);
    for (long i = 0; i < generations; ++i) {
        void* kept[at_a_time] = {};
        own_thread threads[at_a_time];
        for (int k = 0; k < at_a_time; ++k) threads[k].start(keep_one, &kept[k], 64 * 1024);
        for (own_thread& thread : threads) thread.join();
        for (void* block : kept) release(block);
    }
    const auto objects = static_cast<std::uint64_t>(generations) * at_a_time * 2;
    expect_accounted(window.stats(), {objects, objects});
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, objects);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    // A thread that is joined may still be known to the kernel for a moment.
    ALLOCSCOPE_EXPECT_AT_MOST(allocscope::detail::process.last_state_number.load(), 100);
    return verdict();
}
