// stacks_of_difference.hpp - subtracts the stacks of an earlier snapshot from those of a later one.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   through snapshot_data::stacks, by snapshot::stacks() of a difference
// Threads:  any; the difference is immutable
// Memory:   184 bytes for each stack that has changed
//
// Two stacks are the same if all their frames and their types are equal. The frames are compared as
// texts, because one of the snapshots may come from a file.

#ifndef ALLOCSCOPE_SNAPSHOT_STACKS_OF_DIFFERENCE_HPP
#define ALLOCSCOPE_SNAPSHOT_STACKS_OF_DIFFERENCE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/hash_mix.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/snapshot_members.hpp>
#include <allocscope/snapshot/stack_order.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstring>  // strcmp

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A stack as a key: two are equal if their types and all their frames are equal as texts.
struct stack_names {
    const snapshot::stack* of;
};

inline bool is_same_frame(const snapshot::frame& a, const snapshot::frame& b) noexcept {
    return a.line == b.line && a.offset == b.offset && a.is_inlined == b.is_inlined &&
           std::strcmp(a.function, b.function) == 0 && std::strcmp(a.file, b.file) == 0 &&
           std::strcmp(a.module, b.module) == 0;
}

inline bool operator==(const stack_names& a, const stack_names& b) noexcept {
    if (a.of->frame_count != b.of->frame_count) return false;
    if (std::strcmp(a.of->type, b.of->type) != 0) return false;
    if (a.of->frames == b.of->frames) return true;
    for (std::size_t i = 0; i < a.of->frame_count; ++i) {
        if (!is_same_frame(a.of->frames[i], b.of->frames[i])) return false;
    }
    return true;
}

inline std::uint64_t hash_of_key(const stack_names& key) noexcept {
    std::uint64_t hash = hash_step(hash_seed, key.of->frame_count);
    for (std::size_t i = 0; i < key.of->frame_count; ++i) {
        const snapshot::frame& frame = key.of->frames[i];
        hash = hash_step(hash, frame.offset ^ (static_cast<std::uint64_t>(frame.line) << 40U));
    }
    return hash_finish(hash);
}

struct changed_stack : summed<snapshot::stack> {
    void add(const snapshot::stack& part, bool is_later) noexcept {
        const std::uint64_t sign = is_later ? 1 : ~std::uint64_t{0};
        summed::add(part, is_later);
        sum.allocations += sign * part.allocations;
        sum.bytes_allocated += sign * part.bytes_allocated;
    }

    ALLOCSCOPE_INLINE bool has_changed() const noexcept {
        return (sum.objects | sum.bytes | sum.allocations | sum.bytes_allocated) != 0;
    }
};

inline void copy_without_numbers(snapshot::stack& to, const snapshot::stack& from) noexcept {
    to = from;
    to.objects = to.bytes = to.allocations = to.bytes_allocated = to.samples = 0;
    to.thread_count = 0;
    to.by_thread = nullptr;
    to.age = 0;
    to.details = nullptr;
}

inline void merge_stacks(const stack_table* const (&both)[2], later_stacks& made) {
    arena& memory = made.memory;
    arena scratch;
    table<stack_names, changed_stack> merged{scratch};
    list<snapshot::module> modules{memory};
    table<text, bool> has_module{scratch};
    for (std::size_t side = 0; side < 2; ++side) {
        const stack_table* each = both[side];
        if (each == nullptr) continue;
        for (std::size_t i = 0; i < each->stack_count; ++i) {
            const snapshot::stack& stack = each->stacks[i];
            const auto at = merged.insert({&stack});
            if (at.is_new) copy_without_numbers(at.value.sum, stack);
            at.value.add(stack, side == 0);
        }
        for (std::size_t i = 0; i < each->module_count; ++i) {
            if (has_module.insert(each->modules[i].path).is_new) {
                modules.push_back(each->modules[i]);
            }
        }
    }
    list<snapshot::stack> stacks{memory};
    for (auto& each : merged) {
        if (each.value.has_changed()) stacks.push_back(each.value.finished());
    }
    sort_stacks(stacks, scratch, true);
    made.table = {stacks.data(), stacks.size(), modules.data(), modules.size(), nullptr, 0};
}

inline void find_stacks_of_difference(const snapshot_data& of, const void*, later_stacks& made) {
    const stack_table* both[2] = {};
    for (std::size_t side = 0; side < 2; ++side) {
        const snapshot_data* parent = snapshot_block::parent_of(of, side);
        both[side] = stacks_of(parent);
        if (both[side] == nullptr && parent != &snapshot_of_no_window) refuse_memory();
    }
    merge_stacks(both, made);
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SNAPSHOT_STACKS_OF_DIFFERENCE_HPP
