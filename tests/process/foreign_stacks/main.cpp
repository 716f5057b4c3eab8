// Danger: coroutines and signal handlers run on stacks that are not the thread's own, and that may
// be unmapped later; unwinding must neither leave such a stack nor look at it again.
// not with: tsan (it takes every handler that allocates for an error)
// about: stacks

#include "../../support/accounting.hpp"
#include "../../support/stack_tree.hpp"

#include <allocscope/allocscope.hpp>

#include <sys/mman.h>
#include <ucontext.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

using namespace allocscope_test;

namespace {

ucontext_t thread_context;
ucontext_t coroutine_context;
std::uint64_t births = 0;
void* kept[64];
std::size_t kept_count = 0;

void coroutine_body() {
    for (unsigned i = 0;; ++i) {
        errno = 77;
        release(allocate_on_path(i % 4, 3, 32));
        ALLOCSCOPE_EXPECT_EQUAL(errno, 77);
        births += 1;
        if (i == 2 && kept_count < 64) {
            kept[kept_count++] = allocate(88);
            births += 1;
        }
        swapcontext(&coroutine_context, &thread_context);
    }
}

// Frames of this function must not turn up in stacks of the coroutine.
__attribute__((noinline)) void resume_many_times(void* stack, std::size_t bytes, long times) {
    getcontext(&coroutine_context);
    coroutine_context.uc_stack.ss_sp = stack;
    coroutine_context.uc_stack.ss_size = bytes;
    coroutine_context.uc_link = nullptr;
    makecontext(&coroutine_context, coroutine_body, 0);
    for (long i = 0; i < times; ++i) {
        swapcontext(&thread_context, &coroutine_context);
        release(allocate(16));
        births += 1;
    }
}

constexpr std::size_t stack_bytes = is_sanitized ? 256 * 1024 : 12 * 1024;

void expect_only_frames_of_the_coroutine(const allocscope::snapshot& seen) {
    for (const allocscope::snapshot::row& row : seen) {
        for (std::size_t i = 0; i < row.frame_count; ++i) {
            ALLOCSCOPE_EXPECT(std::strstr(row.frames[i].function, "resume_many_times") == nullptr);
            ALLOCSCOPE_EXPECT(std::strcmp(row.frames[i].function, "main") != 0);
        }
    }
}

void coroutines() {
    allocscope::scope window{"coroutines"};
    births = 0;
    kept_count = 0;
    alignas(16) static char in_static_storage[stack_bytes];
    resume_many_times(in_static_storage, stack_bytes, scaled(30000, 50000));
    void* in_heap = std::malloc(stack_bytes);
    resume_many_times(in_heap, stack_bytes, scaled(30000, 50000));
    std::free(in_heap);
    // The same address is unmapped and mapped again: an old chain there must not be believed.
    for (int i = 0; i < 50; ++i) {
        void* memory =
            mmap(nullptr, stack_bytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char* stack = static_cast<char*>(memory) + 4096;
        mprotect(stack, stack_bytes, PROT_READ | PROT_WRITE);
        resume_many_times(stack, stack_bytes, scaled(1000) + 10);
        munmap(memory, stack_bytes + 8192);
        release(allocate(16));
        births += 1;
    }
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(seen.info().totals.allocations, births);
    ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), kept_count);
    expect_only_frames_of_the_coroutine(seen);
    for (std::size_t i = 0; i < kept_count; ++i) release(kept[i]);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    expect_accounted(window.stats(), {births, births});
}

void allocate_in_handler(int signal) {
    errno = 78;
    release(allocate_on_path(5, 3, 48));
    ALLOCSCOPE_EXPECT_EQUAL(errno, 78);
    births += 1;
    if (signal == SIGUSR1) raise(SIGUSR2);  // a handler inside a handler, on the same stack
}

// raise() is no interruption of malloc, so the handler may allocate.
void handlers_on_another_stack() {
    constexpr std::size_t bytes = 64 * 1024;
    void* memory = mmap(nullptr, bytes + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* stack = static_cast<char*>(memory) + 4096;
    mprotect(stack, bytes, PROT_READ | PROT_WRITE);
    stack_t alternative = {};
    alternative.ss_sp = stack;
    alternative.ss_size = bytes;
    sigaltstack(&alternative, nullptr);
    struct sigaction action = {};
    action.sa_handler = allocate_in_handler;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    sigaction(SIGUSR2, &action, nullptr);

    allocscope::scope window{"handlers"};
    births = 0;
    for (long i = scaled(5000); i > 0; --i) {
        raise(SIGUSR1);
        release(allocate(8));
        births += 1;
    }
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, births);
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().live_objects(), 0);
    alternative.ss_flags = SS_DISABLE;
    sigaltstack(&alternative, nullptr);
    munmap(memory, bytes + 8192);
    release(allocate(8));
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, births + 1);
    expect_accounted(window.stats(), {births + 1, births + 1});
}

}  // namespace

int main() {
    watchdog();
    release(allocate_on_path(1, 3, 8));  // binds what is bound lazily on the large stack
    coroutines();
    handlers_on_another_stack();
    return verdict();
}
