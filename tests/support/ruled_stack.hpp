// A stack made by hand, of code with many unwind rules, as a walk meets it.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_RULED_STACK_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_RULED_STACK_HPP

#include "dice.hpp"

#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/unwind/cfi_to_rule.hpp>
#include <allocscope/unwind/holding_module.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace allocscope_test {

inline allocscope::detail::unwind_rule unwind_rule_at(std::uintptr_t pc) {
    using namespace allocscope::detail;
    return find_unwind_rule(pc, find_holding_module(pc - 1));
}

// Return addresses, in groups of equal rules.
inline std::vector<std::vector<std::uintptr_t>> code_by_rule() {
    std::vector<std::vector<std::uintptr_t>> groups;
    using allocscope::detail::rule_kind;
    using allocscope::detail::unwind_rule;
    std::vector<unwind_rule> rules;
    const auto start = reinterpret_cast<std::uintptr_t>(&std::qsort);
    for (std::uintptr_t pc = start - 20000; pc < start + 20000; ++pc) {
        const unwind_rule rule = unwind_rule_at(pc);
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

class ruled_stack {
public:
    static constexpr std::size_t frame_count = 14;
    static constexpr std::size_t word_count = 400;

    explicit ruled_stack(std::uint64_t seed) : roll_(seed) {}

    allocscope::detail::stack_bounds bounds() const {
        return {address_of(0), address_of(word_count - 1)};
    }
    std::uintptr_t frame() const { return address_of(4); }

    // Each frame where the rule of the one before says.
    void build() {
        std::size_t bp = 4;  // the word in which the frame pointer in the register was saved
        std::size_t cfa = 6;
        for (std::size_t& at : return_words_) {
            at = cfa - 1;
            words_[at] = any(any_group());
            const auto rule = unwind_rule_at(words_[at]);
            if (rule.kind == allocscope::detail::rule_kind::from_sp) {
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
    dice roll_;
};

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_RULED_STACK_HPP
