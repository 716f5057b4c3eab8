// resized_object.hpp - realloc: the old object dies and a new one is born, or nothing happens.
//
// Room:     record (floor 5), malloc-safe
// Called:   by the hook of realloc: take_record before the real realloc, then one of the others
// Threads:  any, also in signal handlers
// Memory:   see the tables
//
// The record is taken before the real realloc, because another thread may be given the old address
// as soon as realloc has run. Nothing is counted yet: if realloc fails, the object lives on, and
// the same record is put back.
//
//     taken = take_record(p)
//     q = realloc(p, n)        null: put_back(taken, p)      else: on_resized(taken, q, n)
//
// While a record is taken, its cohort counts the object as alive. So the cohort is not used again
// meanwhile, and only the end of the session makes a taken record void.

#ifndef ALLOCSCOPE_RECORD_RESIZED_OBJECT_HPP
#define ALLOCSCOPE_RECORD_RESIZED_OBJECT_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/record/enter_hook.hpp>
#include <allocscope/record/recorder.hpp>
#include <allocscope/record/sample_records.hpp>
#include <allocscope/record/sampler.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/live_object_map.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// What the slot of a block held. 0: the block had no record.
struct taken_record {
    std::uint64_t of_event = 0;   // in process.objects
    std::uint64_t of_sample = 0;  // in process.samples
    std::uint64_t bytes = 0;
    const void* slot = nullptr;
    std::uint32_t session = 0;
    std::uint32_t tables = 0;

    bool is_any() const noexcept { return (of_event | of_sample) != 0; }
    bool is_of_session_of(const thread_state& thread) const noexcept {
        return is_any() && session == thread.session && tables == thread.tables;
    }
};

// Empties the slot of a block. Returns its record, or 0 when the block has none of this session.
template <class Map>
inline std::uint64_t take_out_of(Map& map, const thread_state& thread, std::uintptr_t address,
                                 std::uint64_t& bytes) noexcept {
    auto* slot = map.is_ready() ? map.existing_slot(address) : nullptr;
    if (slot == nullptr) return 0;
    const std::uint64_t record = slot->load(memory_order::relaxed);
    if (Map::session_of(record) != thread.session) return 0;
    bytes = Map::bytes_of(slot, record);
    slot->store(0, memory_order::relaxed);
    return record;
}

ALLOCSCOPE_NOINLINE taken_record take_record(const void* block, std::uintptr_t frame) noexcept {
    taken_record taken;
    thread_state* thread = enter(frame);
    if (thread == nullptr) return taken;
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    if (may_be_sample(block)) {
        taken.of_sample = take_out_of(process.samples, *thread, address, taken.bytes);
    }
    if (taken.of_sample == 0) {
        taken.of_event = take_out_of(process.objects, *thread, address, taken.bytes);
        taken.slot = process.objects.existing_slot(address);
    }
    taken.session = thread->session;
    taken.tables = thread->tables;
    leave(*thread);
    return taken;
}

// Called when the block was not resized. A size that is stored in the next slot is still there.
ALLOCSCOPE_NOINLINE void put_back(const taken_record& taken, const void* block,
                                  std::uintptr_t frame) noexcept {
    if (!taken.is_any()) return;
    thread_state* thread = enter(frame);
    if (thread == nullptr) return;
    if (taken.is_of_session_of(*thread)) {
        const auto address = reinterpret_cast<std::uintptr_t>(block);
        if (taken.of_sample != 0) {
            process.samples.existing_slot(address)->store(taken.of_sample, memory_order::relaxed);
        } else {
            process.objects.existing_slot(address)->store(taken.of_event, memory_order::relaxed);
        }
    }
    leave(*thread);
}

inline void count_death_of(thread_state& thread, const taken_record& taken) noexcept {
    if (taken.of_sample != 0) {
        count_sample_death(thread, sampled_object_map::cohort_of(taken.of_sample), taken.bytes);
        return;
    }
    const std::uint32_t id = live_object_map::cohort_of(taken.of_event);
    count_death(thread, *process.cohorts.by_id(id), id, taken.bytes, taken.slot);
}

// Called when the old object is gone. `block` is the new one, or null when there is none. `drawn`
// is the decision about the new one.
ALLOCSCOPE_NOINLINE void on_resized(const taken_record& taken, void* block, std::uint64_t bytes,
                                    std::uintptr_t frame, draw drawn) noexcept {
    const bool is_born = block != nullptr && drawn != draw::not_wanted;
    if (!is_born && !taken.is_any()) return;
    thread_state* thread = enter(frame);
    if (thread == nullptr) return;
    if (taken.is_of_session_of(*thread)) count_death_of(*thread, taken);
    if (!is_born) {
        leave(*thread);
    } else if (drawn == draw::sample && thread->mode == charge::samples) {
        if (may_be_sample(block)) {
            put_sample<allocation_tags::malloc_family>(*thread, block, bytes, frame);
        } else {  // there was no memory for a block at a page
            lose_sample(*thread, block, bytes);
        }
        leave(*thread);
    } else {
        record_and_leave<allocation_tags::malloc_family>(*thread, block, bytes, frame);
    }
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_RECORD_RESIZED_OBJECT_HPP
