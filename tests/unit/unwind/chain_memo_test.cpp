#include "../../support/update_chain.hpp"

#include <doctest/doctest.h>
#include <allocscope/unwind/chain_memo.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <cstdint>
#include <random>
#include <vector>

// A stack made by hand: frames with saved frame pointers, in an array that plays the stack. The
// return addresses are real ones of this program, because a walk believes no others.

using allocscope::detail::chain_memo;
using allocscope::detail::remembered_chain;
using allocscope::detail::rule_cache;
using allocscope::detail::stack_bounds;
using allocscope::detail::stack_walk;
using allocscope::detail::walked_stack;

namespace {

constexpr std::uint32_t most_frames = 12;

// An address behind a call in the function that calls this one.
__attribute__((noinline)) std::uintptr_t own_return_address() {
    __asm__ volatile("" : : : "memory");
    return reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
}

struct made_stack {
    std::vector<std::uintptr_t> words = std::vector<std::uintptr_t>(400);
    std::uintptr_t address_of(std::size_t word) const {
        return reinterpret_cast<std::uintptr_t>(words.data() + word);
    }
    stack_bounds bounds() const { return {address_of(0), address_of(399)}; }

    // `frames` frames, `distance` words apart, the first at word `first`.
    void fill(std::size_t first, std::size_t frames, std::size_t distance,
              const std::vector<std::uintptr_t>& returns) {
        for (std::size_t i = 0; i < frames; ++i) {
            const std::size_t at = first + i * distance;
            words[at] = i + 1 == frames ? 0 : address_of(at + distance);
            words[at + 1] = returns[i % returns.size()];
        }
    }
};

}  // namespace

TEST_CASE("stack_walk: stays inside the bounds whatever the stack holds") {
    static rule_cache rules;
    static walked_stack out;
    std::mt19937_64 dice{11};
    const std::uintptr_t code = own_return_address();
    made_stack stack;
    for (int round = 0; round < 200000; ++round) {
        for (std::size_t i = 0; i < 64; ++i) {
            const std::size_t at = dice() % stack.words.size();
            switch (dice() % 5) {
                case 0:
                    stack.words[at] = dice();
                    break;
                case 1:
                    stack.words[at] = 0;
                    break;
                case 2:
                    stack.words[at] = code;
                    break;
                case 3:
                    stack.words[at] = ~std::uintptr_t{0} - dice() % 64;
                    break;
                default:
                    stack.words[at] = stack.address_of(dice() % 400) + dice() % 16;
                    break;
            }
        }
        const std::uintptr_t frame = stack.address_of(dice() % 380);
        stack_walk{stack.bounds(), rules, out}.run(frame, most_frames);
        REQUIRE(out.frame_count >= 1);
        REQUIRE(out.frame_count <= most_frames);
        for (std::uint32_t i = 0; i < out.return_count; ++i) {
            REQUIRE(out.return_places[i] >= frame);
            REQUIRE(out.return_places[i] < stack.bounds().high);
        }
    }
}

TEST_CASE("chain_memo: unchanged means that a walk would read the same, word by word") {
    static rule_cache rules;
    static walked_stack first;
    static walked_stack second;
    chain_memo memo;
    REQUIRE(memo.prepare(most_frames));
    std::mt19937_64 dice{5};
    const std::uintptr_t code = own_return_address();
    made_stack stack;
    int unchanged = 0;
    for (int round = 0; round < 50000; ++round) {
        stack.fill(4, 10, 6, {code});
        const std::uintptr_t frame = stack.address_of(4);
        stack_walk{stack.bounds(), rules, first}.run(frame, most_frames);
        remembered_chain& chain = *memo.entry_for(frame, stack.words[5]);
        memo.remember(chain, frame, first);
        REQUIRE(chain_memo::is_unchanged(chain, frame));
        // One word changes, perhaps one that plays no part.
        stack.words[4 + dice() % 60] = dice() % 2 == 0 ? code : stack.address_of(dice() % 400);
        const bool claims_same = chain_memo::is_unchanged(chain, frame);
        stack_walk{stack.bounds(), rules, second}.run(frame, most_frames);
        bool is_same = first.frame_count == second.frame_count;
        for (std::uint32_t i = 0; is_same && i < first.frame_count; ++i) {
            is_same = first.return_addresses[i] == second.return_addresses[i];
        }
        if (claims_same) {
            ++unchanged;
            REQUIRE(is_same);
            REQUIRE(first.sum == second.sum);
        }
    }
    CHECK(unchanged > 100);
    CHECK(unchanged < 49000);
    memo.release();
}

// Chains made by hand of words in an array: return addresses with and without a saved frame pointer
// below them, and saved words elsewhere.
TEST_CASE("chain_memo: each word that a chain depends on is looked at, whatever kind it is") {
    static chain_memo memo;
    static walked_stack walked;
    std::vector<std::uintptr_t> words(100);
    REQUIRE(memo.prepare(most_frames));
    const auto place = [&words](std::size_t word) {
        return reinterpret_cast<std::uintptr_t>(words.data() + word);
    };
    for (std::uint32_t pairs = 0; pairs < (1U << 9); pairs += 7) {
        for (std::uint32_t others = 0; others < 6; ++others) {
            for (std::size_t i = 0; i < words.size(); ++i) words[i] = 1000 + i;
            walked = {};
            walked.frame_count = walked.return_count = 9;
            walked.other_count = others;
            walked.has_all_others = walked.is_permanent = true;
            walked.shape = 2;
            std::vector<std::size_t> depends_on;
            for (std::uint32_t i = 0; i < walked.return_count; ++i) {
                const std::size_t at = 1 + 4 * i;
                walked.return_places[i] = place(at);
                walked.return_addresses[i] = words[at];
                depends_on.push_back(at);
                walked.rules[i].is_pair = (pairs >> i & 1U) != 0;
                walked.saved_below[i] = words[at - 1];
                if (walked.rules[i].is_pair) {
                    depends_on.push_back(at - 1);
                    ++walked.pair_count;
                }
            }
            for (std::uint32_t i = 0; i < others; ++i) {
                walked.others[i] = {place(60 + i), words[60 + i]};
                depends_on.push_back(60 + i);
            }
            const std::uintptr_t frame = place(0);
            remembered_chain& chain = *memo.entry_for(frame, words[1]);
            memo.remember(chain, frame, walked);
            REQUIRE(chain_memo::is_unchanged(chain, frame));
            for (const std::size_t word : depends_on) {
                words[word] ^= std::uintptr_t{1} << (word % 48);
                REQUIRE_FALSE(chain_memo::is_unchanged(chain, frame));
                words[word] ^= std::uintptr_t{1} << (word % 48);
            }
            words[99] = 0;  // no chain depends on it
            REQUIRE(chain_memo::is_unchanged(chain, frame));
            // Other return addresses are collected; with any other word changed the chain is void.
            std::uintptr_t frames[most_frames];
            for (const std::size_t word : depends_on) {
                const bool is_return = word < 60 && word % 4 == 1;
                words[word] ^= 4096;
                REQUIRE(chain_memo::collect(chain, frame, frames) == is_return);
                chain_memo::end_change(chain, frame);
                if (is_return) REQUIRE(frames[word / 4] == words[word]);
                words[word] ^= 4096;
                memo.remember(chain, frame, walked);
            }
        }
    }
    memo.release();
}

TEST_CASE("chain_memo: when a module has gone, every chain is forgotten") {
    static chain_memo memo;
    static walked_stack walked;
    std::vector<std::uintptr_t> words(20, 1000);
    REQUIRE(memo.prepare(most_frames));
    const auto place = [&words](std::size_t word) {
        return reinterpret_cast<std::uintptr_t>(words.data() + word);
    };
    walked = {};
    walked.frame_count = walked.return_count = 1;
    walked.has_all_others = true;
    walked.return_places[0] = place(1);
    walked.return_addresses[0] = words[1];
    remembered_chain& first = *memo.entry_for(place(0), words[1]);
    memo.remember(first, place(0), walked);
    REQUIRE(chain_memo::is_unchanged(first, place(0)));
    std::size_t other = 2;  // a frame whose chain has another entry
    while (memo.entry_for(place(other), words[1]) == &first) ++other;
    remembered_chain& second = *memo.entry_for(place(other), words[1]);
    memo.remember(second, place(other), walked);
    CHECK(chain_memo::is_unchanged(first, place(0)));
    ++walked.generation;
    memo.remember(second, place(other), walked);
    CHECK(chain_memo::is_unchanged(second, place(other)));
    CHECK_FALSE(chain_memo::is_unchanged(first, place(0)));
    memo.release();
}

TEST_CASE("chain_memo: an updated chain is what a walk finds") {
    static rule_cache rules;
    static walked_stack walked;
    chain_memo memo;
    REQUIRE(memo.prepare(most_frames));
    std::mt19937_64 dice{6};
    const std::vector<std::uintptr_t> codes = {own_return_address(), own_return_address(),
                                               own_return_address(), own_return_address()};
    made_stack stack;
    std::uintptr_t frames[allocscope::max_stack_frames + 1];
    int updated = 0;
    const std::uintptr_t frame = stack.address_of(4);
    stack.fill(4, 10, 6, codes);
    stack_walk{stack.bounds(), rules, walked}.run(frame, most_frames);
    remembered_chain& chain = *memo.entry_for(frame, stack.words[5]);
    memo.remember(chain, frame, walked);
    for (int round = 0; round < 20000; ++round) {
        for (int i = 0; i < 3; ++i) stack.words[5 + 6 * (dice() % 10)] = codes[dice() % 4];
        if (dice() % 20 == 0) stack.words[4 + 6 * (dice() % 10)] ^= 16;
        const bool is_updated = update_chain(chain, frame, rules, frames);
        stack_walk{stack.bounds(), rules, walked}.run(frame, most_frames);
        if (is_updated) {
            ++updated;
            REQUIRE(chain.frame_count == walked.frame_count);
            REQUIRE(chain.sum == walked.sum);
            for (std::uint32_t i = 0; i < walked.frame_count; ++i) {
                REQUIRE(frames[i] == walked.return_addresses[i]);
            }
            REQUIRE(chain_memo::is_unchanged(chain, frame));
        } else {
            memo.remember(chain, frame, walked);
        }
        if (round % 100 == 0) stack.fill(4, 10, 6, codes);
    }
    CHECK(updated > 1000);
    memo.release();
}
