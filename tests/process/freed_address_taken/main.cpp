// Danger: an address is given to another thread between the real free and the removal of its
// record; then the new object's record is removed instead. Here another thread takes the address
// before the call of free has returned. process/address_reuse leaves it to chance.
// not with: asan, tsan (their free does not give an address out again at once)

#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <sched.h>   // sched_yield
#include <unistd.h>  // execv
#include <atomic>
#include <cstdlib>
#include <new>

using namespace allocscope_test;

extern "C" void __libc_free(void* block);

namespace {

constexpr std::size_t object_bytes = 48;

std::atomic<void*> watched{nullptr};  // whose free the other thread waits for
std::atomic<bool> is_free{false};
std::atomic<void*> taken{nullptr};
std::atomic<bool> is_over{false};

__attribute__((noinline)) void* made() {
    void* const object = ::operator new(object_bytes);
    __asm__ volatile("" : : "g"(object) : "memory");
    return object;
}

void take_what_is_freed(void*) {
    while (!is_over) {
        if (is_free.exchange(false)) taken = made();
        sched_yield();
    }
}

// Returns what the other thread has made at the same address.
void* replaced(void* object) {
    watched = object;
    ::operator delete(object);
    void* const fresh = taken.exchange(nullptr);
    ALLOCSCOPE_EXPECT(fresh == object);
    return fresh;
}

void expect_one_object(const allocscope::scope& window, std::uint64_t births) {
    const allocscope::allocation_counts seen = window.counts();
    ALLOCSCOPE_EXPECT_EQUAL(seen.allocations, births);
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), 1);
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_bytes(), object_bytes);
}

}  // namespace

// glibc's own, and what another thread may do before it returns.
extern "C" void free(void* block) {
    __libc_free(block);
    if (block == nullptr || block != watched) return;
    watched = nullptr;
    is_free = true;
    while (taken == nullptr) sched_yield();
}

int main(int, char** arguments) {
    watchdog();
    // One heap, and what is freed last is handed out first.
    if (std::getenv("GLIBC_TUNABLES") == nullptr) {
        setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1", 1);
        execv("/proc/self/exe", arguments);
        return 2;
    }
    own_thread other;
    other.start(take_what_is_freed, nullptr);
    allocscope::scope window{"taken"};

    void* object = replaced(made());
    expect_one_object(window, 2);
    object = replaced(object);  // now it is the other thread's
    expect_one_object(window, 3);
    ::operator delete(object);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().frees, 3);

    is_over = true;
    other.join();
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), 0);
    return verdict();
}
