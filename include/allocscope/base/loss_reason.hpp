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
    torn_event,            // in a child: fork() while another thread was counting an event
    count
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_LOSS_REASON_HPP
