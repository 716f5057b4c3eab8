// Danger: what a thread allocates and frees while it dies (destructors of thread_local objects, the
// four rounds of pthread key destructors) comes after its tables were taken away. Keys that were
// created after the library's own have their turn after it, also in the last round.
// not with: tsan (it ends a thread before the last round)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/state/process_state.hpp>

using namespace allocscope_test;

namespace {

constexpr int rounds = 4;  // PTHREAD_DESTRUCTOR_ITERATIONS

struct dying {
    void* of_thread_local = nullptr;
    void* of_round[rounds] = {};
    int round = 0;
    int late_round = 0;
    void* of_last_round = nullptr;
};

pthread_key_t early_key;  // created before the library can have made one of its own
pthread_key_t late_key;
pthread_key_t last_key;  // created after the library's own

void on_key(void* value) {
    auto* self = static_cast<dying*>(value);
    if (self->round >= rounds) return;
    release(self->of_round[self->round]);
    release(allocate(100));
    self->round += 1;
    if (self->round < rounds) {
        self->of_round[self->round] = allocate(200);
        pthread_setspecific(early_key, self);
    }
}

void on_late_key(void* value) {
    release(value);
}

// In the last round the library has given the thread's state back already. One thread at a time, so
// that none of them has to wait for the state that all such threads share.
void after_the_last_round(dying& self) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    ALLOCSCOPE_EXPECT(allocscope::detail::current_entry == &allocscope::detail::departed);
    release(self.of_last_round);
    release(allocate(70));
    self.of_last_round = allocate(80);
    pthread_mutex_unlock(&one_at_a_time);
}

void on_last_key(void* value) {
    auto* self = static_cast<dying*>(value);
    self->late_round += 1;
    if (self->late_round < rounds) {
        pthread_setspecific(last_key, self);
        return;
    }
    after_the_last_round(*self);
}

struct last_words {
    dying* self = nullptr;
    ~last_words() {
        release(self->of_thread_local);
        release(allocate(300));
        pthread_setspecific(early_key, self);
    }
};
thread_local last_words words;
meeting_point* all_are_here = nullptr;

// In all: 1 + 1 + 4 * 1 + 4 + 1 objects, and 3 of the last key.
constexpr int births_of_a_thread = 14;

void live_and_die(void* argument) {
    auto* self = static_cast<dying*>(argument);
    all_are_here->wait();  // so that each has had a state of its own
    *self = {};
    self->of_thread_local = allocate(400);
    self->of_round[0] = allocate(200);
    self->of_last_round = allocate(60);
    words.self = self;
    pthread_setspecific(late_key, allocate(50));
    pthread_setspecific(last_key, self);
}

}  // namespace

int main() {
    watchdog();
    pthread_key_create(&early_key, on_key);
    allocscope::scope window{"dying threads"};
    pthread_key_create(&late_key, on_late_key);
    pthread_key_create(&last_key, on_last_key);
    constexpr int at_a_time = 16;
    const long generations = scaled(300);
    static dying lives[at_a_time];
    meeting_point here{at_a_time};
    all_are_here = &here;
    std::uint64_t memory_early = 0;
    for (long generation = 0; generation < generations; ++generation) {
        own_thread threads[at_a_time];
        for (int i = 0; i < at_a_time; ++i) threads[i].start(live_and_die, &lives[i], 64 * 1024);
        for (own_thread& thread : threads) thread.join();
        for (const dying& life : lives) {
            ALLOCSCOPE_EXPECT_EQUAL(life.round, rounds);
            ALLOCSCOPE_EXPECT_EQUAL(life.late_round, rounds);
            release(life.of_last_round);  // what came last is found again
        }
        if (generation == generations / 3) {
            memory_early = window.stats().info().own_memory_bytes;
        }
    }
    const allocscope::snapshot last = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(last.info().totals.allocations,
                            generations * at_a_time * births_of_a_thread);
    ALLOCSCOPE_EXPECT_EQUAL(last.info().totals.live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(last.info().totals.live_bytes(), 0);
    const auto births = static_cast<std::uint64_t>(generations * at_a_time * births_of_a_thread);
    expect_accounted(last, {births, births});
    ALLOCSCOPE_EXPECT_AT_MOST(last.info().own_memory_bytes, memory_early + 2 * 1024 * 1024);
    return verdict();
}
