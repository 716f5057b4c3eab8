// Danger: a signal handler that allocates interrupts the hook: it finds half-written tables, waits
// for a lock of its own thread, or its objects are lost.
// not with: asan, tsan (their own allocator must not be re-entered or jumped out of)
// about: stacks

// First: a header of clang declares what the next one defines.
#include <allocscope/state/process_state.hpp>

#include "../../support/accounting.hpp"
#include "../../support/signal_safe_malloc.hpp"

#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/thread_timer.hpp"

#include <allocscope/allocscope.hpp>

#include <sched.h>
#include <atomic>
#include <csignal>
#include <ctime>
#include <initializer_list>

using namespace allocscope_test;

namespace {

constexpr int worker_count = 3;

std::atomic<bool> is_over{false};
std::atomic<std::uint64_t> handler_runs{0};
std::atomic<std::uint64_t> handlers_in_hooks{0};  // those that interrupted one
std::atomic<std::uint64_t> births{0};
std::atomic<void*> kept{nullptr};

void allocate_in_handler(int) {
    if (allocscope::detail::current_entry->busy.load() != 0) handlers_in_hooks.fetch_add(1);
    release(allocate(24));
    release(kept.exchange(allocate(56)));
    births.fetch_add(2);
    handler_runs.fetch_add(1);
}

// The alternate stack of handlers lies in the middle of the thread's own stack, as in a program
// that keeps it in an array of main. So a handler may lie above the hook that it interrupted.
struct stack_in_the_stack {
    alignas(16) char bytes[32 * 1024];

    stack_in_the_stack() {
        stack_t alternative = {};
        alternative.ss_sp = bytes;
        alternative.ss_size = sizeof bytes;
        sigaltstack(&alternative, nullptr);
    }
    ~stack_in_the_stack() {
        stack_t none = {};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
    }
};

void work(void* window) {
    const stack_in_the_stack handlers_here;
    const thread_timer timer(SIGUSR1, 30000);
    void* ring[32] = {};
    std::uint64_t mine = 0;
    for (std::size_t i = 0; !is_over.load(); ++i) {
        release(ring[i % 32]);
        ring[i % 32] = allocate(16 + i % 100);
        ++mine;
        if (i % 64 == 0) static_cast<allocscope::scope*>(window)->counts();
    }
    for (void* object : ring) release(object);
    births.fetch_add(mine);
}

void block_signals() {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGALRM);  // the watchdog's
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void open_windows() {
    while (!is_over.load()) {
        allocscope::scope window{"meanwhile"};
        window.counts();
    }
}

void open_windows_undisturbed(void*) {
    block_signals();
    open_windows();
}

void open_windows_under_signals(void*) {
    const stack_in_the_stack handlers_here;
    const thread_timer timer(SIGUSR1, 30000);
    open_windows();
}

void say_what_was_lost(const allocscope::snapshot& seen, const char* where) {
    char out[300];
    say(out, std::snprintf(out, sizeof out, "handlers %s, %s\n", where,
                           seen.info().loss_count == 0 ? "no loss reported" : "losses:"));
    for (std::size_t i = 0; i < seen.info().loss_count; ++i) {
        const allocscope::snapshot::loss& loss = seen.info().losses[i];
        say(out, std::snprintf(out, sizeof out, "  %s: %llu\n", loss.reason,
                               static_cast<unsigned long long>(loss.count)));
    }
}

void storm(allocscope::recording record, std::uint64_t wanted_runs, const char* where) {
    is_over = false;
    births = 0;
    handler_runs = 0;
    allocscope::options wanted;
    wanted.record = record;
    allocscope::scope window{"storm", wanted};

    own_thread workers[worker_count];
    for (own_thread& worker : workers) worker.start(work, &window);
    own_thread opening[2];
    opening[0].start(open_windows_undisturbed, nullptr);
    opening[1].start(open_windows_under_signals, nullptr);
    sigset_t before;
    sigset_t storm_signals;
    sigemptyset(&storm_signals);
    sigaddset(&storm_signals, SIGUSR1);
    sigaddset(&storm_signals, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &storm_signals, &before);

    sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR2;
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    itimerspec every_millisecond = {{0, 1000000}, {0, 1000000}};
    timer_settime(timer, 0, &every_millisecond, nullptr);
    while (handler_runs.load() < wanted_runs) {
        for (own_thread& worker : workers) pthread_kill(worker.handle(), SIGUSR1);
        sched_yield();
    }
    timer_delete(timer);
    is_over = true;
    for (own_thread& worker : workers) worker.join();
    for (own_thread& opener : opening) opener.join();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);

    release(kept.exchange(nullptr));
    const allocscope::allocation_counts seen = window.counts();
    const bool is_exact = ALLOCSCOPE_EXPECT_EQUAL(seen.allocations, births.load()) &&
                          ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), 0) &&
                          ALLOCSCOPE_EXPECT_EQUAL(seen.live_bytes(), 0);
    if (!is_exact) say_what_was_lost(window.stats(), where);
    expect_accounted(window.stats(), {births.load(), births.load()});
    if (record == allocscope::recording::exact) {
        ALLOCSCOPE_EXPECT_EQUAL(window.stats().live_objects(), 0);
    }
}

}  // namespace

int main() {
    watchdog();
    for (const int flags : {0, SA_ONSTACK}) {
        struct sigaction action = {};
        action.sa_handler = allocate_in_handler;
        action.sa_flags = SA_RESTART | flags;
        sigaction(SIGUSR1, &action, nullptr);
        sigaction(SIGUSR2, &action, nullptr);
        const char* where = flags == 0 ? "on the stack they interrupt" : "on a stack of their own";
        storm(allocscope::recording::exact, static_cast<std::uint64_t>(scaled(40000, 330000)),
              where);
        storm(allocscope::recording::counters, static_cast<std::uint64_t>(scaled(20000, 170000)),
              where);
    }
    // Else the test says nothing.
    ALLOCSCOPE_EXPECT_AT_MOST(20, handlers_in_hooks.load());
    return verdict();
}
