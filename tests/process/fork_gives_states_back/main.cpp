// Danger: a forked child keeps what its parent's other threads had, although they do not exist in
// it: each of its own threads then takes memory anew, and whoever asks whether all threads are
// outside the hooks waits for threads that are not there.
// not with: asan, tsan (their allocators do not hold their locks across a fork: the child hangs)

#include "../../support/escape.hpp"
#include "../../support/forked_child.hpp"
#include "../../support/own_threads.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/state/process_state.hpp>

using namespace allocscope_test;

namespace {

constexpr int thread_count = 20;
constexpr std::size_t object_bytes = 10000;

int number_of_states() {
    int count = 0;
    for (const allocscope::detail::thread_state& each : allocscope::detail::all_threads()) {
        count += each.number != 0 ? 1 : 0;
    }
    return count;
}

struct crowd {
    own_thread threads[thread_count];
    meeting_point all_are_here{thread_count + 1};
    meeting_point may_end{thread_count + 1};

    static void live(void* self) {
        auto* of = static_cast<crowd*>(self);
        void* object = allocate(object_bytes);
        of->all_are_here.wait();
        of->may_end.wait();
        release(object);
    }

    void begin() {
        for (own_thread& thread : threads) thread.start(live, this, 64 * 1024);
        all_are_here.wait();
    }

    void end() {
        may_end.wait();
        for (own_thread& thread : threads) thread.join();
    }
};

crowd of_the_parent;
crowd of_the_child;

int child(const allocscope::scope& window) {
    const int at_fork = number_of_states();
    of_the_child.begin();
    ALLOCSCOPE_EXPECT_EQUAL(number_of_states(), at_fork);
    of_the_child.end();
    // What the parent's threads had alive is alive in the child: nobody is there to free it.
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), thread_count * object_bytes);
    return verdict();
}

}  // namespace

int main() {
    watchdog();
    const allocscope::scope window{"around the fork"};
    of_the_parent.begin();
    const child_end ended = in_child([&window] { return child(window); }, child_exit::at_once, 20);
    if (!ALLOCSCOPE_EXPECT(ended.exited_with(0))) {
        say(ended.text.c_str(), static_cast<int>(ended.text.size()));
    }
    of_the_parent.end();
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_bytes(), 0);
    return verdict();
}
