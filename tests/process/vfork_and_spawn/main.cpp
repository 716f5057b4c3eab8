// Danger: a vfork child runs in its parent's memory and with its parent's thread state; what it
// does there must leave the parent's counts and guards whole.
// not with: asan, tsan (they intercept vfork)

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"

#include <allocscope/allocscope.hpp>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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

}  // namespace

int main() {
    watchdog();
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
