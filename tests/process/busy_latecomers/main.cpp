// Danger: a thread allocates after its last destructor while a hook of another such thread works in
// the state they share, or is held up there by a signal handler. Its event must not vanish.
// not with: tsan (it ends a thread before the last round)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/state/process_state.hpp>

#include <time.h>
#include <atomic>
#include <csignal>

using namespace allocscope_test;

namespace {

constexpr int rounds = 4;  // PTHREAD_DESTRUCTOR_ITERATIONS

pthread_key_t last_key;  // created after the library's own: its last round comes later
struct dying {
    int round = 0;
    std::uint64_t events = 0;  // allocations, and as many frees
    std::atomic<bool>* is_over = nullptr;
};

void on_last_key(void* value) {
    auto* self = static_cast<dying*>(value);
    if (++self->round < rounds) {
        pthread_setspecific(last_key, self);
        return;
    }
    ALLOCSCOPE_EXPECT(allocscope::detail::current_entry == &allocscope::detail::departed);
    do {
        release(allocate(24));
        ++self->events;
    } while (self->is_over != nullptr && !*self->is_over);
}

void live_and_die(void* argument) {
    auto* self = static_cast<dying*>(argument);
    release(allocate(8));
    ++self->events;
    pthread_setspecific(last_key, self);
}

// The common state is as a hook leaves it that does not go on.
std::uint64_t while_the_common_state_is_busy() {
    auto& busy = allocscope::detail::process.latecomer.load()->busy;
    std::uint64_t events = 0;
    for (int i = 0; i < 3; ++i) {
        dying life;
        own_thread thread;
        thread.start(live_and_die, &life);
        thread.join();
        events += life.events;
        busy.store(1);
    }
    busy.store(0);
    return events;
}

void take_long(int) {
    const timespec while_others_work = {0, 20000000};
    nanosleep(&while_others_work, nullptr);
}

std::uint64_t while_handlers_interrupt(long signals) {
    std::signal(SIGUSR1, take_long);
    std::atomic<bool> is_over{false};
    dying lives[2];
    own_thread threads[2];
    for (int i = 0; i < 2; ++i) {
        lives[i].is_over = &is_over;
        threads[i].start(live_and_die, &lives[i]);
    }
    for (long i = 0; i < signals; ++i) {
        const timespec a_while = {0, 30000000};
        nanosleep(&a_while, nullptr);
        pthread_kill(threads[0].handle(), SIGUSR1);
    }
    is_over = true;
    for (own_thread& thread : threads) thread.join();
    return lives[0].events + lives[1].events;
}

}  // namespace

int main() {
    watchdog();
    allocscope::scope window{"latecomers"};
    pthread_key_create(&last_key, on_last_key);
    std::uint64_t events = while_the_common_state_is_busy();
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, events);
    events += while_handlers_interrupt(scaled(30));
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, events);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    expect_accounted(window.stats(), {events, events});
    return verdict();
}
