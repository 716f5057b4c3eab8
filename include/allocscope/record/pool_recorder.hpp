// pool_recorder.hpp - records the allocations and frees that pools report.
//
// Room:     record (floor 5), malloc-safe
// Called:   through the engine table, by report_allocation() and its like in any module
// Threads:  any, also in signal handlers; no lock
// Memory:   see tables/pool_object_map.hpp
//
// The events of a pool are charged to the same cohorts as those of operator new, but their records
// have a map of their own, because a pool's first object lies where the pool's chunk begins.
//
// In a sampled window the thread's own countdown decides about an object of a pool as about any
// other allocation. The pool chooses the address, so a sampled object cannot be placed at a page.
// That is not needed either: each free of a pool is looked up in the map, and the map knows which
// objects are samples.

#ifndef ALLOCSCOPE_RECORD_POOL_RECORDER_HPP
#define ALLOCSCOPE_RECORD_POOL_RECORDER_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/link/pool_words.hpp>
#include <allocscope/record/cohort_lookup.hpp>
#include <allocscope/record/enter_hook.hpp>
#include <allocscope/record/peak_tracking.hpp>
#include <allocscope/record/recorder.hpp>
#include <allocscope/record/sample_records.hpp>
#include <allocscope/record/sampler.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/allocation_tags.hpp>
#include <allocscope/tables/pool_object_map.hpp>
#include <allocscope/unwind/module_identity.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

using pool_cell = pool_object_map::cell;

// The newest object that begins at the address and belongs to the pool's family; to any family when
// `pool` is null.
ALLOCSCOPE_NOINLINE pool_cell* find_pool_object(const thread_state& thread, const void* block,
                                                const char* pool) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    if (pool == nullptr) {
        return process.pools.newest(address, thread.session, [](std::uint32_t) { return true; });
    }
    pool_cell* const named = process.pools.newest(
        address, thread.session,
        [pool](std::uint32_t tag) { return process.tags.is_of_family(tag, pool); });
    if (named != nullptr || !process.tags.has_refused_any()) return named;
    // There may have been no room for the pool's name when the object was born.
    return process.pools.newest(address, thread.session, [](std::uint32_t tag) {
        return tag == allocation_tags::other_pools;
    });
}

// Takes the record of the object at the address away and counts the death.
ALLOCSCOPE_NOINLINE void remove_pool_object(thread_state& thread, const void* block,
                                            pool_cell& dying) noexcept {
    const std::uint32_t id = dying.cohort();
    const std::uint64_t bytes = dying.bytes.load(memory_order::relaxed);
    if (!dying.forget(reinterpret_cast<std::uintptr_t>(block), thread.session)) return;
    cohort& born = *process.cohorts.by_id(id);
    if (is_sampled(born)) {
        count_sample_death(thread, id, bytes);
    } else {
        count_death(thread, born, id, bytes, nullptr);
    }
}

ALLOCSCOPE_INLINE std::uint32_t cohort_of_pool(thread_state& thread, std::uint32_t tag,
                                               std::uintptr_t frame) noexcept {
    if (thread.mode == charge::numbers) return cohort_without_stack(thread, tag);
    const std::uint32_t known = remembered_cohort(thread, frame, tag);
    return known != no_cohort ? known : find_cohort(thread, frame, tag);
}

// The caller has called enter(), and the object gets a record.
ALLOCSCOPE_NOINLINE void put_pool_object(thread_state& thread, const void* block, std::size_t bytes,
                                         std::uint32_t tag, std::uintptr_t frame) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    const std::uint32_t family = process.tags.family_number_of(tag);
    // The same pool has handed out this address again, so it did not report a free.
    pool_cell* const forgotten = process.pools.newest(
        address, thread.session,
        [family](std::uint32_t other) { return process.tags.family_number_of(other) == family; });
    if (forgotten != nullptr) {
        thread.lose(loss_reason::record_replaced);
        remove_pool_object(thread, block, *forgotten);
    }
    const pool_cell* const below = find_pool_object(thread, block, nullptr);
    const std::uint32_t depth = below != nullptr ? below->depth() + 1 : 0;
    const std::uint32_t id = cohort_of_pool(thread, tag, frame);
    const bool is_put =
        id != no_cohort && !is_too_high(address, bytes) &&
        process.pools.put(process.arena, address, thread.session, id, tag, depth, bytes);
    if (thread.mode == charge::samples) {
        if (is_put) {
            count_sample_birth(thread, id, bytes);
        } else {
            lose_sample(thread, block, bytes);
        }
        return;
    }
    if (!is_put) {
        lose_object(thread, block, bytes);
        return;
    }
    cohort& counters = *process.cohorts.by_id(id);
    if (is_detailed(counters)) note_birth(thread, counters, id, bytes, nullptr);
    counters.births.add(bytes);
    add_live_bytes(thread, bytes);
}

// Whether a birth on this thread, which has called enter(), gets a record.
ALLOCSCOPE_INLINE bool is_birth_recorded(thread_state& thread, std::size_t bytes) noexcept {
    if (thread.mode == charge::samples) return is_drawn(thread, bytes);
    return thread.mode != charge::nothing;
}

// --- the functions in the engine table. The stack of an object begins at their caller. ---

ALLOCSCOPE_NOINLINE void engine_report_birth(const void* block, std::size_t bytes,
                                             const pool_words& words) noexcept {
    const std::uintptr_t frame = hook_frame();
    if (block == nullptr) return;
    thread_state* const thread = enter(frame);
    if (thread == nullptr) return;
    if (is_birth_recorded(*thread, bytes)) {
        const std::uint32_t tag = process.tags.number_of(words.pool, words.type, words.type_length);
        put_pool_object(*thread, block, bytes, tag, frame);
    }
    leave(*thread);
}

ALLOCSCOPE_NOINLINE void engine_report_death(const void* block, const char* pool) noexcept {
    if (block == nullptr) return;
    thread_state* const thread = enter(hook_frame());
    if (thread == nullptr) return;
    if (pool_cell* dying = find_pool_object(*thread, block, pool)) {
        remove_pool_object(*thread, block, *dying);
    }
    leave(*thread);
}

// Counts a death and a birth at the same address, in the same pool. An object without a record was
// born before the windows opened, or was not sampled; then only the birth is counted.
ALLOCSCOPE_NOINLINE void engine_report_resize(const void* block, std::size_t bytes,
                                              const pool_words& words) noexcept {
    const std::uintptr_t frame = hook_frame();
    if (block == nullptr) return;
    thread_state* const thread = enter(frame);
    if (thread == nullptr) return;
    pool_cell* const before = find_pool_object(*thread, block, words.pool);
    std::uint32_t tag = allocation_tags::other_pools;
    if (before != nullptr) {
        tag = before->tag();
        remove_pool_object(*thread, block, *before);
    }
    if (is_birth_recorded(*thread, bytes)) {
        if (before == nullptr || words.type_length != 0) {
            tag =
                process.tags.number_of(before != nullptr ? process.tags.family_of(tag) : words.pool,
                                       words.type, words.type_length);
        }
        put_pool_object(*thread, block, bytes, tag, frame);
    }
    leave(*thread);
}

// The address of the gate's word, for modules that keep it. Null when the engine may be unloaded
// before those modules.
ALLOCSCOPE_SLOW_PATH const std::uint64_t* engine_gate_to_keep() noexcept {
#if defined(__PIC__) && !defined(__PIE__)  // otherwise this code is a part of the executable
    const auto here = reinterpret_cast<std::uintptr_t>(&engine_report_birth);
    const module_identity own = identify_module(here);
    if (own.start == 0 || own.life != module_life::permanent) return nullptr;
#endif
    return process.entry.word_address();
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_RECORD_POOL_RECORDER_HPP
