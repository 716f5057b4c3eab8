#include <doctest/doctest.h>
#include <allocscope/record/cohort_lookup.hpp>
#include <allocscope/unwind/cfi_to_rule.hpp>

#include "../../support/dice.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

// Danger: a stack is taken for another one that had the same addresses, or the same places. Stacks
// made by hand, of code with many unwind rules, whose return addresses change to others of the same
// rule (then they are collected where the memo says) or of another one (then they lead elsewhere).

using namespace allocscope::detail;
using allocscope::unwinding;

namespace {

constexpr std::uint32_t most_frames = 12;
constexpr std::size_t frame_count = 14;
constexpr std::size_t word_count = 400;

// Return addresses, in groups of equal rules.
std::vector<std::vector<std::uintptr_t>> code_by_rule() {
    std::vector<std::vector<std::uintptr_t>> groups;
    std::vector<unwind_rule> rules;
    const auto start = reinterpret_cast<std::uintptr_t>(&std::qsort);
    for (std::uintptr_t pc = start - 20000; pc < start + 20000; ++pc) {
        const unwind_rule rule = find_unwind_rule(pc);
        const bool leads_on =
            rule.kind == rule_kind::from_sp && !rule.restores_bp && rule.cfa_offset <= 160;
        if (!leads_on && rule.kind != rule_kind::frame_pointer) continue;
        std::size_t i = 0;
        while (i < rules.size() && !rules[i].leads_like(rule)) ++i;
        if (i == rules.size()) {
            rules.push_back(rule);
            groups.emplace_back();
        }
        if (groups[i].size() < 4) groups[i].push_back(pc);
    }
    return groups;
}

class made_stack {
public:
    explicit made_stack(std::uint64_t seed) : roll_(seed) {}

    stack_bounds bounds() const { return {address_of(0), address_of(word_count - 1)}; }
    std::uintptr_t frame() const { return address_of(4); }

    // Each frame where the rule of the one before says.
    void build() {
        std::size_t bp = 4;  // the word in which the frame pointer in the register was saved
        std::size_t cfa = 6;
        for (std::size_t& at : return_words_) {
            at = cfa - 1;
            words_[at] = any(any_group());
            const unwind_rule rule = find_unwind_rule(words_[at]);
            if (rule.kind == rule_kind::from_sp) {
                cfa += static_cast<std::size_t>(rule.cfa_offset) / 8;
            } else {
                const std::size_t next = cfa + roll_.below(6);
                words_[bp] = address_of(next);
                bp = next;
                cfa = next + 2;
            }
        }
        words_[bp] = 0;
    }

    // Some return addresses become others, mostly of the same rule; rarely any word.
    void change() {
        for (std::uint64_t n = 1 + roll_.below(3); n != 0; --n) {
            std::uintptr_t& at = words_[return_words_[roll_.below(frame_count)]];
            const std::vector<std::uintptr_t>* same = &any_group();
            for (const auto& group : groups_) {
                for (const std::uintptr_t each : group) {
                    if (each == at && !roll_.one_in(40)) same = &group;
                }
            }
            at = any(*same);
        }
        if (roll_.one_in(50)) words_[4 + roll_.below(150)] = address_of(roll_.below(word_count));
    }

private:
    std::uintptr_t address_of(std::size_t word) const {
        return reinterpret_cast<std::uintptr_t>(words_ + word);
    }
    const std::vector<std::uintptr_t>& any_group() { return groups_[roll_.below(groups_.size())]; }
    std::uintptr_t any(const std::vector<std::uintptr_t>& group) {
        return group[roll_.below(group.size())];
    }

    alignas(16) std::uintptr_t words_[word_count] = {};
    std::size_t return_words_[frame_count] = {};
    std::vector<std::vector<std::uintptr_t>> groups_ = code_by_rule();
    allocscope_test::dice roll_;
};

// What a walk read apart from the return addresses of its frames: where those stood, and the other
// words. The counts come first, so that
// no two sets of words give one list.
std::vector<std::uintptr_t> words_but_returns(const walked_stack& walked) {
    std::vector<std::uintptr_t> words{walked.frame_count, walked.return_count, walked.other_count};
    for (std::uint32_t i = 0; i < walked.return_count; ++i) {
        words.push_back(walked.returns[i].address);
        words.push_back(i < walked.frame_count ? 0 : walked.returns[i].value);
        words.push_back(walked.has_saved_below[i] ? walked.saved_below[i] : 1);
    }
    for (std::uint32_t i = 0; i < walked.other_count; ++i) {
        words.push_back(walked.others[i].address);
        words.push_back(walked.others[i].value);
    }
    return words;
}

bool is_stack_of(const site& known, const walked_stack& walked) {
    if (known.frame_count != walked.frame_count) return false;
    for (std::uint32_t i = 0; i < walked.frame_count; ++i) {
        if (known.frames()[i] != walked.returns[i].value) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("stack_walk: two walks have one shape when they read the same words, and only then") {
    static walked_stack walked;
    static rule_cache rules;
    made_stack stack{4};
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

TEST_CASE("find_cohort: the stack of the cohort is what a walk finds, whatever was seen before") {
    static thread_state thread;
    static walked_stack walked;
    static rule_cache rules;
    REQUIRE(process.cohorts.prepare());
    made_stack stack{3};
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
        const std::uintptr_t caller = walked.returns[0].value;
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
