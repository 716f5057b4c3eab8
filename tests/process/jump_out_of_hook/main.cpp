// Danger: a handler that interrupted the hook jumps away and never comes back: a guard stays set
// and the thread is blind from then on, or a lock stays held and the next window waits for ever.
// not with: asan, tsan (their own allocator must not be re-entered or jumped out of)
// about: stacks

// First: a header of clang declares what the next one defines.
#include <allocscope/state/process_state.hpp>

#include "../../support/accounting.hpp"
#include "../../support/signal_safe_malloc.hpp"

#include "../../support/own_threads.hpp"
#include "../../support/stack_tree.hpp"
#include "../../support/thread_timer.hpp"

#include <allocscope/allocscope.hpp>

#include <csetjmp>
#include <csignal>

using namespace allocscope_test;

namespace {

sigjmp_buf back_to_the_loop;
volatile sig_atomic_t may_jump = 0;
volatile long jumps = 0;
volatile long jumps_out_of_hooks = 0;
volatile sig_atomic_t was_outside = 0;  // since the last jump out of a hook
volatile long signals = 0;
volatile long attempts = 0;

bool is_inside_a_hook() {
    return allocscope::detail::current_entry->busy.load() != 0;
}

// Jumps at every second signal only, so that work which takes longer than the time between two
// signals comes to an end, too.
void jump_away(int) {
    signals = signals + 1;
    if (may_jump == 0 || signals % 2 != 0) return;
    if (was_outside != 0 && is_inside_a_hook()) {
        was_outside = 0;
        jumps_out_of_hooks = jumps_out_of_hooks + 1;
    }
    siglongjmp(back_to_the_loop, 1);
}

void allocate_while_signals_jump(long wanted_jumps) {
    volatile unsigned path = 0;
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGUSR1);
    if (sigsetjmp(back_to_the_loop, 0) != 0) jumps = jumps + 1;
    may_jump = 1;
    // Only now: a signal in the middle of siglongjmp would find the stack of the handler in use.
    pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
    while (jumps < wanted_jumps) {
        path = path + 1;
        attempts = attempts + 1;
        if (!is_inside_a_hook()) was_outside = 1;
        release(path % 4 == 0 ? allocate_on_path(path, 14, 40) : allocate(24));
    }
    may_jump = 0;
}

void expect_a_thousand_seen(const allocscope::scope& window) {
    const allocscope::allocation_counts before = window.counts();
    void* objects[1000];
    for (void*& object : objects) object = allocate(8);
    for (void* object : objects) release(object);
    const allocscope::allocation_counts after = window.counts();
    ALLOCSCOPE_EXPECT_EQUAL(after.allocations - before.allocations, 1000);
    ALLOCSCOPE_EXPECT_EQUAL(after.frees - before.frees, 1000);
}

void expect_a_thousand_seen_on_this_thread(void* window) {
    expect_a_thousand_seen(*static_cast<allocscope::scope*>(window));
}

void jump(allocscope::recording record, long wanted_jumps) {
    allocscope::options wanted;
    wanted.record = record;
    allocscope::scope window{"jumps", wanted};
    jumps = 0;
    jumps_out_of_hooks = 0;
    attempts = 0;
    // Where a signal takes longer than the time to the next one, the thread gets no further than
    // out of the last handler, and no signal comes inside a hook. Then the next round is slower.
    long interval_ns = 15000;
    for (long goal = wanted_jumps; jumps_out_of_hooks < 50 && interval_ns < 4000000; goal += 500) {
        const thread_timer timer(SIGUSR1, interval_ns);
        allocate_while_signals_jump(goal);
        interval_ns *= 2;
    }
    ALLOCSCOPE_EXPECT_AT_MOST(50, jumps_out_of_hooks);

    // A jump can take one allocation with it, not those that follow.
    const std::uint64_t counted = window.counts().allocations;
    ALLOCSCOPE_EXPECT_AT_MOST(counted, attempts);
    ALLOCSCOPE_EXPECT_AT_MOST(attempts, counted + static_cast<std::uint64_t>(jumps));
    // And an allocation that is missing is told.
    const std::uint64_t told = declared_losses(window.stats());
    ALLOCSCOPE_EXPECT_AT_MOST(told, static_cast<std::uint64_t>(jumps));
    ALLOCSCOPE_EXPECT(told > 0);
    expect_a_thousand_seen(window);
    own_thread other;
    other.start(expect_a_thousand_seen_on_this_thread, &window);
    other.join();
    const allocscope::scope fresh{"fresh"};  // the boundary must not wait for the lost hook
    expect_a_thousand_seen(fresh);
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().info().totals.allocations, counted + 3000);
}

}  // namespace

int main() {
    watchdog();
    struct sigaction action = {};
    action.sa_handler = jump_away;
    sigaction(SIGUSR1, &action, nullptr);
    jump(allocscope::recording::exact, scaled(30000));
    jump(allocscope::recording::counters, scaled(5000));
    return verdict();
}
