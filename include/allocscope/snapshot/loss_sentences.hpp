// loss_sentences.hpp - says in a sentence what was not recorded.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   when a snapshot is made, and by reports, which name the losses
// Threads:  any
// Memory:   none

#ifndef ALLOCSCOPE_SNAPSHOT_LOSS_SENTENCES_HPP
#define ALLOCSCOPE_SNAPSHOT_LOSS_SENTENCES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/loss_reason.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

struct loss_words {
    const char* name;      // in JSON; never changed
    const char* one;       // behind the number 1
    const char* sentence;  // behind every other number of times that it happened
};

// In the order of loss_reason.
ALLOCSCOPE_HIDDEN inline constexpr loss_words words_of_losses[] = {
    {"no_memory_for_record", "allocation was not recorded: memory for its record was refused",
     "allocations were not recorded: memory for their records was refused"},
    {"no_room_for_site", "allocation was counted without its place: no room for more stacks",
     "allocations were counted without their place: no room for more stacks"},
    {"no_room_for_death", "free by another thread was not counted: memory for it was refused",
     "frees by another thread were not counted: memory for them was refused"},
    {"too_deeply_nested", "event in a signal handler was not recorded: nested too deeply",
     "events in signal handlers were not recorded: nested too deeply"},
    {"record_replaced",
     "block was freed without operator delete, or by a pool without a report:"
     " noticed when its address was used again",
     "blocks were freed without operator delete, or by a pool without a report:"
     " noticed when their address was used again"},
    {"no_memory_for_thread",
     "event was not recorded: memory for the state of its thread was refused",
     "events were not recorded: memory for the state of their thread was refused"},
    {"sample_not_recorded",
     "allocation (estimated) is missing in the estimates: memory for the record of"
     " its sample was refused",
     "allocations (estimated) are missing in the estimates: memory for the records of"
     " their samples was refused"},
    {"hook_abandoned", "event may be missing: a signal handler jumped out of its recording",
     "events may be missing: a signal handler jumped out of their recording"},
    {"no_room_for_peak",
     "change is missing in the peaks of windows above the 64th: memory for it was refused",
     "changes are missing in the peaks of windows above the 64th: memory for them was"
     " refused"},
    {"torn_sums",
     "time the process was forked without its handlers (_Fork), or was killed, while"
     " another thread moved sums: earlier numbers may be wrong",
     "times the process was forked without its handlers (_Fork), or was killed, while"
     " another thread moved sums: earlier numbers may be wrong"},
    {"library_not_ready",
     "allocation was not recorded: it came before the loader had made the"
     " preloaded library ready",
     "allocations were not recorded: they came before the loader had made the"
     " preloaded library ready"},
    {"operators_of_others",
     "allocator has an operator new of its own, and calls of it could not be"
     " changed: objects for which it does not call malloc may be missing",
     "allocators have an operator new of their own, and calls of it could not be"
     " changed: objects for which it does not call malloc may be missing"},
    {"address_too_high", "allocation was not recorded: its address is not below 2^47",
     "allocations were not recorded: their addresses are not below 2^47"},
    {"torn_event",
     "event was just being counted by another thread when the process was forked or a window"
     " began anew: its object or its bytes may be missing",
     "events were just being counted by other threads when the process was forked or a window"
     " began anew: their objects or their bytes may be missing"},
};
static_assert(sizeof words_of_losses / sizeof words_of_losses[0] ==
                  static_cast<std::size_t>(loss_reason::count),
              "words for each reason");

// The reason that has this sentence; loss_reason::count if none has, as in a file that another
// version has saved.
inline loss_reason reason_of(const snapshot::loss& loss) noexcept {
    std::uint32_t number = 0;
    const auto count = static_cast<std::uint32_t>(loss_reason::count);
    while (number < count && __builtin_strcmp(loss.reason, words_of_losses[number].sentence) != 0) {
        ++number;
    }
    return static_cast<loss_reason>(number);
}

// What a report writes behind the number.
inline const char* sentence_of(const snapshot::loss& loss) noexcept {
    const loss_reason reason = reason_of(loss);
    return loss.count == 1 && reason != loss_reason::count
               ? words_of_losses[static_cast<std::uint32_t>(reason)].one
               : loss.reason;
}

// For totals that were not read from a window: allocation_counts::lost_events.
inline std::uint64_t lost_events_of(const snapshot::window_info& info) noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        const bool is_missing =
            is_missing_in_counts(reason_of(info.losses[i]), info.record == recording::sampled);
        if (is_missing) sum += info.losses[i].count;
    }
    return sum;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SNAPSHOT_LOSS_SENTENCES_HPP
