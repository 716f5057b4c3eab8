// sampler.hpp - decides before an allocation whether it is sampled.
//
// Room:     record (floor 5), malloc-safe
// Called:   by the hooks, for each allocation and free while a window is open
// Threads:  any, also in signal handlers and forked children; each thread draws for itself
// Memory:   none of its own
//
// Each thread counts bytes down from a number that is drawn anew after each sample, so that every
// byte has the same chance, whichever object it is part of (sampling/sample_gap.hpp). An object
// counts 16 bytes more than the program requested (sampling/counted_bytes.hpp):
//
//     bytes_left   5000 | 4920 | 4840 | ... | 40     the next request of 64 is a sample
//     request        64     64     64         64
//
// A sampled block begins at a page, whichever allocator it comes from. So a free only checks
// whether its block begins at a page, and looks up the map of samples for the few blocks that do.
//
//     operator new    if (passes(n)) p = malloc(n)
//                     else { decide; p = a block at a page; on_decided(p, n) }
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

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// The alignment that a sample is allocated with when the program wants it aligned to `wanted`.
constexpr std::size_t alignment_of_sample(std::size_t wanted) noexcept {
    return wanted > sampled_alignment ? wanted : sampled_alignment;
}

// How many bytes are requested from the allocator for a sample. glibc maps a block afresh, and each
// page of it has to be faulted in, if it needs as much as the largest mapped block that was freed
// so far (128 KiB to 32 MiB: mallopt(3), M_MMAP_THRESHOLD), or more. To find a page in a block it
// needs up to two pages more than it remembers of such a block when that is freed, so it would map
// each of many blocks of equal size. So two pages more are requested until a sample of the size has
// been freed. For other allocators the size makes no difference.
constexpr std::uint64_t least_mapped_bytes = std::uint64_t{128} << 10U;
constexpr std::uint64_t longest_request = ~std::uint64_t{0} >> 1U;  // more is never granted
ALLOCSCOPE_INLINE std::uint64_t bytes_of_sample(std::uint64_t bytes) noexcept {
    if (bytes < least_mapped_bytes || bytes > longest_request) return bytes;
    const bool is_known = bytes <= process.longest_freed_sample.load(memory_order::relaxed);
    return is_known ? bytes : bytes + 2 * sampled_alignment;
}

// True: the allocation is not a sample and needs no record; it has been counted down. `word` is the
// gate's word. False: the caller asks draw_for().
ALLOCSCOPE_FAST_PATH bool passes(thread_entry* entry, std::uint64_t word,
                                 std::uint64_t bytes) noexcept {
    const std::uint64_t counted = bytes_to_count(bytes);
    // The countdown is read once and written once. A signal handler that allocates in between also
    // counts down; subtracting from what it has left could end below zero, and no sample would ever
    // follow. When two events count down at the same time, the later write wins. That causes no
    // bias, because the gap to the next sample is memoryless.
    if (ALLOCSCOPE_UNLIKELY(entry->view_number != word)) return false;
    std::uint64_t left = entry->bytes_left.load(memory_order::relaxed);
    if (ALLOCSCOPE_UNLIKELY(__builtin_sub_overflow(left, counted, &left))) return false;
    entry->bytes_left.store(left, memory_order::relaxed);
    return true;
}

// The decision about one allocation: it passes without being sampled, it is a sample, or it is not
// wanted, because no window is open any more or because it has been counted as lost.
enum class draw { passed, sample, not_wanted };

// Counts an allocation down. True: it is a sample. The caller has called enter(), and the thread is
// in mode `samples`.
inline bool is_drawn(thread_state& thread, std::uint64_t bytes) noexcept {
    const std::uint64_t counted = bytes_to_count(bytes);
    // The common states of ended threads belong to whichever thread works in them.
    const bool is_shared = current_entry == &departed;
    thread_state& primary = is_shared ? thread : thread.primary();
    const bool is_known = primary.view_number == thread.view_number;
    atomic<std::uint64_t>& countdown = (is_known ? primary : thread).bytes_left;
    const std::uint64_t left = countdown.load(memory_order::relaxed);
    const bool is_sample = counted > left;
    countdown.store(is_sample ? bytes_before_sample(thread) : left - counted,
                    memory_order::relaxed);
    return is_sample;
}

// Decides about one allocation, in every state of the thread. In a signal handler that interrupted
// a hook, the thread's own countdown decides and not the countdown of the state that the handler
// works in. passes() has already asked the thread's own countdown; with a second countdown, both
// would have to draw the allocation.
ALLOCSCOPE_SLOW_PATH draw draw_for(std::uint64_t bytes, std::uintptr_t frame) noexcept {
    thread_state* thread = enter(frame);
    if (thread == nullptr) return draw::not_wanted;
    const bool is_sample = thread->mode == charge::samples && is_drawn(*thread, bytes);
    leave(*thread);
    return is_sample ? draw::sample : draw::passed;
}

// Called after a block was allocated for a sample.
template <std::uint32_t Tag>
ALLOCSCOPE_SLOW_PATH void on_sampled(void* block, std::uint64_t bytes,
                                     std::uintptr_t frame) noexcept {
    thread_state* thread = enter(frame);
    if (thread == nullptr) return;
    // Windows may have opened or closed meanwhile.
    if (thread->mode != charge::samples) {
        record_and_leave<Tag>(*thread, block, bytes, frame);
        return;
    }
    if (may_be_sample(block)) {
        put_sample<Tag>(*thread, block, bytes, frame);
    } else {  // there was no memory for a block at a page
        lose_sample(*thread, block, bytes);
    }
    leave(*thread);
}

// Called after any block was allocated. `drawn` is the decision that was made before.
template <std::uint32_t Tag>
inline void on_decided(draw drawn, void* block, std::uint64_t bytes,
                       std::uintptr_t frame) noexcept {
    if (drawn == draw::sample) {
        on_sampled<Tag>(block, bytes, frame);
    } else if (drawn == draw::passed && (process.entry.word() & every_event) != 0) {
        on_allocate_slow<Tag>(block, bytes, frame);
    }
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_RECORD_SAMPLER_HPP
