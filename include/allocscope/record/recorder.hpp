// recorder.hpp - the one place where an event meets the tables.
//
// Room:     record (floor 5), malloc-safe
// Called:   by the hooks: on_allocate after the real allocation, free_recorded in place of the free
// Threads:  any, also in signal handlers, before main and after exit; no lock and no locked
//           instruction after a thread's first event
// Memory:   see the tables
//
// The order matters. The record is removed before the block is freed, because another thread may
// get the same address as soon as the real free has run. For the same reason the record is made
// after the block is allocated.
//
//     operator new    p = malloc(n); on_allocate(p, n)
//     operator delete free_recorded<free>(p): takes the record, then calls free(p)

#ifndef ALLOCSCOPE_RECORD_RECORDER_HPP
#define ALLOCSCOPE_RECORD_RECORDER_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/plain_value.hpp>
#include <allocscope/record/cohort_lookup.hpp>
#include <allocscope/record/consult_watches.hpp>
#include <allocscope/record/detailed_events.hpp>
#include <allocscope/record/enter_hook.hpp>
#include <allocscope/record/peak_tracking.hpp>
#include <allocscope/record/sample_records.hpp>
#include <allocscope/record/thread_lifecycle.hpp>
#include <allocscope/record/view_refresh.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/live_object_map.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// The hooks end with tail calls to the functions below, and these tail-call others. A function that
// is reached by tail calls has its frame at the address of the hook's own frame, with the same
// saved frame pointer in it. So a stack walk from `frame` finds what a walk in the hook would find.
#define ALLOCSCOPE_KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

// The frame of the hook into which this function is inlined. The frame holds the frame pointer of
// the hook's caller and the return address into that caller.
ALLOCSCOPE_FAST_PATH std::uintptr_t hook_frame() noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

// An address in that frame or right below it, for `busy`. With this address, a hook that does not
// need a frame for anything else does not have to set one up.
ALLOCSCOPE_FAST_PATH std::uintptr_t hook_mark() noexcept {
    std::uintptr_t mark;
    __asm__ volatile("leaq -8(%%rsp), %0" : "=r"(mark));
    return mark;
}

// --- death ---

// Counts a death in a cohort with details, or the thread's first death in a page of cohorts of
// another thread.
ALLOCSCOPE_SLOW_PATH void count_rare_death(thread_state& thread, cohort& born, std::uint32_t id,
                                           std::uint64_t bytes, const void* place) noexcept {
    take_from_live(thread, born.facts(), bytes);
    if (is_detailed(born)) {
        count_detailed_death(thread, born, id, bytes, place);
        return;
    }
    owned_events* counts = thread.foreign.for_writing(process.arena, process.foreign, id);
    if (counts == nullptr) {
        thread.lose(loss_reason::no_room_for_death);
        return;
    }
    counts->add(bytes);  // last: see count_death
}

// Counts the death of an object in its cohort. Its record has already been removed. `place` is the
// slot that held the record, or null when the slot is not known.
ALLOCSCOPE_FAST_PATH void count_death(thread_state& thread, cohort& born, std::uint32_t id,
                                      std::uint64_t bytes, const void* place) noexcept {
    const cohort_facts& facts = born.facts();
    owned_events* counts = &born.deaths;
    if (facts.owner.load(memory_order::relaxed) != thread.number) {
        counts = thread.foreign.existing(id);
        if (ALLOCSCOPE_UNLIKELY(counts == nullptr)) {
            count_rare_death(thread, born, id, bytes, place);
            return;
        }
    }
    take_from_live(thread, facts, bytes);
    counts->add(bytes);  // last: a cohort without live objects may be used again
}

// Takes the record of a dying object out of its slot and counts the death.
ALLOCSCOPE_NOINLINE void remove_record(thread_state& thread, live_object_map::slot* slot) noexcept {
    const std::uint64_t record = slot->load(memory_order::relaxed);
    if (live_object_map::session_of(record) != thread.session) return;
    const std::uint64_t bytes = live_object_map::bytes_of(slot, record);
    const std::uint32_t id = live_object_map::cohort_of(record);
    slot->store(0, memory_order::relaxed);
    count_death(thread, *process.cohorts.by_id(id), id, bytes, slot);
}

ALLOCSCOPE_NOINLINE void on_free_slow(void* block, std::uintptr_t frame) noexcept {
    thread_state* thread = enter(frame);
    if (thread == nullptr) return;
    if (may_be_sample(block)) remove_sample(*thread, block);
    live_object_map::slot* slot =
        process.objects.existing_slot(reinterpret_cast<std::uintptr_t>(block));
    if (slot != nullptr) remove_record(*thread, slot);
    leave(*thread);
    if (ALLOCSCOPE_UNLIKELY(has_watches())) tell_watch_of_free(frame);
}

// The caller has called enter(); this function calls leave().
template <void (*Release)(void*)>
ALLOCSCOPE_NOINLINE void remove_and_release(thread_state& thread, live_object_map::slot* slot,
                                            void* block) noexcept {
    remove_record(thread, slot);
    leave(thread);
    Release(block);
}

template <class Map>
ALLOCSCOPE_FAST_PATH bool has_record_in(Map& map, const void* block) noexcept {
    if (!map.is_ready()) return false;
    auto* slot = map.existing_slot(reinterpret_cast<std::uintptr_t>(block));
    return slot != nullptr && slot->load(memory_order::relaxed) != 0;
}

// Whether the free changes a table or must be reported to a guard. While samples are drawn, most
// blocks that begin at a page have no record, because the allocator hands out the address of a
// freed sample again and again.
ALLOCSCOPE_FAST_PATH bool concerns_anybody(const void* block) noexcept {
    return block != nullptr && (has_record_in(process.samples, block) ||
                                has_record_in(process.objects, block) || has_watches());
}

template <void (*Release)(void*)>
ALLOCSCOPE_NOINLINE void free_slowly(void* block, std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    if (concerns_anybody(block)) on_free_slow(block, frame);
    Release(block);
}

// Removes the record of the block, then calls the real free.
//
// The common case makes no call before the real free. Every other case is a tail call, so this
// function has no registers to save.
template <void (*Release)(void*)>
ALLOCSCOPE_FAST_PATH void free_recorded(void* block) noexcept {
    thread_entry* const entry = current_entry;
    if (ALLOCSCOPE_UNLIKELY(own_value(entry->busy) != 0 || may_be_sample(block))) {
        return free_slowly<Release>(block, hook_frame());
    }
    auto& thread = *static_cast<thread_state*>(entry);
    thread.busy.store(hook_mark(), memory_order::relaxed);
    compiler_barrier();
    if (ALLOCSCOPE_UNLIKELY(process.entry.word() != thread.view_number)) {
        thread.busy.store(0, memory_order::relaxed);
        return free_slowly<Release>(block, hook_frame());
    }
    live_object_map::slot* const slot =
        process.objects.existing_slot(reinterpret_cast<std::uintptr_t>(block));
    const std::uint64_t record =
        ALLOCSCOPE_LIKELY(slot != nullptr) ? slot->load(memory_order::relaxed) : 0;
    const std::uint64_t id = live_object_map::cohort_in_session(record, thread.session_head);
    if (ALLOCSCOPE_LIKELY(id <= live_object_map::last_cohort)) {
        cohort& born = *process.cohorts.by_id(static_cast<std::uint32_t>(id));
        const auto bytes = static_cast<std::int64_t>(live_object_map::short_bytes_of(record));
        static_assert(live_object_map::least_long_bytes > 2 * flush_bytes,
                      "a long record, whose size stands elsewhere, is caught by the last test");
        if (ALLOCSCOPE_UNLIKELY(born.facts().owner.load(memory_order::relaxed) != thread.number ||
                                born.facts().born_at.load(memory_order::relaxed) <
                                    thread.newest_window)) {
            return remove_and_release<Release>(thread, slot, block);
        }
        thread.bytes_above_floor -= bytes;
        if (ALLOCSCOPE_UNLIKELY(thread.bytes_above_floor < 0)) {
            compiler_barrier();  // so that the subtraction is one instruction
            thread.bytes_above_floor += bytes;
            return remove_and_release<Release>(thread, slot, block);
        }
        slot->store(0, memory_order::relaxed);
        born.deaths.add_in_two_steps(static_cast<std::uint64_t>(bytes));
        thread.bytes_below_peak += bytes;  // after the steps: see bytes_between_steps
    }
    leave(thread);
    Release(block);
}

// --- birth ---

// The old block was freed without our hooks; otherwise malloc could not return its address.
ALLOCSCOPE_SLOW_PATH void replace_record(thread_state& thread,
                                         live_object_map::slot* slot) noexcept {
    thread.lose(loss_reason::record_replaced);
    remove_record(thread, slot);
}

// Ends every case but the shortest. `id` is the cohort, or no_cohort when there is no memory for
// one.
ALLOCSCOPE_NOINLINE void* put_record_and_leave(thread_state& thread, void* block,
                                               std::uint64_t bytes, std::uint32_t id) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    live_object_map::slot* slot = process.objects.slot_for(address);
    if (slot != nullptr &&
        live_object_map::session_of(slot->load(memory_order::relaxed)) == thread.session) {
        replace_record(thread, slot);
    }
    if (slot == nullptr || id == no_cohort) {
        lose_object(thread, block, bytes);
        leave(thread);
        return block;
    }
    cohort& counters = *process.cohorts.by_id(id);
    if (is_detailed(counters)) note_birth(thread, counters, id, bytes, slot);
    counters.births.add(bytes);
    live_object_map::put(slot, address, live_object_map::record_head(thread.session, id), bytes);
    add_live_bytes(thread, bytes);
    leave(thread);
    return block;
}

// Records a birth in every case. The caller has called enter(); this function calls leave().
// Returns the block. `Tag` is the family of the hook: see tables/allocation_tags.hpp.
template <std::uint32_t Tag = allocation_tags::operator_new>
ALLOCSCOPE_NOINLINE void* record_and_leave(thread_state& thread, void* block, std::uint64_t bytes,
                                           std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    // The countdown let this allocation pass, or sampling began too late for it: see
    // record/sampler.hpp.
    if (thread.mode <= charge::samples) {
        leave(thread);
        return block;
    }
    std::uint32_t id = no_cohort;
    if (thread.mode == charge::numbers) {
        id = plain_cohort(thread, Tag);
    } else {
        if (thread.mode == charge::details) id = remembered_cohort(thread, frame, Tag);
        if (id == no_cohort) id = find_cohort<Tag>(thread, frame);
    }
    return put_record_and_leave(thread, block, bytes, id);
}

template <std::uint32_t Tag = allocation_tags::operator_new>
ALLOCSCOPE_NOINLINE void* on_allocate_slow(void* block, std::uint64_t bytes,
                                           std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    thread_state* thread = enter(frame);
    return thread == nullptr ? block : record_and_leave<Tag>(*thread, block, bytes, frame);
}

// Puts the record of a block into its slot and counts the birth.
ALLOCSCOPE_FAST_PATH void* count_birth_and_leave(thread_state& thread, void* block,
                                                 std::uint64_t bytes, std::uint64_t head,
                                                 cohort* counters) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    live_object_map::slot* const slot = process.objects.existing_slot(address);
    // A slot in use may hold a record of an earlier session.
    if (ALLOCSCOPE_UNLIKELY(slot == nullptr || own_value(*slot) != 0)) {
        return put_record_and_leave(thread, block, bytes, live_object_map::cohort_of(head));
    }
    thread.bytes_below_peak -= static_cast<std::int64_t>(bytes);
    if (ALLOCSCOPE_UNLIKELY(thread.bytes_below_peak < 0)) {
        compiler_barrier();  // so that the line above is one instruction
        const std::int64_t net = pending_bytes(thread) + static_cast<std::int64_t>(bytes);
        // This also covers every size that does not fit in a slot.
        if (net >= flush_bytes) {
            thread.bytes_below_peak += static_cast<std::int64_t>(bytes);
            return put_record_and_leave(thread, block, bytes, live_object_map::cohort_of(head));
        }
        thread.bytes_below_peak = 0;
        thread.pending_peak.store(net, memory_order::relaxed);
    }
    counters->births.add_in_two_steps(bytes);
    thread.bytes_above_floor += static_cast<std::int64_t>(bytes);  // after them, too
    live_object_map::put_short(slot, address, head, bytes);
    leave(thread);
    return block;
}

// The memo has a different stack for this frame and caller. This path is kept short, because a loop
// over changing data takes it for every other block.
template <std::uint32_t Tag = allocation_tags::operator_new>
ALLOCSCOPE_NOINLINE void* record_changed_and_leave(thread_state& thread, void* block,
                                                   std::uint64_t bytes, std::uintptr_t frame,
                                                   remembered_chain& memo) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    if (memo.frame != frame || memo.epoch != thread.epoch_serial) {
        return record_and_leave<Tag>(thread, block, bytes, frame);
    }
    // Fetched while the stack is looked up.
    __builtin_prefetch(process.objects.existing_slot(reinterpret_cast<std::uintptr_t>(block)), 1);
    const std::uint32_t id = find_changed<Tag>(thread, memo, frame);
    if (id == no_cohort) return put_record_and_leave(thread, block, bytes, id);
    return count_birth_and_leave(thread, block, bytes,
                                 thread.session_head | live_object_map::record_head(0, id),
                                 process.cohorts.by_id(id));
}

// Called after the real allocation. Returns the block.
//
// Like free_recorded, this function handles only the common case itself: the memo knows the stack,
// or no stack is wanted. Every other case is a tail call.
template <std::uint32_t Tag = allocation_tags::operator_new>
ALLOCSCOPE_FAST_PATH void* on_allocate(void* block, std::uint64_t bytes) noexcept {
    thread_entry* const entry = current_entry;
    if (ALLOCSCOPE_UNLIKELY(own_value(entry->busy) != 0)) {
        return on_allocate_slow<Tag>(block, bytes, hook_frame());
    }
    auto& thread = *static_cast<thread_state*>(entry);
    thread.busy.store(hook_frame(), memory_order::relaxed);
    compiler_barrier();
    if (ALLOCSCOPE_UNLIKELY(process.entry.word() != thread.straight_view)) {
        thread.busy.store(0, memory_order::relaxed);
        return on_allocate_slow<Tag>(block, bytes, hook_frame());
    }
    std::uint64_t head = thread.plain[Tag].record;
    cohort* counters = thread.plain[Tag].counters;
    if (counters == nullptr) {
        remembered_chain& memo = *thread.memo.entry_for(
            hook_frame(), read_stack_word(hook_frame() + sizeof(std::uintptr_t)));
        // The memo remembers only chains of this thread's own stack, so their addresses can be
        // read.
        if (ALLOCSCOPE_UNLIKELY(memo.epoch != thread.epoch_serial ||
                                !chain_memo::is_unchanged(memo, hook_frame()))) {
            return record_changed_and_leave<Tag>(thread, block, bytes, hook_frame(), memo);
        }
        head = memo.record;
        counters = static_cast<cohort*>(memo.counters);
    }
    return count_birth_and_leave(thread, block, bytes, head, counters);
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_RECORD_RECORDER_HPP
