// Danger: a stack that goes on, because it would be cut in code without optimisation, is not the
// one that its cohort has, or is walked at each allocation. The stacks are made by hand: frame
// pointers, and return addresses into functions of both kinds.
// not with: asan, tsan (their code comes first in a function, which is then not recognised)

#include <doctest/doctest.h>
#include <allocscope/record/cohort_lookup.hpp>

#include "../../support/dice.hpp"
#include "../../support/escape.hpp"

#include <cstdint>

using namespace allocscope::detail;

namespace {

constexpr std::uint32_t asked = 24;
constexpr std::size_t frame_count = 80;
constexpr std::size_t distance = 4;

#if defined(__clang__)
    #define ALLOCSCOPE_TEST_UNOPTIMISED __attribute__((noinline, optnone))
#else
    #define ALLOCSCOPE_TEST_UNOPTIMISED __attribute__((noinline, optimize("O0")))
#endif

// An address behind a call in the function that calls this one.
__attribute__((noinline)) std::uintptr_t return_address() {
    __asm__ volatile("" : : : "memory");
    return reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
}

// Both have a frame pointer, whatever the flags say.
ALLOCSCOPE_TEST_UNOPTIMISED std::uintptr_t in_unoptimised(const void* unused) {
    const std::uintptr_t here = return_address();
    __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
    return unused == nullptr ? here : 0;
}
// Without arguments it passes for optimised at every level.
__attribute__((noinline)) std::uintptr_t in_optimised() {
    const std::uintptr_t here = return_address();
    __asm__ volatile("" : : "r"(__builtin_frame_address(0)));
    return here;
}

struct made_stack {
    alignas(16) std::uintptr_t words[frame_count * distance + 2] = {};

    std::uintptr_t address_of(std::size_t word) const {
        return reinterpret_cast<std::uintptr_t>(words + word);
    }
    std::uintptr_t& return_of(std::size_t frame) { return words[frame * distance + 1]; }

    explicit made_stack(std::uintptr_t code) {
        for (std::size_t i = 0; i < frame_count; ++i) {
            words[i * distance] = i + 1 == frame_count ? 0 : address_of((i + 1) * distance);
            return_of(i) = code;
        }
    }
};

bool has_stack_of(std::uint32_t cohort_id, made_stack& stack, std::uint32_t frames) {
    const cohort& counters = *process.cohorts.by_id(cohort_id);
    const site* const known = process.sites.by_id(counters.facts().site.load());
    if (known == nullptr || known->frame_count != frames) return false;
    for (std::uint32_t i = 0; i < frames; ++i) {
        if (known->frames()[i] != stack.return_of(i)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("find_cohort: a stack goes on if it would be cut in code without optimisation") {
    const void* const argument = allocscope_test::opaque(static_cast<const void*>(nullptr));
    const std::uintptr_t unoptimised = in_unoptimised(argument);
    const std::uintptr_t optimised = in_optimised();
    static thread_state thread;
    REQUIRE(process.cohorts.prepare());
    static made_stack stack{optimised};
    const std::uintptr_t frame = stack.address_of(0);
    thread.number = 1;
    thread.frames = asked;
    thread.bounds = {frame, stack.address_of(frame_count * distance + 1)};
    CHECK(has_stack_of(find_cohort(thread, frame), stack, asked));
    CHECK_FALSE(thread.has_unoptimised_stacks);

    allocscope_test::dice roll{11};
    int deep = 0;
    for (int round = 0; round < 2000; ++round) {
        thread.view_number = 1;
        for (int i = 0; i < 4; ++i) {
            stack.return_of(roll.below(frame_count)) = roll.one_in(5) ? unoptimised : optimised;
        }
        bool goes_on = false;
        for (std::size_t i = asked - 4; i < asked; ++i) {
            goes_on = goes_on || stack.return_of(i) == unoptimised;
        }
        const std::uint32_t frames = goes_on ? asked + 40 : asked;
        const bool had_met_one = thread.has_unoptimised_stacks;
        const std::uint32_t id = find_cohort(thread, frame);
        REQUIRE(has_stack_of(id, stack, frames));
        deep += goes_on ? 1 : 0;
        if (goes_on && !had_met_one) {
            REQUIRE(thread.has_unoptimised_stacks);
            REQUIRE(thread.view_number == no_view);
            thread.memo.release();  // the next event refreshes the view, and does so
            REQUIRE(find_cohort(thread, frame) == id);
        }
        const remembered_chain& memo = *thread.memo.entry_for(frame, stack.return_of(0));
        REQUIRE(chain_memo::is_unchanged(memo, frame));
        REQUIRE(find_cohort(thread, frame) == id);
    }
    CHECK(deep > 500);
    CHECK(deep < 1500);
    thread.memo.release();
    thread.cohorts.release();
}

TEST_CASE("unoptimised_frames: more for the default and above it, and never more than allowed") {
    CHECK(unoptimised_frames(1) == 1);
    CHECK(unoptimised_frames(23) == 23);
    CHECK(unoptimised_frames(24) == 64);
    CHECK(unoptimised_frames(64) == 104);
    CHECK(unoptimised_frames(100) == 128);
    CHECK(unoptimised_frames(128) == 128);
}
