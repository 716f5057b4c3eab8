// Danger: a window that ends on another thread than it began on (a coroutine that was resumed
// elsewhere) corrupts the state of one of the two.

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>

#include <semaphore.h>
#include <new>

using namespace allocscope_test;

namespace {

constexpr int batch = 100;

struct parcel {
    alignas(allocscope::scope) unsigned char storage[sizeof(allocscope::scope)];
    void* object;
    bool is_current;

    allocscope::scope& window() {
        return *std::launder(reinterpret_cast<allocscope::scope*>(storage));
    }
};

parcel parcels[batch];
sem_t is_full;
sem_t is_empty;
long rounds = 0;

void wait_for(sem_t* signal) {
    while (sem_wait(signal) != 0) continue;
}

void opens(void*) {
    for (long round = 0; round < rounds; ++round) {
        wait_for(&is_empty);
        for (int i = 0; i < batch; ++i) {
            allocscope::options wanted;
            if (i % 2 == 0) wanted.from = allocscope::threads::current;
            parcels[i].is_current = i % 2 == 0;
            new (parcels[i].storage) allocscope::scope{"travels", wanted};
            parcels[i].object = allocate(static_cast<std::size_t>(i + 1));
        }
        sem_post(&is_full);
    }
}

void closes(void*) {
    for (long round = 0; round < rounds; ++round) {
        wait_for(&is_full);
        for (int i = 0; i < batch; ++i) {
            parcel& mine = parcels[i];
            // The window saw what its own thread allocated after it opened. If it watches all
            // threads, it also saw what this one has allocated and freed since.
            const int seen_here = mine.is_current ? 0 : i;
            ALLOCSCOPE_EXPECT_EQUAL(mine.window().counts().allocations, batch - i + seen_here);
            ALLOCSCOPE_EXPECT_EQUAL(mine.window().counts().frees, seen_here);
            void* elsewhere = allocate(1000);
            ALLOCSCOPE_EXPECT_EQUAL(mine.window().counts().live_objects(),
                                    batch - i + (mine.is_current ? 0 : 1));
            release(elsewhere);
            release(mine.object);
            ALLOCSCOPE_EXPECT_EQUAL(mine.window().counts().live_objects(), batch - i - 1);
            mine.window().~scope();
        }
        sem_post(&is_empty);
    }
}

}  // namespace

int main() {
    watchdog();
    rounds = scaled(1000);
    sem_init(&is_full, 0, 0);
    sem_init(&is_empty, 0, 1);
    allocscope::scope outer{"outer"};
    own_thread first;
    own_thread second;
    first.start(opens, nullptr);
    second.start(closes, nullptr);
    first.join();
    second.join();
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().allocations, 2 * batch * rounds);
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().live_objects(), 0);
    const auto births = static_cast<std::uint64_t>(2 * batch * rounds);
    expect_accounted(outer.stats(), {births, births});
    return verdict();
}
