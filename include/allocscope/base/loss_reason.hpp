// loss_reason.hpp - why an event was not recorded, or not completely.
//
// Room:     base (floor 0), malloc-safe
// Called:   by hooks, which count losses, and by reports, which name them
// Threads:  plain values
// Memory:   none
//
// snapshot/loss_sentences.hpp says each reason in a sentence, report/json_report.hpp by its name.

#ifndef ALLOCSCOPE_BASE_LOSS_REASON_HPP
#define ALLOCSCOPE_BASE_LOSS_REASON_HPP

#include <allocscope/config.hpp>

#include <cstdint>  // uint32_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

enum class loss_reason : std::uint32_t {
    no_memory_for_record,  // the object is not counted
    no_room_for_site,      // the object is counted, its place is not known
    no_room_for_death,     // the death of another thread's object is not counted
    too_deeply_nested,     // signal handlers inside signal handlers inside hooks
    record_replaced,       // a block was freed without our hooks, and its address was used again
    no_memory_for_thread,  // the thread has no state, so none of its events are recorded
    sample_not_recorded,   // counts what the lost samples stand for, not the samples
    hook_abandoned,        // a handler jumped out: the event is counted, in part or not at all
    no_room_for_peak,      // live bytes that peaks of windows without a mask bit miss
    torn_sums,             // _Fork() or the end of the process while another thread moved sums
    library_not_ready,     // allocations before the loader had relocated the preload library
    operators_of_others,   // counts allocators whose operator new `allocscope run` does not see
    address_too_high,      // the tables end at 2^47: the object is not counted
    torn_event,            // another thread was counting it at a fork or when a window began anew
    count
};

// Whether such an event is missing, in part or as a whole, in the counts of a window. The others
// are counted, if without their place or only later. Lost samples are missing in estimates only.
constexpr bool is_missing_in_counts(loss_reason reason, bool is_sampled) noexcept {
    const bool is_counted =
        reason == loss_reason::no_room_for_site || reason == loss_reason::record_replaced ||
        reason == loss_reason::operators_of_others || reason == loss_reason::count;
    return !is_counted && (is_sampled || reason != loss_reason::sample_not_recorded);
}

// The events of the losses, one number for each reason, that are missing in the counts.
constexpr std::uint64_t lost_events_in(const std::uint64_t* losses, bool is_sampled) noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(loss_reason::count); ++i) {
        if (is_missing_in_counts(static_cast<loss_reason>(i), is_sampled)) sum += losses[i];
    }
    return sum;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_LOSS_REASON_HPP
