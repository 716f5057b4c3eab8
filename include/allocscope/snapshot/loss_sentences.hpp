// loss_sentences.hpp - says in a sentence what was not recorded.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   when a snapshot is made, and by a report that gives losses their names
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
#include <cstring>  // strcmp

ALLOCSCOPE_COLD_BEGIN

namespace detail {

struct loss_words {
    const char* name;      // in JSON; never changed
    const char* sentence;  // behind the number of times that it happened
};

// In the order of loss_reason.
ALLOCSCOPE_HIDDEN inline constexpr loss_words words_of_losses[] = {
    {"no_memory_for_record", "allocations were not recorded: memory for their records was refused"},
    {"no_room_for_site", "allocations were counted without their place: no room for more stacks"},
    {"no_room_for_death", "frees by another thread were not counted: memory for them was refused"},
    {"too_deeply_nested", "events in signal handlers were not recorded: nested too deeply"},
    {"record_replaced",
     "blocks were freed without operator delete, or by a pool without a report:"
     " noticed when their address was used again"},
    {"no_memory_for_thread",
     "events were not recorded: memory for the state of their thread was refused"},
    {"sample_not_recorded",
     "allocations (estimated) are missing in the estimates: memory for the records of"
     " their samples was refused"},
    {"hook_abandoned", "events may be missing: a signal handler jumped out of their recording"},
    {"no_room_for_peak",
     "changes are missing in the peaks of windows above the 64th: memory for them was"
     " refused"},
    {"torn_sums",
     "time the process was forked without its handlers (_Fork), or was killed, while"
     " another thread moved sums: earlier numbers may be wrong"},
    {"library_not_ready",
     "allocations were not recorded: they came before the loader had made the"
     " preloaded library ready"},
    {"operators_of_others",
     "allocators have an operator new of their own, and calls of it could not be"
     " changed: objects for which it does not call malloc may be missing"},
    {"address_too_high", "allocations were not recorded: their addresses are not below 2^47"},
    {"torn_event",
     "events were just being counted by other threads when the process was forked:"
     " their objects or their bytes may be missing"},
};
static_assert(sizeof words_of_losses / sizeof words_of_losses[0] ==
                  static_cast<std::size_t>(loss_reason::count),
              "words for each reason");

// The reason that has this sentence; loss_reason::count if none has, as in a file that another
// version has saved.
inline loss_reason reason_of(const snapshot::loss& loss) noexcept {
    std::uint32_t number = 0;
    const auto count = static_cast<std::uint32_t>(loss_reason::count);
    while (number < count && std::strcmp(loss.reason, words_of_losses[number].sentence) != 0) {
        ++number;
    }
    return static_cast<loss_reason>(number);
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
