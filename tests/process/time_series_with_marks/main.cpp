// Danger: a time series is charged for itself, hangs in a forked child or at the end of a thread
// that it has waited for, or has points that are not those of its marks.
// hooks: malloc
// compiled: above the line

#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/report.hpp>
#include <allocscope/time_series.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include <unistd.h>

using namespace allocscope_test;
using allocscope::marked_scope;
using allocscope::snapshot;
using allocscope::timed_scope;
using std::chrono::milliseconds;

namespace {

const snapshot::moment* moment_named(const snapshot& of, const char* mark) {
    const auto& info = of.info();
    for (std::size_t i = 0; i < info.moment_count; ++i) {
        if (std::strcmp(info.moments[i].mark, mark) == 0) return &info.moments[i];
    }
    return nullptr;
}

void expect_moment(const snapshot& of, const char* mark, std::uint64_t objects, std::uint64_t bytes,
                   std::uint64_t allocations) {
    const snapshot::moment* const found = moment_named(of, mark);
    if (!expect(found != nullptr, mark, __FILE__, __LINE__)) return;
    ALLOCSCOPE_EXPECT_EQUAL(found->live_objects, objects);
    ALLOCSCOPE_EXPECT_EQUAL(found->live_bytes, bytes);
    ALLOCSCOPE_EXPECT_EQUAL(found->allocations, allocations);
}

void expect_in_order(const snapshot& of) {
    const auto& info = of.info();
    for (std::size_t i = 1; i < info.moment_count; ++i) {
        ALLOCSCOPE_EXPECT(info.moments[i - 1].at_ns <= info.moments[i].at_ns);
    }
    if (!ALLOCSCOPE_EXPECT(info.moment_count > 0)) return;
    ALLOCSCOPE_EXPECT_EQUAL(info.moments[info.moment_count - 1].at_ns, info.duration_ns);
}

std::uint64_t steady_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds{since}.count());
}

// Its times are exact, or a window that begins anew gets marks of the one before. The opening of
// the first window of a process takes long.
void marks_are_made_at_their_time() {
    timed_scope window{"exact"};
    for (const bool begins_anew : {true, true, false}) {
        const std::uint64_t before = steady_ns();
        window.mark("now");
        const std::uint64_t after = steady_ns();
        const snapshot seen = begins_anew ? window.stats_and_forget() : window.stats();
        const snapshot::moment* const found = moment_named(seen, "now");
        if (!ALLOCSCOPE_EXPECT(found != nullptr)) return;
        ALLOCSCOPE_EXPECT_EQUAL(seen.info().moment_count, 2);
        ALLOCSCOPE_EXPECT(seen.info().started_ns + found->at_ns >= before);
        ALLOCSCOPE_EXPECT(seen.info().started_ns + found->at_ns <= after);
        const snapshot other = allocscope::track([] {});
        ALLOCSCOPE_EXPECT_EQUAL(seen.difference_from(seen).info().started_ns, 0);
        ALLOCSCOPE_EXPECT_EQUAL(allocscope::merge({seen, other}).info().started_ns, 0);
    }
}

void marks_have_the_numbers_of_their_moment() {
    timed_scope window{"marks"};
    ALLOCSCOPE_EXPECT(!window.is_sampling());
    window.mark("empty");
    void* const first = allocate(100);
    window.mark("one");
    void* const second = allocate(50);
    release(first);
    window.mark("the other");
    {
        const marked_scope inner{window, "part"};
        void* const passing = allocate(10);
        window.mark("within");
        release(passing);
        ALLOCSCOPE_EXPECT_EQUAL(inner.counts().allocations, 1);
    }
    try {
        const marked_scope inner{window, "thrown"};
        throw std::runtime_error{"out of it"};
    } catch (const std::runtime_error&) {
    }
    timed_scope other{"other"};
    { const marked_scope unnamed{other, nullptr}; }
    ALLOCSCOPE_EXPECT(moment_named(other.stop(), "end of ") != nullptr);
    const snapshot last = window.stop();
    window.mark("too late");
    expect_moment(last, "empty", 0, 0, 0);
    expect_moment(last, "one", 1, 100, 1);
    expect_moment(last, "the other", 1, 50, 2);
    expect_moment(last, "part", 1, 50, 2);
    expect_moment(last, "within", 2, 60, 3);
    expect_moment(last, "end of part", 1, 50, 3);
    ALLOCSCOPE_EXPECT(moment_named(last, "end of thrown") != nullptr);
    ALLOCSCOPE_EXPECT(moment_named(window.stats(), "too late") == nullptr);
    ALLOCSCOPE_EXPECT(moment_named(window.stop(), "one") != nullptr);
    ALLOCSCOPE_EXPECT_EQUAL(last.size(), 1);
    expect_in_order(last);
    const std::string text = allocscope::to_text(last);
    ALLOCSCOPE_EXPECT(text.find("  end of part\n") != std::string::npos);
    ALLOCSCOPE_EXPECT(allocscope::to_json(last).find("\"end of part\"") != std::string::npos);
    release(second);
}

void a_thread_takes_points_and_is_charged_to_nobody() {
    allocscope::scope outer{"outer"};
    {
        timed_scope window{"sampled", milliseconds{1}};
        ALLOCSCOPE_EXPECT(window.is_sampling());
        snapshot now;
        do {
            std::this_thread::sleep_for(milliseconds{2});
            now = window.stats();
        } while (now.info().moment_count < 5);
        expect_in_order(now);
        ALLOCSCOPE_EXPECT(allocscope::with_memory(now).info().moment_count >= 5);
        window.mark("before");
        const snapshot forgotten = window.stats_and_forget();
        ALLOCSCOPE_EXPECT(moment_named(forgotten, "before") != nullptr);
        window.mark("after");
        ALLOCSCOPE_EXPECT(moment_named(window.stats(), "before") == nullptr);
        const snapshot last = window.stop();
        expect_in_order(last);
        ALLOCSCOPE_EXPECT(moment_named(last, "after") != nullptr);
        ALLOCSCOPE_EXPECT(!window.is_sampling());
    }
    ALLOCSCOPE_EXPECT_EQUAL(outer.counts().allocations, 0);
    timed_scope seldom{"seldom", milliseconds::max()};
    std::this_thread::sleep_for(milliseconds{30});
    ALLOCSCOPE_EXPECT(seldom.is_sampling());
    ALLOCSCOPE_EXPECT(seldom.stop().info().moment_count <= 2);  // its beginning and its end
}

// One thread marks what it has allocated so far, while the window forgets and names are read.
struct busy_marker {
    timed_scope& window;
    std::atomic<bool> is_over{false};
    std::uint64_t marks = 0;

    void run() {
        for (; !is_over; ++marks) {
            release(allocate(10));
            window.mark("made");
            std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
    }
};

std::uint64_t expect_marks_in_order(const snapshot& of) {
    expect_in_order(of);
    const auto& info = of.info();
    std::uint64_t marks = 0;
    for (std::size_t i = 0; i < info.moment_count; ++i) {
        if (info.moments[i].mark[0] != '\0') ++marks;
        if (i == 0) continue;
        ALLOCSCOPE_EXPECT(info.moments[i - 1].allocations <= info.moments[i].allocations);
    }
    return marks;
}

void a_window_that_begins_anew_keeps_every_mark() {
    timed_scope window{"anew"};
    busy_marker marker{window};
    std::thread thread{[&marker] { marker.run(); }};
    std::uint64_t marks = 0;
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(milliseconds{3});
        marks += expect_marks_in_order(window.stats_and_forget());
        expect_marks_in_order(window.stats());
    }
    marker.is_over = true;
    thread.join();
    marks += expect_marks_in_order(window.stop());
    ALLOCSCOPE_EXPECT_EQUAL(marks, marker.marks);
}

// The times of a window that begins anew add up: what is between two of them belongs to one.
void no_time_is_between_two_windows() {
    using std::chrono::steady_clock;
    allocscope::scope window{"again and again"};
    const steady_clock::time_point begun = steady_clock::now();
    std::uint64_t all_ns = 0;
    for (int i = 0; i < 1000; ++i) all_ns += window.stats_and_forget().info().duration_ns;
    const auto passed = std::chrono::nanoseconds{steady_clock::now() - begun}.count();
    all_ns += window.stats_and_forget().info().duration_ns;
    ALLOCSCOPE_EXPECT(all_ns >= static_cast<std::uint64_t>(passed));
}

void too_many_points_go_and_marks_stay() {
    timed_scope window{"long"};
    window.mark("first");
    for (int i = 0; i < 20000; ++i) {
        window.mark(i % 5000 == 4999 ? "a mark" : "");
    }
    const snapshot thin = window.stats();
    ALLOCSCOPE_EXPECT(thin.info().moment_count <= 4097);
    ALLOCSCOPE_EXPECT(thin.info().moment_count >= 2000);
    ALLOCSCOPE_EXPECT(moment_named(thin, "first") != nullptr);
    std::size_t marks = 0;
    for (std::size_t i = 0; i < thin.info().moment_count; ++i) {
        if (thin.info().moments[i].mark[0] == 'a') ++marks;
    }
    ALLOCSCOPE_EXPECT_EQUAL(marks, 4);
    ALLOCSCOPE_EXPECT_EQUAL(thin.info().loss_count, 0);
    expect_in_order(thin);
    for (int i = 0; i < 5000; ++i) window.mark("one of too many");
    const snapshot full = window.stop();
    ALLOCSCOPE_EXPECT_EQUAL(full.info().moment_count, 4097);
    if (ALLOCSCOPE_EXPECT(full.info().loss_count == 1)) {
        ALLOCSCOPE_EXPECT_EQUAL(full.info().losses[0].count, 5 + 5000 - 4096);
    }
    const std::string long_name(1000, 'x');
    timed_scope other{"names"};
    other.mark(long_name.c_str());
    other.mark(nullptr);
    ALLOCSCOPE_EXPECT(moment_named(other.stop(), std::string(63, 'x').c_str()) != nullptr);
}

void children_go_on_without_the_thread() {
    for (int i = 0; i < 50; ++i) {
        timed_scope window{"parent", milliseconds{1}};
        window.mark("before the fork");
        std::atomic<bool> is_over{false};
        std::thread asking{[&] {
            while (!is_over) static_cast<void>(window.stats());
        }};
        std::this_thread::sleep_for(milliseconds{1});
        const child_end end = in_child(
            [&window] {
                bool is_right = !window.is_sampling();
                window.mark("in the child");
                const snapshot own = window.stop();
                is_right = is_right && !window.is_sampling() &&
                           moment_named(own, "in the child") != nullptr;
                window.~timed_scope();
                return is_right ? 0 : 1;
            },
            child_exit::at_once);
        is_over = true;
        asking.join();
        if (!ALLOCSCOPE_EXPECT(end.exited_with(0))) return;
        ALLOCSCOPE_EXPECT(window.is_sampling());
        ALLOCSCOPE_EXPECT(moment_named(window.stop(), "in the child") == nullptr);
    }
}

// The fork may leave the locks of the series taken, so the first call in the child makes them anew.
void threads_of_a_child_call_first() {
    timed_scope window{"parent", milliseconds{1}};
    std::atomic<bool> is_over{false};
    std::thread asking{[&] {
        while (!is_over) static_cast<void>(window.stats());
    }};
    for (int i = 0; i < 300; ++i) {
        const child_end end = in_child(
            [&window] {
                std::atomic<int> coming{2};
                const auto call = [&] {
                    --coming;
                    while (coming != 0) {
                    }
                    static_cast<void>(window.stats());
                };
                std::thread other{call};
                call();
                other.join();
                return 0;
            },
            child_exit::at_once);
        if (!ALLOCSCOPE_EXPECT(end.exited_with(0))) break;
    }
    is_over = true;
    asking.join();
}

void threads_mark_and_stop_at_once() {
    timed_scope window{"shared", milliseconds{1}};
    std::thread counting{[&window] {  // ThreadSanitizer sees whether that may be while others stop
        int after_the_end = 0;
        while (after_the_end < 10000) {
            if (!window.is_sampling()) ++after_the_end;
            ALLOCSCOPE_EXPECT(window.counts().allocations >= 1);
        }
    }};
    std::thread threads[4];
    for (std::thread& each : threads) {
        each = std::thread{[&window] {
            for (int i = 0; i < 200; ++i) {
                window.mark("one of many");
                if (i % 20 == 0) expect_in_order(window.stats());
            }
            expect_in_order(window.stop());
        }};
    }
    for (std::thread& each : threads) each.join();
    counting.join();
}

void counts_stay_while_it_stops() {
    for (int round = 0; round < 200; ++round) {
        timed_scope window{"stopped", milliseconds{100}};
        std::atomic<bool> is_over{false};
        std::thread counting{[&] {
            while (!is_over) ALLOCSCOPE_EXPECT(window.counts().allocations >= 1);
        }};
        static_cast<void>(window.stop());
        is_over = true;
        counting.join();
    }
}

void its_thread_takes_no_signals() {
    const timed_scope window{"undisturbed", milliseconds{1}};
    sigset_t mine;
    sigset_t before;
    sigemptyset(&mine);
    sigaddset(&mine, SIGUSR1);  // would end the process in a thread that does not block it
    pthread_sigmask(SIG_BLOCK, &mine, &before);
    ::kill(::getpid(), SIGUSR1);
    std::this_thread::sleep_for(milliseconds{5});
    int taken = 0;
    ALLOCSCOPE_EXPECT_EQUAL(sigwait(&mine, &taken), 0);
    ALLOCSCOPE_EXPECT_EQUAL(taken, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void a_process_ends_with_an_open_one() {
    const child_end end = in_child(
        [] {
            auto* const left_open = new timed_scope{"left open", milliseconds{1}};
            left_open->mark("begun");
            static timed_scope of_the_process{"static", milliseconds{1}};
            of_the_process.mark("begun");
            return 0;
        },
        child_exit::through_exit);
    expect(end.exited_with(0), end.text.c_str(), __FILE__, __LINE__);
}

}  // namespace

int main() {
    watchdog();
    marks_are_made_at_their_time();                // first: no window has been opened yet
    a_window_that_begins_anew_keeps_every_mark();  // then: no names have been read yet
    marks_have_the_numbers_of_their_moment();
    a_thread_takes_points_and_is_charged_to_nobody();
    no_time_is_between_two_windows();
    too_many_points_go_and_marks_stay();
    threads_mark_and_stop_at_once();
    counts_stay_while_it_stops();
    its_thread_takes_no_signals();
    // The allocators of sanitizers do not hold their locks across a fork.
    if (!is_sanitized) {
        children_go_on_without_the_thread();
        threads_of_a_child_call_first();
        a_process_ends_with_an_open_one();
    }
    return verdict();
}
