// Danger: fork while other threads are inside the hooks: the child inherits a held lock or a
// half-written table and hangs at its first allocation or window.
// not with: asan, tsan (their allocators do not hold their locks across a fork: the child hangs)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>

#include <atomic>

using namespace allocscope_test;

namespace {

std::atomic<bool> is_over{false};

void allocate_until_over(void*) {
    void* ring[64] = {};
    for (std::size_t i = 0; !is_over.load(std::memory_order_relaxed); ++i) {
        release(ring[i % 64]);
        ring[i % 64] = allocate(16 + i % 300);
    }
    for (void* object : ring) release(object);
}

void open_windows_until_over(void*) {
    while (!is_over.load()) {
        allocscope::scope window{"meanwhile"};
        release(allocate(8));
        window.stats();
    }
}

void grandchild_thread(void* window) {
    void* object = allocate(30);
    static_cast<allocscope::scope*>(window)->counts();
    release(object);
}

// The child has one thread, so what it adds is exact.
int child(const allocscope::scope& inherited, long number) {
    const allocscope::allocation_counts at_fork = inherited.counts();
    ALLOCSCOPE_EXPECT(at_fork.frees <= at_fork.allocations);
    {
        allocscope::scope own{"in the child"};
        void* objects[100];
        for (void*& object : objects) object = allocate(20);
        ALLOCSCOPE_EXPECT_EQUAL(own.counts().allocations, 100);
        for (int i = 0; i < 60; ++i) release(objects[i]);
        ALLOCSCOPE_EXPECT_EQUAL(own.counts().frees, 60);
        if (number % 16 == 0) ALLOCSCOPE_EXPECT_EQUAL(own.stop().live_objects(), 40);
        for (int i = 60; i < 100; ++i) release(objects[i]);
        if (number % 16 == 2) expect_accounted(own.stats(), {100, 100});
    }
    const allocscope::allocation_counts later = inherited.counts();
    ALLOCSCOPE_EXPECT_EQUAL(later.allocations - at_fork.allocations, 100);
    ALLOCSCOPE_EXPECT_EQUAL(later.frees - at_fork.frees, 100);
    if (number % 16 == 1) {
        own_thread thread;
        allocscope::scope own{"with a thread"};
        thread.start(grandchild_thread, &own);
        thread.join();
        ALLOCSCOPE_EXPECT_EQUAL(own.counts().allocations, 1);
    }
    return verdict();
}

}  // namespace

int main() {
    watchdog();
    const allocscope::scope outer{"around the forks"};
    own_thread busy[4];
    own_thread opening;
    for (own_thread& thread : busy) thread.start(allocate_until_over, nullptr);
    opening.start(open_windows_until_over, nullptr);
    for (long i = scaled(200); i > 0; --i) {
        const child_end ended =
            in_child([&outer, i] { return child(outer, i); }, child_exit::at_once, 10);
        if (ALLOCSCOPE_EXPECT(ended.exited_with(0))) continue;
        say(ended.text.c_str(), static_cast<int>(ended.text.size()));
        break;
    }
    is_over = true;
    for (own_thread& thread : busy) thread.join();
    opening.join();
    const allocscope::allocation_counts before = outer.counts();
    release(allocate(8));
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().allocations, before.allocations + 1);
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().frees, before.frees + 1);
    return verdict();
}
