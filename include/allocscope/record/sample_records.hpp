// sample_records.hpp - what a sample adds to the tables, and takes away when it is freed.
//
// Room:     record (floor 5), malloc-safe
// Called:   for each sampled allocation, and for each free of a block that begins at a page
// Threads:  any; a thread other than the one that allocated a sample may free it
// Memory:   in the tables: 8 bytes for each page of heap that sampled blocks touch
//
// The weight of a sample is the number of objects and bytes that it stands for, when one sample is
// taken in `sample_bytes` bytes on average (sampling/sample_weight.hpp). Its death subtracts
// exactly what its birth added, because both are computed from the same two numbers.

#ifndef ALLOCSCOPE_RECORD_SAMPLE_RECORDS_HPP
#define ALLOCSCOPE_RECORD_SAMPLE_RECORDS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/record/cohort_lookup.hpp>
#include <allocscope/record/peak_tracking.hpp>
#include <allocscope/sampling/own_arithmetic.hpp>
#include <allocscope/sampling/sample_sums.hpp>
#include <allocscope/sampling/sample_weight.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/cohort_table.hpp>
#include <allocscope/tables/live_object_map.hpp>

#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The only check that the free of an unsampled block has to make.
ALLOCSCOPE_INLINE bool may_be_sample(const void* block) noexcept {
    return (reinterpret_cast<std::uintptr_t>(block) & (sampled_alignment - 1U)) == 0;
}

// glibc takes no notice of the free of a block of more than 32 MiB, see bytes_of_sample().
constexpr std::uint64_t longest_remembered = (std::uint64_t{32} << 20U) - 4 * sampled_alignment;

inline void add_to(atomic<double>& sum, double amount) noexcept {
    double seen = sum.load(memory_order::relaxed);
    while (!sum.compare_exchange_weak(seen, seen + amount, memory_order::relaxed)) {
    }
}

ALLOCSCOPE_INLINE void add_weight(sampled_part::sums& to, const sample_weight& weight) noexcept {
    add_to(to.objects, weight.objects);
    add_to(to.objects_variance, weight.objects_variance);
    add_to(to.bytes_variance, weight.bytes_variance);
    add_to(to.objects_skew, weight.objects_skew);
    add_to(to.bytes_skew, weight.bytes_skew);
}

// The bytes that a sample stands for are rounded, so that sums of them are exact.
inline std::uint64_t whole_bytes(const sample_weight& weight) noexcept {
    return whole_number(weight.bytes + 0.5);
}

ALLOCSCOPE_INLINE sample_weight weight_in(const sampled_part& part, std::uint64_t bytes) noexcept {
    return weigh_sample(bytes, part.sample_bytes.load(memory_order::relaxed));
}

// Called for an object that gets no record.
ALLOCSCOPE_SLOW_PATH void lose_object(thread_state& thread, const void* block,
                                      std::uint64_t bytes) noexcept {
    thread.lose(is_too_high(reinterpret_cast<std::uintptr_t>(block), bytes)
                    ? loss_reason::address_too_high
                    : loss_reason::no_memory_for_record);
}

// Called for a sample that gets no record. Counts the objects that it stands for as lost.
ALLOCSCOPE_SLOW_PATH void lose_sample(thread_state& thread, const void* block,
                                      std::uint64_t bytes) noexcept {
    const own_arithmetic own;
    const double objects = weigh_sample(own.within(bytes), thread.sample_bytes).objects;
    thread.lose(is_too_high(reinterpret_cast<std::uintptr_t>(block), bytes)
                    ? loss_reason::address_too_high
                    : loss_reason::sample_not_recorded,
                whole_number(objects + 0.5));
}

// Lives while a thread changes the sums of a cohort, one after the other. A reader that sees this
// does not believe what it reads meanwhile.
class sums_in_steps {
public:
    ALLOCSCOPE_INLINE sums_in_steps(thread_state& thread, const sample_weight& weight) noexcept
        : of_(thread.unfinished) {
        of_.bytes.store(whole_bytes(weight), memory_order::relaxed);
        of_.objects.store(whole_number(weight.objects + 0.5), memory_order::relaxed);
        atomic_thread_fence(memory_order::release);
    }
    ALLOCSCOPE_INLINE ~sums_in_steps() { of_.objects.store(0, memory_order::release); }
    sums_in_steps(const sums_in_steps&) = delete;
    sums_in_steps& operator=(const sums_in_steps&) = delete;

private:
    sample_in_steps& of_;
};

// Counts the death of a sample whose record has been removed.
ALLOCSCOPE_NOINLINE void count_sample_death(thread_state& thread, std::uint32_t id,
                                            std::uint64_t sampled_bytes) noexcept {
    sampled_part& part = *process.cohorts.sampled_part_of(id);
    const own_arithmetic own;
    const sample_weight weight = weight_in(part, own.within(sampled_bytes));
    const std::uint64_t bytes = whole_bytes(weight);
    cohort& born = *process.cohorts.by_id(id);
    take_from_live(thread, born.facts(), bytes);
    const sums_in_steps guard{thread, weight};
    add_weight(part.deaths, weight);
    born.deaths.add_shared(bytes);  // last: a cohort without live objects may be used again
}

inline void count_sample_birth(thread_state& thread, std::uint32_t id,
                               std::uint64_t sampled_bytes) noexcept {
    sampled_part& part = *process.cohorts.sampled_part_of(id);
    const own_arithmetic own;
    const sample_weight weight = weight_in(part, own.within(sampled_bytes));
    cohort& counters = *process.cohorts.by_id(id);
    {
        const sums_in_steps guard{thread, weight};
        counters.births.add(whole_bytes(weight));
        add_weight(part.births, weight);
    }
    add_live_bytes(thread, whole_bytes(weight));
}

// Removes the record of a dying sampled block from its slot and counts the death. Does nothing when
// the block was not sampled.
ALLOCSCOPE_NOINLINE void remove_sample(thread_state& thread, const void* block) noexcept {
    if (!process.samples.is_ready()) return;
    auto* slot = process.samples.existing_slot(reinterpret_cast<std::uintptr_t>(block));
    if (slot == nullptr) return;
    const std::uint64_t record = slot->load(memory_order::relaxed);
    if (sampled_object_map::session_of(record) != thread.session) return;
    const std::uint64_t bytes = sampled_object_map::bytes_of(slot, record);
    slot->store(0, memory_order::relaxed);
    if (bytes > process.longest_freed_sample.load(memory_order::relaxed) &&
        bytes < longest_remembered) {
        process.longest_freed_sample.store(bytes, memory_order::relaxed);
    }
    count_sample_death(thread, sampled_object_map::cohort_of(record), bytes);
}

// The caller has called enter(), and the thread is in mode `samples`.
template <std::uint32_t Tag = allocation_tags::operator_new>
ALLOCSCOPE_NOINLINE void put_sample(thread_state& thread, const void* block, std::uint64_t bytes,
                                    std::uintptr_t frame) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    auto* slot = process.samples.slot_for(address);
    if (slot != nullptr &&
        sampled_object_map::session_of(slot->load(memory_order::relaxed)) == thread.session) {
        thread.lose(loss_reason::record_replaced);
        remove_sample(thread, block);
    }
    const std::uint32_t id = find_cohort<Tag>(thread, frame);
    if (slot == nullptr || id == no_cohort) {
        lose_sample(thread, block, bytes);
        return;
    }
    sampled_object_map::put(slot, address, sampled_object_map::record_head(thread.session, id),
                            bytes);
    count_sample_birth(thread, id, bytes);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_RECORD_SAMPLE_RECORDS_HPP
