// Danger: a walk reads where nothing is mapped, goes in circles, or never ends. A stack between two
// pages that nobody may touch is filled with frames that lead on by the rules of real code, then
// with garbage, in every mixture; it is walked from everywhere, by every method, and by the memo. A
// million walks; ALLOCSCOPE_TEST_SCALE=10 makes ten.

#include "../support/dice.hpp"
#include "../support/process_test.hpp"
#include "../support/update_chain.hpp"

#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/unwind/chain_memo.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include <sys/mman.h>

using namespace allocscope_test;
using namespace allocscope::detail;
using allocscope::unwinding;

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t stack_bytes = 2 * page;
constexpr std::size_t word_count = stack_bytes / sizeof(std::uintptr_t);

class hostile_stack {
public:
    hostile_stack() {
        void* const memory =
            ::mmap(nullptr, stack_bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        words_ = reinterpret_cast<std::uintptr_t*>(static_cast<char*>(memory) + page);
        ALLOCSCOPE_EXPECT(::mprotect(words_, stack_bytes, PROT_READ | PROT_WRITE) == 0);
        collect_code();
    }

    stack_bounds bounds() const { return {at(0), at(word_count)}; }
    std::uintptr_t at(std::size_t word) const {
        return reinterpret_cast<std::uintptr_t>(words_ + word);
    }

    // Frames from `word` on, each where the rule of the one before says.
    void build(std::size_t word) {
        first_ = word;
        while (word + 2 < word_count) {
            // Most of the time one that leads on.
            const auto& from = roll_.one_in(8) ? code_ : leading_;
            const code_place& to = from[roll_.below(from.size())];
            words_[word + 1] = to.pc;
            std::size_t distance = 2 + roll_.below(8);
            if (to.rule.kind == rule_kind::from_sp) {
                distance = static_cast<std::size_t>(to.rule.cfa_offset) / 8;
            }
            if (distance > 64) distance = 64;
            words_[word] = at(word + distance);
            word += distance;
        }
    }

    void spoil(std::size_t changes) {
        for (; changes != 0; --changes) words_[roll_.below(word_count)] = anything();
    }

    std::size_t any_start() { return roll_.one_in(2) ? first_ : roll_.below(word_count - 2); }
    dice& roll() { return roll_; }
    unsigned kinds_of_code() const {
        unsigned kinds = 0;
        for (const unsigned count : counts_) kinds += count != 0 ? 1U : 0U;
        return kinds;
    }

private:
    struct code_place {
        std::uintptr_t pc;
        unwind_rule rule;
    };

    std::uintptr_t anything() {
        switch (roll_.below(7)) {
            case 0:
                return roll_.next();
            case 1:
                return 0;
            case 2:
                return code_[roll_.below(code_.size())].pc;
            case 3:
                return ~std::uintptr_t{0} - roll_.below(64);
            case 4:
                return at(0) + stack_bytes - roll_.below(64);  // the upper end
            case 5:
                return at(0) - 32 + roll_.below(64);  // the lower one
            default:
                return at(roll_.below(word_count)) + (roll_.below(4) == 0 ? roll_.below(8) : 0);
        }
    }

    // Addresses with every kind of rule there is in the program and the C library.
    void collect_code() {
        for (const auto start : {reinterpret_cast<std::uintptr_t>(&std::qsort),
                                 reinterpret_cast<std::uintptr_t>(&std::snprintf),
                                 reinterpret_cast<std::uintptr_t>(&find_unwind_rule)}) {
            for (std::uintptr_t i = 0; i < 60000; ++i) {
                const std::uintptr_t pc = start - 30000 + i;
                const unwind_rule rule = find_unwind_rule(pc, find_holding_module(pc - 1));
                unsigned& count = counts_[static_cast<std::size_t>(rule.kind)];
                if (count++ >= 400) continue;
                code_.push_back({pc, rule});
                if (rule.kind == rule_kind::frame_pointer ||
                    (rule.kind == rule_kind::from_sp && rule.cfa_offset <= 512)) {
                    leading_.push_back(code_.back());
                }
            }
        }
    }

    std::uintptr_t* words_ = nullptr;
    std::size_t first_ = 0;  // where a walk by the rules begins
    std::vector<code_place> code_, leading_;
    unsigned counts_[9] = {};
    dice roll_{7};
};

struct totals {
    std::uint64_t walks = 0, frames = 0, deepest = 0, known = 0, updated = 0;
};

void check(const hostile_stack& stack, const walked_stack& out, std::uintptr_t frame,
           std::uint32_t most_frames) {
    ALLOCSCOPE_EXPECT(out.frame_count >= 1 && out.frame_count <= most_frames);
    ALLOCSCOPE_EXPECT(out.return_count - out.frame_count <= 1);
    std::uintptr_t last = frame;
    for (std::uint32_t i = 0; i < out.return_count; ++i) {
        const std::uintptr_t at = out.return_places[i];
        if (!ALLOCSCOPE_EXPECT(at > last && at + sizeof at <= stack.bounds().high)) return;
        last = at;
    }
}

void walk(hostile_stack& stack, chain_memo& memo, rule_cache& rules, unwinding method,
          std::uint32_t most_frames, totals& sum) {
    static walked_stack out;
    static std::uintptr_t frames[walked_stack::most_words];
    const std::uintptr_t frame = stack.at(stack.any_start());
    stack_walk{stack.bounds(), rules, out, method}.run(frame, most_frames);
    check(stack, out, frame, most_frames);
    ++sum.walks;
    sum.frames += out.frame_count;
    if (out.frame_count > sum.deepest) sum.deepest = out.frame_count;
    remembered_chain& chain = *memo.entry_for(frame, read_stack_word(frame + 8));
    const std::uint64_t expected = out.sum;
    if (chain_memo::is_unchanged(chain, frame)) {
        ++sum.known;
        ALLOCSCOPE_EXPECT(chain.sum == expected && chain.frame_count == out.frame_count);
    } else if (update_chain(chain, frame, rules, frames)) {
        ++sum.updated;
        ALLOCSCOPE_EXPECT(chain.sum == expected && chain.frame_count == out.frame_count);
    } else {
        memo.remember(chain, frame, out);
    }
}

}  // namespace

int main() {
    watchdog(std::getenv("ALLOCSCOPE_TEST_SCALE") != nullptr ? 1200 : 100);
    hostile_stack stack;
    ALLOCSCOPE_EXPECT(stack.kinds_of_code() >= 3);
    static rule_cache rules;
    const long rounds = scaled(1000000) / 30 + 1;
    for (const unwinding method :
         {unwinding::automatic, unwinding::cfi, unwinding::frame_pointers}) {
        totals sum;
        chain_memo memo;
        const std::uint32_t most_frames = method == unwinding::cfi ? 128 : 24;
        ALLOCSCOPE_EXPECT(memo.prepare(most_frames, method));
        for (long round = 0; round < rounds; ++round) {
            if (round % 3 == 0) stack.build(stack.roll().below(4));
            stack.spoil(round % 3 == 0 ? stack.roll().below(10) : 100);
            for (int i = 0; i < 10; ++i) walk(stack, memo, rules, method, most_frames, sum);
        }
        std::printf(
            "method %d: %llu walks, %.2f frames each, at most %llu; %llu known, %llu "
            "updated\n",
            static_cast<int>(method), static_cast<unsigned long long>(sum.walks),
            static_cast<double>(sum.frames) / static_cast<double>(sum.walks),
            static_cast<unsigned long long>(sum.deepest),
            static_cast<unsigned long long>(sum.known),
            static_cast<unsigned long long>(sum.updated));
        ALLOCSCOPE_EXPECT(sum.deepest > 8);
        memo.release();
    }
    return verdict();
}
