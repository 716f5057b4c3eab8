// Danger: the program's own atfork handlers use windows. Those registered before ours run inside
// ours, when the forking thread holds the locks; those registered after run outside. fork() must
// return, and the numbers of the handlers must be right.
// not with: asan, tsan (their allocators do not hold their locks across a fork: the child hangs)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"
#include "../../support/own_threads.hpp"

#include <atomic>

using namespace allocscope_test;

namespace {

allocscope::scope* outer = nullptr;
std::atomic<bool> is_over{false};
std::uint64_t events_of_forker = 0;  // allocations, and as many frees

void use_windows() {
    if (outer == nullptr) return;
    const allocscope::allocation_counts before = outer->counts();
    for (int i = 0; i < 3; ++i) release(allocate(12));
    ALLOCSCOPE_EXPECT_EQUAL(outer->counts().allocations, before.allocations + 3);
    events_of_forker += 3;
    allocscope::options own_thread_only;
    own_thread_only.from = allocscope::threads::current;
    allocscope::scope inner{"in a handler", own_thread_only};
    void* left = allocate(40);
    ++events_of_forker;
    const allocscope::snapshot seen = inner.stats();
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), 1);
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_bytes(), 40);
    release(left);
    expect_accounted(inner.stop(), {1, 1});
}

void open_windows_until_over(void*) {
    while (!is_over.load()) {
        allocscope::scope window{"meanwhile"};
        release(allocate(8));
        window.stats();
    }
}

}  // namespace

int main() {
    watchdog();
    pthread_atfork(use_windows, use_windows, use_windows);  // before the library's own
    allocscope::options own_thread_only;
    own_thread_only.from = allocscope::threads::current;
    allocscope::scope window{"around the forks", own_thread_only};
    outer = &window;
    pthread_atfork(use_windows, use_windows, use_windows);
    own_thread others[2];
    for (own_thread& thread : others) thread.start(open_windows_until_over, nullptr);
    for (long i = scaled(60); i > 0; --i) {
        const pid_t child = fork();
        if (child == 0) {
            watchdog(10);
            use_windows();
            expect_accounted(window.stats(), {events_of_forker, events_of_forker});
            _exit(verdict());
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!ALLOCSCOPE_EXPECT_EQUAL(status, 0)) break;
    }
    is_over = true;
    for (own_thread& thread : others) thread.join();
    expect_accounted(window.stats(), {events_of_forker, events_of_forker});
    return verdict();
}
