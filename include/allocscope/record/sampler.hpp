// sampler.hpp - which allocations are sampled, decided before there is a block.
//
// Room:     record (floor 5), malloc-safe
// Called:   by the hooks, for each allocation and free while a window is open
// Threads:  any, also in signal handlers and forked children; each thread draws for itself
// Memory:   none of its own
//
// Each thread counts bytes down from a number that is drawn anew after each sample, so that every
// byte has the same chance, whatever it is part of (sampling/sample_gap.hpp). An object counts 16
// bytes more than were requested (sampling/counted_bytes.hpp):
//
//     bytes_left   5000 | 4920 | 4840 | ... | 40     the next request of 64 is a sample
//     request        64     64     64         64
//
// A sampled block is allocated at the beginning of a page, whatever the allocator. So a free asks
// only whether the block begins at a page; for the few that do, the map of samples is looked up.
//
//     operator new    if (passes(n)) p = malloc(n)
//                     else { decide; p = a block at a page; on_sampled(p, n) }
//     operator delete may_be_sample(p) ? free_recorded<free>(p) : free(p)

#ifndef ALLOCSCOPE_RECORD_SAMPLER_HPP
#define ALLOCSCOPE_RECORD_SAMPLER_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/record/enter_hook.hpp>
#include <allocscope/record/recorder.hpp>
#include <allocscope/record/sample_records.hpp>
#include <allocscope/record/view_refresh.hpp>
#include <allocscope/sampling/counted_bytes.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/live_object_map.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, uintptr_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The alignment asked of the allocator for a sample that the program wants aligned to `wanted`.
constexpr std::size_t alignment_of_sample(std::size_t wanted) noexcept {
    return wanted > sampled_alignment ? wanted : sampled_alignment;
}

// How many bytes are asked of the allocator for a sample. Large sizes are rounded up to 56 bytes
// less than whole pages, because of glibc. It maps a block afresh, so that each page has to be
// faulted in, when it needs more for an aligned block than the largest block that it has unmapped
// so far (128 KiB to 32 MiB: mallopt(3), M_MMAP_THRESHOLD). Of a mapped block that begins at a page
// it remembers the size less 4080 bytes; for the next one it needs 4144 bytes more than asked. So
// each of many blocks of equal size would be mapped, unless the rounding of the mapping itself
// leaves nearly a page over, as it does with this size. To other allocators it is a size like any
// other.
constexpr std::uint64_t least_mapped_bytes = std::uint64_t{128} << 10U;
constexpr std::uint64_t longest_request = ~std::uint64_t{0} >> 1U;  // more is never granted
constexpr std::uint64_t bytes_of_sample(std::uint64_t bytes) noexcept {
    if (bytes < least_mapped_bytes || bytes > longest_request) return bytes;
    return ((bytes + 55U) | (sampled_alignment - 1U)) - 55U;
}

// Whether the allocation is no sample and needs no record: counted down, and done with. `word` is
// the gate's. False: ask draw_for().
ALLOCSCOPE_FAST_PATH bool passes(thread_entry* entry, std::uint64_t word,
                                 std::uint64_t bytes) noexcept {
    const std::uint64_t counted = bytes_to_count(bytes);
    // Read once and written once. A signal handler that allocates in between counts down, too;
    // subtracting from what it has left could end below zero, and no sample would ever follow. Of
    // two that count at the same time the later one stands. That is no bias, because the time to
    // the next sample has no memory.
    const std::uint64_t left = entry->bytes_left.load(memory_order::relaxed);
    if (ALLOCSCOPE_UNLIKELY(entry->view_number != word || counted >= left)) return false;
    entry->bytes_left.store(left - counted, memory_order::relaxed);
    return true;
}

// What became of one allocation: it met no sample, it is one, or nobody asks for it, because no
// window is open any more or because it was told as lost.
enum class draw { passed, sample, not_wanted };

// Counts an allocation down. True: it is a sample. The thread has entered and is in mode `samples`.
inline bool is_drawn(thread_state& thread, std::uint64_t bytes) noexcept {
    const std::uint64_t counted = bytes_to_count(bytes);
    // The common states of ended threads belong to whoever is in them.
    const bool is_shared = current_entry == &departed;
    thread_state& primary = is_shared ? thread : thread.primary();
    const bool is_known = primary.view_number == thread.view_number;
    atomic<std::uint64_t>& countdown = (is_known ? primary : thread).bytes_left;
    const std::uint64_t left = countdown.load(memory_order::relaxed);
    const bool is_sample = counted >= left;
    countdown.store(is_sample ? next_gap(thread) : left - counted, memory_order::relaxed);
    return is_sample;
}

// Decides about one allocation, in every case. In a signal handler that interrupted a hook it is
// still the thread's own countdown that decides, not that of the state the handler works with:
// passes() asked it already, and two dice would have to fall.
ALLOCSCOPE_NOINLINE draw draw_for(std::uint64_t bytes, std::uintptr_t frame) noexcept {
    thread_state* thread = enter(frame);
    if (thread == nullptr) return draw::not_wanted;
    const bool is_sample = thread->mode == charge::samples && is_drawn(*thread, bytes);
    leave(*thread);
    return is_sample ? draw::sample : draw::passed;
}

// Called after a block at a page was allocated for a sample.
template <std::uint32_t Tag = allocation_tags::operator_new>
ALLOCSCOPE_NOINLINE void on_sampled(void* block, std::uint64_t bytes,
                                    std::uintptr_t frame) noexcept {
    thread_state* thread = enter(frame);
    if (thread == nullptr) return;
    // Windows may have opened or closed meanwhile.
    if (thread->mode != charge::samples) {
        record_and_leave<Tag>(*thread, block, bytes, frame);
        return;
    }
    put_sample<Tag>(*thread, block, bytes, frame);
    leave(*thread);
}

// Called when there was no memory for a block at a page; the object gets no record.
ALLOCSCOPE_NOINLINE void on_sample_refused(std::uint64_t bytes, std::uintptr_t frame) noexcept {
    thread_state* thread = enter(frame);
    if (thread == nullptr) return;
    // Where the windows want every event by now, it is recorded like one.
    if (thread->mode == charge::samples) lose_sample(*thread, bytes);
    leave(*thread);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_RECORD_SAMPLER_HPP
