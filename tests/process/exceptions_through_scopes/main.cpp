// Danger: a window that is left by an exception, or by the cancellation of its thread, stays open,
// or the objects that unwinding frees are not seen to die.
// about: stacks

#include "../../support/own_threads.hpp"
#include "../../support/process_test.hpp"
#include "../../support/stack_tree.hpp"

#include <allocscope/allocscope.hpp>

#include <unistd.h>
#include <stdexcept>
#include <string>

using namespace allocscope_test;

namespace {

std::size_t always = 100;

struct throws_when_constructed {
    std::string text;
    throws_when_constructed() : text(100, 'x') {
        if (text.size() == *opaque(&always)) throw std::runtime_error(std::string(60, 'y'));
    }
};

// NOLINTNEXTLINE(misc-no-recursion): the depth is the point
void throw_from_below(int depth) {
    const allocscope::scope window{"nested"};
    const std::string payload(50, 'a');
    if (depth == 0) {
        auto* object = new throws_when_constructed;  // the block is freed by the compiler's code
        delete opaque(object);
    } else {
        throw_from_below(depth - 1);
    }
}

void throw_and_catch(void*) {
    for (long i = 0; i < scaled(2500); ++i) {
        bool caught = false;
        try {
            throw_from_below(static_cast<int>(i % 50));
        } catch (const std::runtime_error&) {
            caught = true;
        }
        ALLOCSCOPE_EXPECT(caught);
    }
}

void wait_in_a_scope(void*) {
    const allocscope::scope window{"cancelled"};
    const std::string payload(80, 'b');
    while (true) pause();  // where the cancellation is delivered
}

std::uint64_t own_memory() {
    const allocscope::scope window{"own memory"};
    return window.stats().info().own_memory_bytes;
}

}  // namespace

int main() {
    watchdog();
    own_memory();  // names once, so that what is kept for them is not counted as growth
    const std::uint64_t memory_before = own_memory();
    {
        allocscope::scope outer{"around"};
        own_thread threads[8];
        for (own_thread& thread : threads) thread.start(throw_and_catch, nullptr);
        for (own_thread& thread : threads) thread.join();
        for (long i = scaled(500); i > 0; --i) {
            own_thread waiting;
            waiting.start(wait_in_a_scope, nullptr);
            if (i % 2 == 0) usleep(50);
            pthread_cancel(waiting.handle());
            waiting.join();
        }
        ALLOCSCOPE_EXPECT_EQUAL(outer.counts().live_objects(), 0);
        ALLOCSCOPE_EXPECT_EQUAL(outer.counts().live_bytes(), 0);
        ALLOCSCOPE_EXPECT(outer.counts().allocations > 0);
        for (unsigned path = 0; path < 1U << 15; ++path) release(allocate_on_path(path, 15, 16));
    }
    // Were one of those windows still open, the tables would not have been dropped.
    ALLOCSCOPE_EXPECT_AT_MOST(own_memory(), memory_before + 2 * 1024 * 1024);
    return verdict();
}
