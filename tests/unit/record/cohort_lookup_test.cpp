#include <doctest/doctest.h>
#include <allocscope/record/cohort_lookup.hpp>

#include "../../support/ruled_stack.hpp"

#include <cstdint>

// Danger: a stack is taken for another one that had the same addresses, or the same places. Return
// addresses of made stacks change to others of the same rule (then they are collected where the
// memo says) or of another one (then they lead elsewhere).

using namespace allocscope::detail;
using allocscope_test::ruled_stack;

namespace {

constexpr std::uint32_t most_frames = 12;

bool is_stack_of(const site& known, const walked_stack& walked) {
    if (known.frame_count != walked.frame_count) return false;
    for (std::uint32_t i = 0; i < walked.frame_count; ++i) {
        if (known.frames()[i] != walked.return_addresses[i]) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("find_cohort: the stack of the cohort is what a walk finds, whatever was seen before") {
    static thread_state thread;
    static walked_stack walked;
    static rule_cache rules;
    REQUIRE(process.cohorts.prepare());
    ruled_stack stack{3};
    thread.number = 1;
    thread.frames = most_frames;
    thread.bounds = stack.bounds();
    int collected = 0;
    int frames = 0;
    for (int round = 0; round < 60000; ++round) {
        // Places, and with them shapes, come and go; the return addresses come again.
        if (round % 200 == 0) stack.build();
        if (round % 7000 == 0) thread.is_epoch_current = false;
        stack.change();
        stack_walk{stack.bounds(), rules, walked}.run(stack.frame(), most_frames);
        const std::uintptr_t caller = walked.return_addresses[0];
        const remembered_chain* memo =
            thread.memo.is_ready() ? thread.memo.entry_for(stack.frame(), caller) : nullptr;
        const std::uint64_t shape = memo != nullptr ? memo->shape : 0;

        const std::uint32_t id = find_cohort(thread, stack.frame());
        REQUIRE(id != no_cohort);
        const cohort& counters = *process.cohorts.by_id(id);
        const site* known = process.sites.by_id(counters.facts().site.load());
        REQUIRE(known != nullptr);
        REQUIRE(is_stack_of(*known, walked));
        REQUIRE(counters.facts().born_at.load() == thread.newest_epoch.load()->began_at.load());

        memo = thread.memo.entry_for(stack.frame(), caller);
        REQUIRE(memo->record == live_object_map::record_head(thread.session, id));
        REQUIRE(chain_memo::is_unchanged(*memo, stack.frame()));
        if (memo->shape == shape) ++collected;
        frames += static_cast<int>(walked.frame_count);
        REQUIRE(find_cohort(thread, stack.frame()) == id);
    }
    CHECK(collected > 20000);
    CHECK(collected < 59000);
    CHECK(frames > 60000 * 5);
    thread.memo.release();
    thread.cohorts.release();
}
