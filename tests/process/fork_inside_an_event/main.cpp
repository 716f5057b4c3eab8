// Danger: a process is forked when another thread has counted the bytes of an event and not yet the
// event, or the reverse. That thread does not go on in the child, so there the window has bytes
// that no object has, for good. So one thread is stopped after each of its instructions, and
// another one forks.
//
// What the child reads is whole, or the report and each check say that an event was torn.
// not with: asan, tsan (their allocators take thousands of steps for each call)
// about: stacks

#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"
#include "../../support/single_steps.hpp"

#include <allocscope/allocscope.hpp>

#include <signal.h>    // raise
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // _exit, fork

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>

using namespace allocscope_test;

namespace {

constexpr std::uint64_t object_bytes = 48;
constexpr int is_whole = 0;
constexpr int is_torn_and_says_so = 1;
constexpr int is_wrong = 2;

struct forker {
    const allocscope::scope* window = nullptr;
    long children[3] = {};
};

bool says_torn(const allocscope::snapshot& seen) {
    for (std::size_t i = 0; i < seen.info().loss_count; ++i) {
        if (std::strstr(seen.info().losses[i].reason, "forked") != nullptr) return true;
    }
    return false;
}

int what_a_child_reads(const allocscope::scope& window) {
    const allocscope::snapshot seen = window.stats();
    if (allocscope::scope{"of the child"}.stats().info().loss_count != 0) return is_wrong;
    if (seen.info().uncertain_objects != 0) return is_wrong;
    if ((allocscope::check)(window, allocscope::allocation_budget{}).passed() == says_torn(seen)) {
        return is_wrong;  // a check of numbers that may be too low
    }
    if (says_torn(seen)) return is_torn_and_says_so;
    const allocscope::allocation_counts& totals = seen.info().totals;
    return totals.bytes_allocated == totals.allocations * object_bytes &&
                   totals.bytes_freed == totals.frees * object_bytes
               ? is_whole
               : is_wrong;
}

void fork_at_each_stop(void* argument) {
    auto& self = *static_cast<forker*>(argument);
    while (wait_for_stop()) {
        const pid_t child = fork();
        if (child == 0) _exit(what_a_child_reads(*self.window));
        int status = 0;
        waitpid(child, &status, 0);
        const int seen = WIFEXITED(status) ? WEXITSTATUS(status) : is_wrong;
        ++self.children[seen <= is_wrong ? seen : is_wrong];
        answer_stop();
    }
}

__attribute__((noinline)) void* made() {
    void* const object = ::operator new(object_bytes);
    __asm__ volatile("" : : "g"(object) : "memory");
    return object;
}

// A block at the beginning of a page may be a sample, so its death takes the long path. If the next
// block is such a block, it is held, and those after it are none.
void* block_before_others() {
    void* const next = made();
    if (reinterpret_cast<std::uintptr_t>(next) % 4096 == 0) return next;
    ::operator delete(next);
    return nullptr;
}

int be_stopped() {
    if (!let_parent_stop_me()) return cannot_run_here;
    void* const held = block_before_others();
    for (const allocscope::recording how :
         {allocscope::recording::exact, allocscope::recording::counters}) {
        allocscope::options wanted;
        wanted.record = how;
        const allocscope::scope window{"stopped", wanted};
        static_cast<void>(window.stats());  // finds the names
        forker forking;
        forking.window = &window;
        begin_stops();
        own_thread thread;
        thread.start(fork_at_each_stop, &forking);
        for (int left = 4; left != 0; --left) {
            __asm__ volatile("" : "+r"(left));  // one loop, and not four copies
            if (left == 1) raise(SIGSTOP);
            void* const object = made();
            if (left == 1) raise(SIGSTOP);
            if (left == 1) raise(SIGSTOP);
            ::operator delete(object);
            if (left == 1) raise(SIGSTOP);
        }
        end_stops();
        thread.join();
        ALLOCSCOPE_EXPECT_EQUAL(forking.children[is_wrong], 0);
        ALLOCSCOPE_EXPECT(forking.children[is_whole] > 50);
        // Before, between and after the two steps, of a birth and of a death.
        ALLOCSCOPE_EXPECT(forking.children[is_torn_and_says_so] >= 6);
        ALLOCSCOPE_EXPECT(forking.children[is_torn_and_says_so] * 5 < forking.children[is_whole]);
        ALLOCSCOPE_EXPECT_EQUAL(window.stats().info().loss_count, 0);
    }
    ::operator delete(held);
    return verdict();
}

}  // namespace

int main() {
    watchdog(120);
    return end_of_stepped(be_stopped);
}
