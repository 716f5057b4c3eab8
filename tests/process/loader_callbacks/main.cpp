// Danger: threads allocate in callbacks of dl_iterate_phdr, with the loader's lock, while others
// open windows and look at them. Whoever waits for that lock with one of ours, and for ours with
// that one, waits for ever.
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <link.h>
#include <atomic>

using namespace allocscope_test;

namespace {

std::atomic<bool> is_over{false};
std::atomic<std::uint64_t> callbacks{0};

int allocate_in_callback(dl_phdr_info*, std::size_t, void*) {
    void* objects[50];
    for (void*& object : objects) object = allocate(1000);
    {
        const allocscope::scope window{"in a callback"};
        release(allocate(20));
        ALLOCSCOPE_EXPECT(window.counts().allocations >= 1);
    }
    for (void* object : objects) release(object);
    callbacks.fetch_add(1);
    return 0;
}

void walk_until_over(void*) {
    while (!is_over.load()) ::dl_iterate_phdr(&allocate_in_callback, nullptr);
}

}  // namespace

int main() {
    watchdog();
    allocscope::scope all{"all"};
    own_thread walkers[3];
    for (own_thread& each : walkers) each.start(walk_until_over, nullptr);
    for (long i = scaled(600, 6000); i > 0 || callbacks.load() < 100; --i) {
        allocscope::leak_check leaks{"meanwhile"};
        release(allocate(10));
        const allocscope::scope window{"meanwhile"};
        static_cast<void>(window.stats());
        static_cast<void>(leaks.finish());
    }
    is_over = true;
    for (own_thread& each : walkers) each.join();
    const allocscope::snapshot seen = all.stats();
    ALLOCSCOPE_EXPECT(seen.info().totals.allocations >= callbacks.load() * 51);
    ALLOCSCOPE_EXPECT_EQUAL(seen.info().loss_count, 0);
    return verdict();
}
