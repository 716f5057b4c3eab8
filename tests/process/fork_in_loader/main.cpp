// Danger: a thread is inside the loader when another one forks, and the child waits for ever for
// the loader's lock, which that thread has and which glibc does not release.
// not with: tsan
// ThreadSanitizer itself asks the loader in a child.

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

#include <atomic>
#include <cstring>
#include <string>

#include <link.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace allocscope_test;

namespace {

std::atomic<bool> is_inside{false};
std::atomic<bool> may_leave{false};

int stay(dl_phdr_info*, std::size_t, void*) {
    is_inside.store(true);
    while (!may_leave.load()) ::sched_yield();
    return 1;
}

[[gnu::noinline]] void* allocate_here() {
    void* const made = ::operator new(40);
    __asm__ volatile("" : : "r"(made));  // no tail call
    return made;
}

bool names(const allocscope::snapshot& rows, const char* function) {
    for (const allocscope::snapshot::row& row : rows) {
        if (std::strstr(row.function, function) != nullptr) return true;
    }
    return false;
}

// `knows_modules`: the parent has named a row before.
void work_of_child(bool knows_modules) {
    void* kept = nullptr;
    {
        const allocscope::scope window{"child"};
        kept = allocate_here();
        ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), 40);
        const allocscope::snapshot rows = window.stats();
        ALLOCSCOPE_EXPECT_EQUAL(rows.live_objects(), 1);
        ALLOCSCOPE_EXPECT_EQUAL(rows.size(), 1);
        ALLOCSCOPE_EXPECT_EQUAL(names(rows, "allocate_here"), knows_modules);
        ALLOCSCOPE_EXPECT(allocscope::to_text(rows).find("40 B") != std::string::npos);
    }
    allocscope::leak_check check{"child"};
    void* const leaked = allocate_here();
    const allocscope::check_result result = check.finish();
    ALLOCSCOPE_EXPECT(!result.passed());
    release(leaked);
    release(kept);
}

void fork_while_inside(bool knows_modules, pid_t (*fork)()) {
    own_thread other;
    other.start([](void*) { ::dl_iterate_phdr(&stay, nullptr); }, nullptr);
    while (!is_inside.load()) ::sched_yield();
    const pid_t child = fork();
    if (child == 0) {
        ::alarm(30);  // it hangs
        work_of_child(knows_modules);
        ::_exit(verdict());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ALLOCSCOPE_EXPECT_EQUAL(status, 0);
    may_leave.store(true);
    other.join();
    is_inside.store(false);
    may_leave.store(false);
}

// The lock that a thread of this process has is not lost: a report waits for it.
void report_while_inside() {
    const allocscope::scope window{"parent"};
    void* const kept = allocate_here();
    own_thread other;
    other.start([](void*) { ::dl_iterate_phdr(&stay, nullptr); }, nullptr);
    while (!is_inside.load()) ::sched_yield();
    own_thread reader;
    static std::atomic<bool> has_name;
    has_name.store(false);
    reader.start(
        [](void* given) {
            const auto& read = *static_cast<const allocscope::scope*>(given);
            has_name.store(names(read.stats(), "allocate_here"));
        },
        const_cast<allocscope::scope*>(&window));
    ::usleep(20000);
    may_leave.store(true);
    other.join();
    reader.join();
    ALLOCSCOPE_EXPECT(has_name.load());
    release(kept);
    is_inside.store(false);
    may_leave.store(false);
}

}  // namespace

int main() {
    watchdog();
    fork_while_inside(false, &::fork);
    fork_while_inside(false, &::_Fork);
    report_while_inside();
    fork_while_inside(true, &::fork);
    fork_while_inside(true, &::_Fork);
    return verdict();
}
