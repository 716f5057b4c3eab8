// Danger: a thread loses the processor when it has counted a sample and not yet everything that the
// sample stands for. Then who reads the window finds a sample that stands for one object instead of
// thousands, for as long as the thread waits. So one thread is stopped after each of its
// instructions, and another one reads.
//
// All samples of this test are of objects of one size. So the number of live samples determines
// every estimate and every interval, or the window says that objects are in doubt.
// not with: asan, tsan (their allocators take thousands of steps for each call)
// about: stacks

#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"
#include "../../support/single_steps.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/state/process_state.hpp>

#include <signal.h>    // raise
#include <sys/wait.h>  // waitpid
#include <unistd.h>    // _exit, fork

#include <cstring>
#include <new>

using namespace allocscope_test;

namespace {

constexpr std::uint64_t object_bytes = 48;
constexpr std::uint64_t most_samples = 3;

__attribute__((noinline)) void* sampled() {
    allocscope::detail::current_entry->bytes_left.store(1);  // the next allocation is drawn
    void* const object = ::operator new(object_bytes);
    __asm__ volatile("" : : "g"(object) : "memory");
    return object;
}

struct numbers {
    std::uint64_t all[6] = {};

    bool operator==(const numbers& other) const {
        return std::memcmp(all, other.all, sizeof all) == 0;
    }
};

numbers numbers_of(const allocscope::snapshot::row& row) {
    return {
        {row.objects, row.objects_low, row.objects_high, row.bytes, row.bytes_low, row.bytes_high}};
}

numbers numbers_of(const allocscope::snapshot::window_estimates& all) {
    return {{all.live_objects.value, all.live_objects.low, all.live_objects.high,
             all.live_bytes.value, all.live_bytes.low, all.live_bytes.high}};
}

struct observer {
    const allocscope::scope* window = nullptr;
    const allocscope::detail::thread_state* stopped = nullptr;
    numbers of_window[most_samples + 1];  // for each number of live samples, when nobody is stopped
    numbers of_row[most_samples + 1];
    long stops = 0;
    long stops_in_doubt = 0;
};

bool says_torn(const allocscope::snapshot& seen) {
    for (std::size_t i = 0; i < seen.info().loss_count; ++i) {
        if (std::strstr(seen.info().losses[i].reason, "forked") != nullptr) return true;
    }
    return false;
}

bool is_whole(const observer& self, const allocscope::snapshot& seen) {
    std::uint64_t samples = 0;
    for (const allocscope::snapshot::row& row : seen) samples += row.samples;
    if (samples > most_samples || seen.size() > 1) return false;
    if (!(numbers_of(seen.info().estimates) == self.of_window[samples])) return false;
    return seen.empty() || numbers_of(seen[0]) == self.of_row[samples];
}

// The thread that was stopped in the parent never goes on in the child.
void expect_torn_in_child(const observer& self) {
    const pid_t child = fork();
    if (child == 0) {
        const allocscope::snapshot seen = self.window->stats();
        const bool is_right = says_torn(seen) && seen.info().uncertain_objects == 0 &&
                              allocscope::scope{"of the child"}.stats().info().loss_count == 0;
        _exit(is_right ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ALLOCSCOPE_EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void read(observer& self) {
    const allocscope::snapshot seen = self.window->stats();
    const std::uint64_t objects_in_doubt = seen.info().uncertain_objects;
    if (objects_in_doubt <= 1) {  // one is for the peak, which is counted in two steps
        ALLOCSCOPE_EXPECT(is_whole(self, seen));
        return;
    }
    ++self.stops_in_doubt;
    ALLOCSCOPE_EXPECT_EQUAL(objects_in_doubt, self.of_row[1].all[0]);
    ALLOCSCOPE_EXPECT_EQUAL(seen.info().uncertain_bytes, self.of_row[1].all[3]);
    expect_torn_in_child(self);
}

void read_at_each_stop(void* argument) {
    auto& self = *static_cast<observer*>(argument);
    while (wait_for_stop()) {
        ++self.stops;
        // A reading in doubt waits for 100 ms, so not all of them are made.
        if (self.stopped->unfinished.objects == 0 || self.stops % 16 == 0) read(self);
        answer_stop();
    }
}

void expect_whole_readings() {
    allocscope::options wanted;
    wanted.record = allocscope::recording::sampled;
    wanted.stack_frames = 2;
    const allocscope::scope window{"stopped", wanted};
    ::operator delete(::operator new(1));  // from here on the thread counts down for this window
    observer looking;
    looking.window = &window;
    looking.stopped = allocscope::detail::current_state();
    own_thread thread;
    // Twice the same, so that the last round only goes where the first one has been.
    for (int round = 0; round < 2; ++round) {
        __asm__ volatile("" : "+r"(round));  // one loop, and one place
        const bool is_stepped = round == 1;
        void* objects[most_samples];
        if (is_stepped) {
            begin_stops();
            thread.start(read_at_each_stop, &looking);
        }
        for (std::uint64_t i = 0; i < most_samples; ++i) {
            __asm__ volatile("" : "+r"(i));
            const bool is_stopped = is_stepped && i == most_samples - 1;
            if (is_stopped) raise(SIGSTOP);
            objects[i] = sampled();
            if (is_stopped) raise(SIGSTOP);
            if (is_stepped) continue;
            const allocscope::snapshot quiet = window.stats();
            ALLOCSCOPE_EXPECT(!quiet.empty() && quiet[0].samples == i + 1);
            looking.of_window[i + 1] = numbers_of(quiet.info().estimates);
            looking.of_row[i + 1] = numbers_of(quiet[0]);
        }
        for (std::uint64_t i = most_samples; i-- > 0;) {
            const bool is_stopped = is_stepped && i == 0;
            if (is_stopped) raise(SIGSTOP);
            ::operator delete(objects[i]);
            if (is_stopped) raise(SIGSTOP);
        }
        if (!is_stepped) looking.of_window[0] = numbers_of(window.stats().info().estimates);
    }
    end_stops();
    thread.join();
    ALLOCSCOPE_EXPECT(looking.stops > 100);
    ALLOCSCOPE_EXPECT(looking.stops_in_doubt >= 2);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().info().uncertain_objects, 0);
    ALLOCSCOPE_EXPECT_EQUAL(window.stats().info().loss_count, 0);
}

int be_stopped() {
    if (!let_parent_stop_me()) return cannot_run_here;
    expect_whole_readings();
    return verdict();
}

}  // namespace

int main() {
    watchdog(120);
    return end_of_stepped(be_stopped);
}
