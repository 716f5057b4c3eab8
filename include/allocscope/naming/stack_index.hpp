// stack_index.hpp - finds a stack that already has names.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   by naming/name_book.hpp
// Threads:  one at a time, under the naming lock
// Memory:   for each of many stacks at most 22 bytes, 6 on average, in the arena that is passed in
//
// A hash table of chains. The stacks themselves have the link of the chain and their hash, so that
// a hundred thousand stacks need no table of entries.

#ifndef ALLOCSCOPE_NAMING_STACK_INDEX_HPP
#define ALLOCSCOPE_NAMING_STACK_INDEX_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/named_stack.hpp>
#include <allocscope/naming/stack_modules.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_WARM_BEGIN

namespace detail {

class stack_index {
public:
    explicit stack_index(arena& memory) noexcept : chains_(memory) {}

    // Finds a stack by its addresses, modules, tag and the version of the rule; null if it has no
    // names yet.
    named_stack* find(const known_stack& stack, std::uint64_t modules,
                      std::size_t rule_version) const noexcept {
        if (chains_.empty()) return nullptr;
        const auto hash = static_cast<std::uint32_t>(stack.hash);
        for (named_stack* at = chains_[hash & (chains_.size() - 1)]; at != nullptr; at = at->next) {
            if (at->hash == hash && at->rule_version == rule_version && at->modules == modules &&
                at->tag == stack.tag && has_addresses_of(*at, stack)) {
                return at;
            }
        }
        return nullptr;
    }

    // The hash of the stack must be set.
    void add(named_stack& stack) {
        if (count_ >= chains_.size() * 2) grow();
        put(stack);
        ++count_;
    }

    // Forgets the stacks whose names are valid only until a module comes or goes.
    ALLOCSCOPE_INLINE void drop_passing() noexcept {
        for (named_stack*& first : chains_) {
            named_stack** place = &first;
            while (*place != nullptr) {
                if ((*place)->is_lasting) {
                    place = &(*place)->next;
                } else {
                    *place = (*place)->next;
                    --count_;
                }
            }
        }
    }

private:
    static bool has_addresses_of(const named_stack& named, const known_stack& stack) noexcept {
        std::uint32_t met = 0;
        for (std::uint32_t i = 0; i < named.frame_count; ++i) {
            const snapshot::frame& frame = named.frames[i];
            if (frame.is_inlined) continue;
            if (met == stack.count || frame.address + 1 != stack.addresses[met]) return false;
            ++met;
        }
        return met == stack.count;
    }

    void put(named_stack& stack) noexcept {
        named_stack*& first = chains_[stack.hash & (chains_.size() - 1)];
        stack.next = first;
        first = &stack;
    }

    void grow() {
        const list<named_stack*> before = chains_;
        chains_ = list<named_stack*>{before.memory()};
        chains_.resize(before.empty() ? 64 : before.size() * 4);
        for (named_stack* first : before) {
            while (first != nullptr) {
                named_stack* const next = first->next;
                put(*first);
                first = next;
            }
        }
    }

    list<named_stack*> chains_;  // their number is a power of two
    std::size_t count_ = 0;
};

}  // namespace detail

ALLOCSCOPE_WARM_END

#endif  // ALLOCSCOPE_NAMING_STACK_INDEX_HPP
