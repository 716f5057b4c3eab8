// stack_index.hpp - finds a stack that already has names.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/name_book.hpp
// Threads:  one at a time, under the naming lock
// Memory:   for each of many stacks at most 57 bytes, 21 on average, in the arena that is passed in
//
// A hash table of pointers, with linear probing. The upper 16 bits of a pointer hold a part of the
// hash, so that a stack that is not there is found out without looking at others. In a hundred
// thousand stacks each look misses the caches.

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

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class stack_index {
public:
    explicit stack_index(arena& memory) noexcept : slots_(memory) {}

    // Finds a stack by its addresses, modules, tag and the version of the rule; null if it has no
    // names yet.
    named_stack* find(const known_stack& stack, std::uint64_t modules,
                      std::size_t rule_version) const noexcept {
        if (slots_.empty()) return nullptr;
        const auto hash = static_cast<std::uint32_t>(stack.hash);
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = hash & mask; slots_[at] != 0; at = (at + 1) & mask) {
            if (slots_[at] >> pointer_bits != hash >> 16U) continue;
            named_stack* const found = stack_in(slots_[at]);
            if (found->hash == hash && found->rule_version == rule_version &&
                found->modules == modules && found->tag == stack.tag &&
                has_addresses_of(*found, stack)) {
                return found;
            }
        }
        return nullptr;
    }

    // Lets the processor load what find() will need for stacks with these hashes: first the slot,
    // later the stack in it.
    void expect(std::uint64_t soon, std::uint64_t later) const noexcept {
        if (slots_.empty()) return;
        const std::size_t mask = slots_.size() - 1;
        __builtin_prefetch(&slots_[static_cast<std::uint32_t>(later) & mask]);
        const auto hash = static_cast<std::uint32_t>(soon);
        const std::uint64_t slot = slots_[hash & mask];
        if (slot == 0 || slot >> pointer_bits != hash >> 16U) return;
        __builtin_prefetch(stack_in(slot));
        __builtin_prefetch(&stack_in(slot)->hash);
    }

    // The hash of the stack must be set.
    void add(named_stack& stack) {
        if ((count_ + 1) * 4 > slots_.size() * 3) grow();
        put(stack);
        ++count_;
    }

    // Forgets the stacks whose names are valid only until refresh_modules() is true.
    void drop_passing() {
        arena scratch;
        list<named_stack*> left{scratch};
        for (std::uint64_t& slot : slots_) {
            if (slot != 0 && stack_in(slot)->is_lasting) left.push_back(stack_in(slot));
        }
        if (left.size() == count_) return;
        for (std::uint64_t& slot : slots_) slot = 0;
        count_ = left.size();
        for (named_stack* const stack : left) put(*stack);
    }

private:
    static bool has_addresses_of(const named_stack& named, const known_stack& stack) noexcept {
        const std::uintptr_t* next = stack.addresses;
        const std::uintptr_t* const end = next + stack.count;
        const snapshot::frame* const last = named.frames + named.frame_count;
        for (const snapshot::frame* frame = named.frames; frame != last; ++frame) {
            if (frame->is_inlined) continue;
            if (next == end || frame->address + 1 != *next++) return false;
        }
        return next == end;
    }

    static named_stack* stack_in(std::uint64_t slot) noexcept {
        constexpr std::uint64_t pointer = (std::uint64_t{1} << pointer_bits) - 1;
        return reinterpret_cast<named_stack*>(slot & pointer);
    }

    void put(named_stack& stack) noexcept {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = stack.hash & mask;
        while (slots_[at] != 0) at = (at + 1) & mask;
        const std::uint64_t part = stack.hash >> 16U;
        slots_[at] = reinterpret_cast<std::uintptr_t>(&stack) | part << pointer_bits;
    }

    void grow() {
        const list<std::uint64_t> before = slots_;
        slots_ = list<std::uint64_t>{before.memory()};
        slots_.resize(before.empty() ? 64 : before.size() * 4);
        for (const std::uint64_t slot : before) {
            if (slot != 0) put(*stack_in(slot));
        }
    }

    static constexpr unsigned pointer_bits = 48;  // user addresses have no more

    list<std::uint64_t> slots_;  // their number is a power of two; 0: free
    std::size_t count_ = 0;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_NAMING_STACK_INDEX_HPP
