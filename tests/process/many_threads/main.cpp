// Danger: a thread that ends takes its counts with it, or leaves its tables behind. A hundred
// thousand threads, sixty-four at a time, allocate ten objects each: every object is counted, and
// the last threads take no more memory than the first.

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>

using namespace allocscope_test;

namespace {

constexpr int at_a_time = 64;
constexpr int objects_each = 10;

struct short_life {
    own_thread thread;
    void* left_behind[objects_each / 2] = {};
    bool is_running = false;
};

short_life lives[at_a_time];

void live(void* self) {
    auto* mine = static_cast<short_life*>(self);
    for (int i = 0; i < objects_each; ++i) {
        void* object = allocate(static_cast<std::size_t>(20 + i));
        if (i % 2 == 0) {
            mine->left_behind[i / 2] = object;
        } else {
            release(object);
        }
    }
}

// As many threads at once as there will ever be, so that each has had its tables.
void live_together(void* together) {
    static_cast<meeting_point*>(together)->wait();
    void* object = allocate(20);
    static_cast<meeting_point*>(together)->wait();
    release(object);
}

void all_at_once() {
    meeting_point together{at_a_time};
    for (short_life& life : lives) life.thread.start(live_together, &together, 64 * 1024);
    for (short_life& life : lives) life.thread.join();
}

void finish(short_life& life) {
    if (!life.is_running) return;
    life.thread.join();
    for (void*& object : life.left_behind) release(object);
    life.is_running = false;
}

}  // namespace

int main() {
    watchdog();
    const long threads = scaled(100000);
    allocscope::scope window{"threads"};
    all_at_once();
    std::uint64_t memory_early = 0;
    for (long i = 0; i < threads; ++i) {
        short_life& life = lives[i % at_a_time];
        finish(life);
        life.thread.start(live, &life, 64 * 1024);
        life.is_running = true;
        if (i == threads / 20) memory_early = window.stats().info().own_memory_bytes;
    }
    for (short_life& life : lives) finish(life);

    const allocscope::snapshot last = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(last.info().totals.allocations, at_a_time + threads * objects_each);
    ALLOCSCOPE_EXPECT_EQUAL(last.info().totals.frees, at_a_time + threads * objects_each);
    ALLOCSCOPE_EXPECT_EQUAL(last.info().totals.bytes_allocated, at_a_time * 20 + threads * 245);
    ALLOCSCOPE_EXPECT_EQUAL(last.info().totals.live_bytes(), 0);
    const auto objects = static_cast<std::uint64_t>(at_a_time + threads * objects_each);
    expect_accounted(last, {objects, objects});
    ALLOCSCOPE_EXPECT_AT_MOST(last.info().own_memory_bytes, memory_early + 1024 * 1024);
    return verdict();
}
