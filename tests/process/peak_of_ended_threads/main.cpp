// Danger: a thread that ends takes what it has not yet published with it, so that the peak of a
// window over threads that come and go is too low.
//
// Each thread stays below the 64 KiB after which it would publish without being asked. Everything
// is freed before the peak is read, because a peak is never shown below what is alive.

#include "../../support/escape.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

using namespace allocscope_test;

namespace {

constexpr int thread_count = 64;
constexpr std::size_t left_bytes = 10000;
constexpr std::size_t passing_bytes = 50000;

void* left_behind[thread_count];

void release_all() {
    for (void*& object : left_behind) release(object);
}

std::uint64_t peak_after_release(const allocscope::scope& window) {
    release_all();
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), 0);
    return window.counts().peak_bytes;
}

void leave_one(void* place) {
    *static_cast<void**>(place) = allocate(left_bytes);
}

void leave_one_after_a_peak(void* place) {
    release(allocate(passing_bytes));
    leave_one(place);
}

void leave_none(void* place) {
    leave_one_after_a_peak(place);
    release(*static_cast<void**>(place));
    *static_cast<void**>(place) = nullptr;
}

// One thread at a time: with nobody else at work the peak is exact.
std::uint64_t peak_of_a_queue(own_thread::entry life) {
    const allocscope::scope window{"one after the other"};
    for (void*& place : left_behind) {
        own_thread thread;
        thread.start(life, &place);
        thread.join();
    }
    return peak_after_release(window);
}

struct waiting_life {
    own_thread thread;
    meeting_point* all_are_here = nullptr;
    meeting_point may_end{2};
    void** place = nullptr;
};

void wait_with_an_object(void* argument) {
    auto* self = static_cast<waiting_life*>(argument);
    leave_one(self->place);
    self->all_are_here->wait();
    self->may_end.wait();
}

// All are alive at the same time, so that each has a state of its own; they end in turn.
std::uint64_t peak_of_a_crowd() {
    static waiting_life lives[thread_count];
    meeting_point all_are_here{thread_count + 1};
    const allocscope::scope window{"all at once"};
    for (int i = 0; i < thread_count; ++i) {
        lives[i].all_are_here = &all_are_here;
        lives[i].place = &left_behind[i];
        lives[i].thread.start(wait_with_an_object, &lives[i], 64 * 1024);
    }
    all_are_here.wait();
    for (waiting_life& life : lives) {
        life.may_end.wait();
        life.thread.join();
    }
    return peak_after_release(window);
}

}  // namespace

int main() {
    watchdog();
    ALLOCSCOPE_EXPECT_EQUAL(peak_of_a_queue(leave_one), thread_count * left_bytes);
    ALLOCSCOPE_EXPECT_EQUAL(peak_of_a_queue(leave_one_after_a_peak),
                            (thread_count - 1) * left_bytes + passing_bytes);
    ALLOCSCOPE_EXPECT_EQUAL(peak_of_a_queue(leave_none), passing_bytes);
    ALLOCSCOPE_EXPECT_EQUAL(peak_of_a_crowd(), thread_count * left_bytes);
    return verdict();
}
