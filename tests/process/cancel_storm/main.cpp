// Danger: a thread that is cancelled inside the library leaves a lock held or its slot taken, or
// the forced unwinding meets a noexcept and ends the process.

#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <unistd.h>

using namespace allocscope_test;

namespace {

struct owned {
    void* object = allocate(40);
    ~owned() { release(object); }
};

void allocate_in_a_loop(void*) {
    while (true) {
        const owned first;
        const owned second;
        pthread_testcancel();
    }
}

// The cancellation is already pending when the snapshot is taken: whatever the library opens or
// reads for the names may deliver it there. Either it does not, or unwinding leaves nothing behind.
void look_while_cancelled(void*) {
    const owned object;
    allocscope::scope window{"cancelled"};
    const owned inside;
    pthread_cancel(pthread_self());
    window.stats();
    window.stop();
    pthread_testcancel();
}

}  // namespace

int main() {
    watchdog();
    allocscope::scope outer{"storm"};
    constexpr int at_a_time = 16;
    for (long i = scaled(4000, 100000) / at_a_time + 1; i > 0; --i) {
        own_thread threads[at_a_time];
        for (own_thread& thread : threads) thread.start(allocate_in_a_loop, nullptr, 64 * 1024);
        if (i % 8 == 0) usleep(100);
        for (own_thread& thread : threads) pthread_cancel(thread.handle());
        for (own_thread& thread : threads) thread.join();
    }
    for (int i = 0; i < 50; ++i) {
        own_thread looking;
        looking.start(look_while_cancelled, nullptr);
        looking.join();
    }
    const std::uint64_t before = outer.counts().allocations;
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().live_objects(), 0);
    for (int i = 0; i < 1000; ++i) release(allocate(8));
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().allocations, before + 1000);
    ALLOCSCOPE_EXPECT_EQUAL(outer.stats().live_objects(), 0);
    return verdict();
}
