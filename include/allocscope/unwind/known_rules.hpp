// known_rules.hpp - the unwind rules that any thread has found, shared by all threads.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   by rule_cache.hpp, when a thread's own cache has no rule for an address; prepare() by
//           record/thread_lifecycle.hpp, because a walk must not map memory
// Threads:  any, lock-free; a rule that was added is never changed or removed
// Memory:   512 KiB of addresses, of which only touched pages are in memory
//
// A thread's own cache is small, so that it stays in the processor's cache. A large program has
// thousands of return addresses on the stacks of its allocations, and finding a rule in the tables
// of a module takes a microsecond. So each rule is kept here, too, if its module stays until the
// end of the process. Such a rule stays right.
//
//     an address has a line of four elements:   [ check rule ][ check rule ][ 0 0 ][ 0 0 ]
//
// A walk takes no lock and has no locked instruction. So an element is two words that are written
// one after the other, and the first word is the address combined with the second. If two threads
// write one element at the same time, the result is a right rule or one that no address matches.
// When a line is full, nothing more is kept in it.

#ifndef ALLOCSCOPE_UNWIND_KNOWN_RULES_HPP
#define ALLOCSCOPE_UNWIND_KNOWN_RULES_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/unwind/unwind_rule.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, uintptr_t
#include <cstring>  // memcpy

ALLOCSCOPE_HOT_BEGIN

namespace detail {

class known_rules {
public:
    // Until this function was called and found memory, nothing is kept.
    void prepare() noexcept {
        if (elements_.load(memory_order::acquire) != nullptr) return;
        void* pages = reserve_pages(element_count * sizeof(element));
        if (pages == nullptr) return;
        element* none = nullptr;
        if (!elements_.compare_exchange_strong(none, static_cast<element*>(pages),
                                               memory_order::acq_rel)) {
            return_reservation(pages, element_count * sizeof(element));
        }
    }

    // Returns false when the rule is not known.
    bool find(std::uintptr_t pc, unwind_rule& out) const noexcept {
        const element* line = line_of(pc);
        if (line == nullptr) return false;
        for (std::size_t i = 0; i < line_elements; ++i) {
            const std::uint64_t word = line[i].rule.load(memory_order::relaxed);
            if (line[i].check.load(memory_order::relaxed) != check_of(pc, word)) continue;
            std::memcpy(static_cast<void*>(&out), &word, sizeof out);
            return true;
        }
        return false;
    }

    // `rule` must come from a module that stays.
    void add(std::uintptr_t pc, const unwind_rule& rule) noexcept {
        element* line = line_of(pc);
        if (line == nullptr) return;
        std::uint64_t word = 0;
        std::memcpy(&word, &rule, sizeof rule);
        for (std::size_t i = 0; i < line_elements; ++i) {
            if (line[i].check.load(memory_order::relaxed) != 0) continue;
            line[i].check.store(check_of(pc, word), memory_order::relaxed);
            line[i].rule.store(word, memory_order::relaxed);
            return;
        }
    }

private:
    struct element {
        atomic<std::uint64_t> check;  // 0: the element is free
        atomic<std::uint64_t> rule;
    };
    static_assert(sizeof(element) == 16, "four to a cache line");
    static_assert(sizeof(unwind_rule) <= sizeof(std::uint64_t) &&
                      __is_trivially_copyable(unwind_rule),
                  "a rule is written as one word");
    static constexpr std::size_t element_count = std::size_t{32} << 10U;
    static constexpr std::size_t line_elements = 4;

    static std::uint64_t check_of(std::uintptr_t pc, std::uint64_t rule) noexcept {
        return pc ^ hash_finish(rule + 1);
    }

    element* line_of(std::uintptr_t pc) const noexcept {
        element* first = elements_.load(memory_order::acquire);
        if (first == nullptr) return nullptr;
        return first + (hash_finish(pc) & (element_count - 1) & ~(line_elements - 1));
    }

    atomic<element*> elements_{nullptr};
};

ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline known_rules rules_of_all{};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_UNWIND_KNOWN_RULES_HPP
