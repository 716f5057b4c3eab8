// Danger: the kernel refuses the library some memory, at whatever moment. The program must not
// notice; what was not recorded is counted; and when memory is there again, the next window is
// exact. Each child process has another number of mappings that still succeed.

#include "../../support/accounting.hpp"
#include "../../support/forked_child.hpp"
#include "../../support/own_threads.hpp"
#include "../../support/stack_tree.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <atomic>
#include <initializer_list>
#include <sstream>

using namespace allocscope_test;

namespace {

constexpr unsigned objects_of_a_thread = 3000;

void allocate_and_free_half(void*) {
    static thread_local void* objects[objects_of_a_thread];
    for (unsigned i = 0; i < objects_of_a_thread; ++i) {
        objects[i] = allocate_on_path(i, 11, 16 + i % 50);
        *static_cast<unsigned*>(objects[i]) = i;
    }
    for (unsigned i = 0; i < objects_of_a_thread; ++i) {
        ALLOCSCOPE_EXPECT_EQUAL(*static_cast<unsigned*>(objects[i]), i);
        release(objects[i]);
    }
}

std::uint64_t losses(const allocscope::snapshot& seen) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < seen.info().loss_count; ++i) sum += seen.info().losses[i].count;
    return sum;
}

void two_threads_allocate() {
    own_thread other;
    other.start(allocate_and_free_half, nullptr);
    allocate_and_free_half(nullptr);
    other.join();
}

int child(int mappings, allocscope::recording record) {
    allocscope::options wanted;
    wanted.record = record;
    wanted.sample_bytes = 256;
    const bool is_sampled = record == allocscope::recording::sampled;
    // With one sample in 256 bytes there are some 1,200: the estimate is far within this.
    const std::uint64_t slack = is_sampled ? objects_of_a_thread : 0;
    {
        allocscope::detail::mappings_until_refusal = mappings;
        allocscope::scope window{"refused", wanted};
        two_threads_allocate();
        const allocscope::allocation_counts seen = window.counts();
        const allocscope::snapshot told = window.stats();
        ALLOCSCOPE_EXPECT_AT_MOST(seen.allocations, 2 * objects_of_a_thread + slack);
        ALLOCSCOPE_EXPECT_AT_MOST(seen.frees, seen.allocations);
        const bool is_complete =
            seen.allocations == 2 * objects_of_a_thread && seen.live_objects() == 0;
        const bool says_so = losses(told) > 0 || told.info().not_recording[0] != 0;
        ALLOCSCOPE_EXPECT(is_complete || says_so || is_sampled);
        if (!is_complete && !is_sampled) {
            const allocscope::pause_recording unseen;
            std::ostringstream text;
            text << told;
            ALLOCSCOPE_EXPECT(!text.str().empty());
        }
        // With memory for a snapshot again: the account of the time without.
        allocscope::detail::mappings_until_refusal = -1;
        const allocscope::snapshot account = window.stats();
        if (account.info().not_recording[0] != 0) {
            ALLOCSCOPE_EXPECT_EQUAL(seen.allocations, 0);  // the window could not be opened
        } else if (is_sampled) {
            ALLOCSCOPE_EXPECT_AT_MOST(2 * objects_of_a_thread,
                                      seen.allocations + declared_losses(account) + slack);
        } else {
            expect_accounted(account, {2 * objects_of_a_thread, 2 * objects_of_a_thread});
        }
    }
    allocscope::detail::mappings_until_refusal = -1;
    allocscope::scope window{"afterwards", wanted};
    two_threads_allocate();
    ALLOCSCOPE_EXPECT_AT_MOST(window.counts().allocations, 2 * objects_of_a_thread + slack);
    ALLOCSCOPE_EXPECT_AT_MOST(2 * objects_of_a_thread - slack, window.counts().allocations);
    ALLOCSCOPE_EXPECT_EQUAL(window.counts().live_objects(), 0);
    ALLOCSCOPE_EXPECT(window.stop().empty());
    return verdict();
}

}  // namespace

int main() {
    watchdog();
    for (int mappings = 0; mappings < 60; ++mappings) {
        for (const auto record : {allocscope::recording::exact, allocscope::recording::counters,
                                  allocscope::recording::sampled}) {
            // A child takes long there: each number is tried with one kind of recording.
            if (is_sanitized && mappings % 3 != static_cast<int>(record) % 3) continue;
            const child_end ended =
                in_child([mappings, record] { return child(mappings, record); });
            if (ALLOCSCOPE_EXPECT(ended.exited_with(0))) continue;
            char out[700];
            say(out, std::snprintf(out, sizeof out, "after %d mappings, recording %d: %x %.500s\n",
                                   mappings, static_cast<int>(record),
                                   static_cast<unsigned>(ended.status), ended.text.c_str()));
        }
    }
    return verdict();
}
