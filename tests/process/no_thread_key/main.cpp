// Danger: the program owns every pthread key, so nobody tells the library that a thread has ended.
// The states of ended threads are found all the same and used again.

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/state/process_state.hpp>

#include <sched.h>        // sched_yield
#include <sys/syscall.h>  // SYS_gettid, SYS_tgkill
#include <unistd.h>       // getpid, syscall

using namespace allocscope_test;

namespace {

constexpr int at_a_time = 8;

struct job {
    own_thread thread;
    long id = 0;  // that the kernel knows the thread by
    void* kept = nullptr;
};

void keep_one(void* argument) {
    job& own = *static_cast<job*>(argument);
    own.id = syscall(SYS_gettid);
    own.kept = allocate(40);
    release(allocate(50));
}

// A joined thread may still be known to the kernel, for long on a busy machine. Its state is in use
// until then.
void wait_until_gone(long id) {
    while (syscall(SYS_tgkill, getpid(), id, 0) == 0) sched_yield();
}

}  // namespace

int main() {
    watchdog();
    pthread_key_t key;
    while (pthread_key_create(&key, nullptr) == 0) {
    }
    allocscope::scope window{"no key"};
    const long generations = scaled(1500);
    for (long i = 0; i < generations; ++i) {
        job jobs[at_a_time];
        for (job& each : jobs) each.thread.start(keep_one, &each, 64 * 1024);
        for (job& each : jobs) {
            each.thread.join();
            wait_until_gone(each.id);
            release(each.kept);
        }
    }
    const auto threads = static_cast<std::uint64_t>(generations) * at_a_time;
    const std::uint64_t objects = threads * 2;
    expect_accounted(window.stats(), {objects, objects});
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, objects);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    // Without a search for ended threads, each thread would have a state of its own. The number of
    // states depends on how the threads overtake each other.
    ALLOCSCOPE_EXPECT_AT_MOST(allocscope::detail::process.last_state_number.load(), threads / 4);
    return verdict();
}
