// Danger: detached threads that are alive, or dying, while the process ends use state that is being
// destroyed. Those that finished before are counted exactly.

#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"

#include <allocscope/allocscope.hpp>

#include <pthread.h>
#include <sched.h>
#include <atomic>

using namespace allocscope_test;

namespace {

std::atomic<int> finished{0};

void* allocate_for_ever(void*) {
    while (true) {
        const allocscope::scope window{"at exit"};
        for (int i = 0; i < 100; ++i) release(allocate(33));
    }
}

void* allocate_and_end(void*) {
    for (int i = 0; i < 100; ++i) release(allocate(33));
    finished.fetch_add(1);
    return nullptr;
}

void start_detached(void* (*function)(void*)) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, function, nullptr) != 0) std::abort();
    pthread_attr_destroy(&attributes);
}

allocscope::scope* window = nullptr;

int end_with_threads() {
    window = new allocscope::scope{"detached"};  // never destroyed
    const std::uint64_t before = window->counts().allocations;
    for (int i = 0; i < 100; ++i) start_detached(allocate_and_end);
    while (finished.load() < 100) sched_yield();
    ALLOCSCOPE_EXPECT_EQUAL(window->counts().allocations - before, 100 * 100);
    ALLOCSCOPE_EXPECT_EQUAL(window->counts().frees, 100 * 100);
    for (int i = 0; i < 20; ++i) start_detached(allocate_for_ever);
    for (int i = 0; i < 20; ++i) start_detached(allocate_and_end);
    return verdict();
}

}  // namespace

int main() {
    watchdog();
    for (long i = scaled(40); i > 0; --i) {
        const child_end ended = in_child(end_with_threads, child_exit::through_exit);
        ALLOCSCOPE_EXPECT(ended.exited_with(0));
        if (!ended.text.empty()) say(ended.text.c_str(), static_cast<int>(ended.text.size()));
    }
    return verdict();
}
