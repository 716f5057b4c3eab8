// Danger: two stacks with the same return addresses have one shape though their frames lay
// elsewhere, so that one is taken for the other; or an equal stack has another shape, and is never
// known again.

#include "../../support/ruled_stack.hpp"

#include <allocscope/unwind/stack_walk.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <vector>

using namespace allocscope::detail;
using allocscope::unwinding;
using allocscope_test::ruled_stack;

namespace {

constexpr std::uint32_t most_frames = 12;

// What a walk read apart from the return addresses of its frames: where those stood, and the other
// words. The counts come first, so that
// no two sets of words give one list.
std::vector<std::uintptr_t> words_but_returns(const walked_stack& walked) {
    std::vector<std::uintptr_t> words{walked.frame_count, walked.return_count, walked.other_count};
    for (std::uint32_t i = 0; i < walked.return_count; ++i) {
        words.push_back(walked.return_places[i]);
        words.push_back(i < walked.frame_count ? 0 : walked.return_addresses[i]);
        words.push_back(walked.rules[i].is_pair ? walked.saved_below[i] : 1);
    }
    for (std::uint32_t i = 0; i < walked.other_count; ++i) {
        words.push_back(walked.others[i].address);
        words.push_back(walked.others[i].value);
    }
    return words;
}

}  // namespace

TEST_CASE("stack_walk: two walks have one shape when they read the same words, and only then") {
    static walked_stack walked;
    static rule_cache rules;
    ruled_stack stack{4};
    std::map<std::uint64_t, std::vector<std::uintptr_t>> by_shape;
    std::map<std::vector<std::uintptr_t>, std::uint64_t> by_words;
    int with_saved_words = 0;
    for (int round = 0; round < 20000; ++round) {
        if (round % 20 == 0) stack.build();
        stack.change();
        stack_walk{stack.bounds(), rules, walked}.run(stack.frame(), most_frames);
        const std::vector<std::uintptr_t> words = words_but_returns(walked);
        REQUIRE(by_shape.emplace(walked.shape, words).first->second == words);
        REQUIRE(by_words.emplace(words, walked.shape).first->second == walked.shape);
        if (walked.pair_count != 0 && walked.pair_count != walked.return_count) ++with_saved_words;
    }
    CHECK(by_shape.size() > 1000);
    CHECK(by_shape.size() < 19000);
    CHECK(with_saved_words > 1000);
    // What else decides the way belongs to it, too.
    const std::uint64_t shape = walked.shape;
    stack_walk{stack.bounds(), rules, walked}.run(stack.frame(), most_frames + 1);
    CHECK(walked.shape != shape);
    stack_walk{stack.bounds(), rules, walked, unwinding::cfi}.run(stack.frame(), most_frames);
    CHECK(walked.shape != shape);
    const stack_bounds wider{stack.bounds().low, stack.bounds().high + 8};
    stack_walk{wider, rules, walked}.run(stack.frame(), most_frames);
    CHECK(walked.shape != shape);
}
