// Danger: a thread that is cancelled inside the library leaves a lock held or its slot taken, or
// the forced unwinding meets a noexcept and ends the process.
// about: stacks

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

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

// Cancelled between any two instructions, but for those of malloc, where no program may be.
__attribute__((noinline)) void wait_for_the_end() {
    int before = 0;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    for (;;) barrier();
}

constexpr std::uint64_t objects_of_a_spinner = 3;

void allocate_and_spin(void*) {
    int before = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    const owned first;
    const owned second;
    release(allocate(16));
    wait_for_the_end();
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
    const std::uint64_t before_spinners = outer.counts().allocations;
    // A sanitizer takes the stack of such a thread for broken.
    const long spinners = is_sanitized ? 0 : scaled(3000, 100000);
    for (long i = 0; i < spinners; ++i) {
        own_thread thread;
        thread.start(allocate_and_spin, nullptr, 64 * 1024);
        pthread_cancel(thread.handle());
        thread.join();
    }
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().allocations - before_spinners,
                            static_cast<std::uint64_t>(spinners) * objects_of_a_spinner);
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().live_objects(), 0);
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
    ALLOCSCOPE_EXPECT_EQUAL(declared_losses(outer.stats()), 0);
    return verdict();
}
