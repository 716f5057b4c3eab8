// Danger: every window leaves something behind, so a server with one window for each request grows
// until it dies. A million windows must leave memory flat, also under a window that never ends.
// not with: asan, tsan (they keep freed blocks, so addresses never come again)

#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"
#include "../../support/resident_memory.hpp"

#include <allocscope/allocscope.hpp>

using namespace allocscope_test;

namespace {

constexpr std::uint64_t growth_allowed = mebibyte;

// One request: a few objects, one of which lives on until a later request replaces it.
void one_window(long number, allocscope::threads from, void** survivors) {
    allocscope::options wanted;
    wanted.from = from;
    const allocscope::scope window{"request", wanted};
    void* first = allocate(24);
    void* second = allocate(100);
    release(survivors[number % 64]);
    survivors[number % 64] = allocate(40);
    release(second);
    release(first);
}

std::uint64_t own_memory() {
    const allocscope::scope window{"own memory"};
    return window.stats().info().own_memory_bytes;
}

struct requests {
    own_thread thread;
    long count;
    allocscope::threads from;
    void* survivors[64];
    meeting_point* all_have_begun;
};

void serve(void* self) {
    auto* mine = static_cast<requests*>(self);
    one_window(0, mine->from, mine->survivors);
    mine->all_have_begun->wait();  // so that each has had tables of its own
    for (long i = 0; i < mine->count; ++i) one_window(i, mine->from, mine->survivors);
    for (void*& object : mine->survivors) {
        release(object);
        object = nullptr;
    }
}

void serve_on(int threads, long count, allocscope::threads from) {
    static requests servers[4] = {};
    meeting_point begun{static_cast<unsigned>(threads)};
    for (int i = 0; i < threads; ++i) {
        servers[i].all_have_begun = &begun;
        servers[i].count = count;
        servers[i].from = from;
        servers[i].thread.start(serve, &servers[i]);
    }
    for (int i = 0; i < threads; ++i) servers[i].thread.join();
}

void expect_flat(const char* what, int threads, long windows, allocscope::threads from) {
    serve_on(threads, windows / 20 / threads + 1, from);
    const std::uint64_t own_before = own_memory();
    const std::uint64_t resident_before = resident_bytes_trimmed();
    serve_on(threads, windows / threads, from);
    const std::uint64_t own_after = own_memory();
    const std::uint64_t resident_after = resident_bytes_trimmed();
    const bool is_own_flat = ALLOCSCOPE_EXPECT(own_after <= own_before + growth_allowed);
    const bool is_flat = ALLOCSCOPE_EXPECT(resident_after <= resident_before + 2 * growth_allowed);
    if (is_own_flat && is_flat) return;
    char out[300];
    say(out, std::snprintf(out, sizeof out, "%s: own %llu -> %llu, resident %llu -> %llu\n", what,
                           static_cast<unsigned long long>(own_before),
                           static_cast<unsigned long long>(own_after),
                           static_cast<unsigned long long>(resident_before),
                           static_cast<unsigned long long>(resident_after)));
}

}  // namespace

int main() {
    watchdog();
    expect_flat("one after another", 1, scaled(1000000), allocscope::threads::all);
    allocscope::scope outer{"never ends"};
    expect_flat("under a long window", 1, scaled(500000), allocscope::threads::all);
    expect_flat("one for each request of a thread", 4, scaled(500000),
                allocscope::threads::current);
    expect_flat("four threads, all of each other's", 4, scaled(200000), allocscope::threads::all);
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().live_bytes(), 0);
    return verdict();
}
