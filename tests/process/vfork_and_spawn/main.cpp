// Danger: a vfork child runs in its parent's memory and with its parent's thread state, and so does
// a task of clone(CLONE_VM), on a stack that no thread has; what it does there must leave the
// parent's counts and guards whole.
// not with: asan, tsan (they intercept vfork)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"

#include <allocscope/allocscope.hpp>

#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

using namespace allocscope_test;

namespace {

char program[] = "/bin/true";
char* const program_arguments[] = {program, nullptr};
char* const no_environment[] = {nullptr};

bool child_succeeds(pid_t child) {
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// The parent sleeps meanwhile, so the child's objects are born in the parent's own tables.
__attribute__((noinline)) bool vfork_an_allocating_child(bool executes) {
    const pid_t child = vfork();
    if (child == 0) {
        release(allocate(72));
        if (executes) execve(program, program_arguments, no_environment);
        _exit(executes ? 1 : 0);
    }
    return child_succeeds(child);
}

int allocate_as_task(void*) {
    release(allocate(72));
    return 0;
}

alignas(16) char stack_of_task[64 * 1024];

bool clone_an_allocating_task() {
    return child_succeeds(::clone(allocate_as_task, stack_of_task + sizeof stack_of_task,
                                  CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr));
}

void expect_tasks_counted() {
    allocscope::scope window{"tasks"};
    for (std::uint64_t i = 1; i <= 100; ++i) {
        ALLOCSCOPE_EXPECT(clone_an_allocating_task());
        void* object = allocate(5);
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 2 * i);
        release(object);
    }
    expect_accounted(window.stats(), {200, 200});
}

}  // namespace

int main() {
    watchdog();
    expect_tasks_counted();
    allocscope::scope window{"vfork"};
    const long children = scaled(1000);
    for (long i = 0; i < children; ++i) {
        ALLOCSCOPE_EXPECT(vfork_an_allocating_child(i % 5 == 0));
        void* object = allocate(5);
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 2 * (i + 1));
        release(object);
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    }
    for (int i = 0; i < 100; ++i) {
        pid_t child = 0;
        ALLOCSCOPE_EXPECT(
            posix_spawn(&child, program, nullptr, nullptr, program_arguments, no_environment) == 0);
        ALLOCSCOPE_EXPECT(child_succeeds(child));
    }
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().allocations, 2 * children);
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().live_objects(), 0);
    const auto births = static_cast<std::uint64_t>(2 * children);
    expect_accounted(window.stats(), {births, births});
    return verdict();
}
