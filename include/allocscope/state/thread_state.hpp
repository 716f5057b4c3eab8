// thread_state.hpp - all that one thread knows and counts.
//
// Room:     state (floor 4), malloc-safe
// Called:   by every hook of its thread
// Threads:  written by its thread only, but for the fields marked "control lock"; the atomic fields
//           may be read by any thread
// Memory:   about 20 KiB for each thread alive at the same time, plus its caches; outlives the
//           thread and is reused by a later one
//
// `busy` is the address of the hook's frame while a hook of this thread works on the state. A hook
// that finds it set runs in a signal handler that interrupted another hook. It takes the `nested`
// state instead, so every counter still has one writer at a time.

#ifndef ALLOCSCOPE_STATE_THREAD_STATE_HPP
#define ALLOCSCOPE_STATE_THREAD_STATE_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/loss_reason.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/base/owned_counter.hpp>
#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/sampling/random_source.hpp>
#include <allocscope/state/epoch.hpp>
#include <allocscope/state/gate.hpp>
#include <allocscope/state/reading_question.hpp>
#include <allocscope/state/window_table.hpp>
#include <allocscope/tables/cohort_of_site.hpp>
#include <allocscope/tables/cohort_table.hpp>
#include <allocscope/tables/foreign_deaths.hpp>
#include <allocscope/unwind/chain_memo.hpp>
#include <allocscope/unwind/rule_cache.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <cstdint>  // int64_t, uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_MILD_BEGIN

namespace detail {

// What one thread added to one window's live bytes, and the highest total that it saw there.
struct window_share {
    atomic<std::uint64_t> opened_at;  // tells to which window of the slot this share belongs
    atomic<std::int64_t> live_bytes;  // negative if the thread frees what others allocated
    atomic<std::int64_t> peak_bytes;
    std::uint64_t reserved;
};

// What a thread added to the live bytes between two boundaries, and the highest value in between.
struct unsettled_bytes {
    atomic<std::uint64_t> clock;  // boundary clock of its view at that time
    atomic<std::int64_t> net;
    atomic<std::int64_t> highest;
};

// The shares of a thread in windows without a mask bit. There may be many such windows. So a
// boundary only notes the change, and each window gets the changes of many boundaries at once.
struct unmasked_shares {
    static constexpr std::uint32_t most_unsettled = 1024;

    atomic<std::uint32_t> settlings;  // odd: the windows are being told the unsettled bytes
    atomic<std::uint32_t> count;
    std::int64_t net;  // of all unsettled entries
    unsettled_bytes unsettled[most_unsettled];
    window_share shares[window_table::most_windows];  // by slot
};

// What the windows that watch this one thread want, taken together.
struct own_demand {
    window_demand demand;               // control lock
    atomic<std::uint64_t> instance{0};  // of the thread that they watch
    atomic<std::uint32_t> count{0};
    atomic<std::uint64_t> windows{0};  // slots 0..63
    atomic<charge> mode{charge::nothing};
    atomic<std::uint32_t> frames{0};
    atomic<unwinding_set> methods{0};
    atomic<std::uint64_t> sample_bytes{0};
};

// How many live bytes a thread may add or take away before it tells the other threads.
constexpr std::int64_t flush_bytes = 64 * 1024;

constexpr std::uint64_t never_sampled = ~std::uint64_t{0};

// False: no loss was ever counted, so nobody has to look at the losses of each thread.
ALLOCSCOPE_HIDDEN inline atomic<bool> is_anything_lost{false};

// What a hook looks at first. A thread without a state has an entry that is always busy, so that
// the usual path of a hook needs only one test.
struct alignas(64) thread_entry {
    atomic<std::uintptr_t> busy{0};
    std::uint64_t view_number = no_view;  // no_view: read the view before anything else
    // Equal to view_number while each allocation of the thread is recorded and on_allocate may be
    // called at once; otherwise no_view.
    std::uint64_t straight_view = no_view;
    // Bytes before the next one that is sampled. A request of more bytes is a sample; another one
    // is subtracted. never_sampled: this thread is not sampled.
    atomic<std::uint64_t> bytes_left{never_sampled};
};

// Where a thread counts objects whose stacks are not wanted.
struct plain_place {
    std::uint64_t record = 0;     // head of the records of the cohort
    cohort* counters = nullptr;   // of the cohort; null: not known, or stacks are wanted
    std::uint32_t cohort_id = 0;  // in this epoch; 0: none yet
};

// A sample that a thread is counting in several steps, and what it stands for.
struct sample_in_steps {
    atomic<std::uint64_t> objects{0};  // 0: no sample is being counted
    atomic<std::uint64_t> bytes{0};
};

struct thread_state : thread_entry {
    void forget_plain_places() noexcept {
        for (plain_place& each : plain) each = {};
    }
    // Makes the next event read the view anew.
    ALLOCSCOPE_INLINE void forget_view() noexcept {
        view_number = no_view;
        straight_view = no_view;
    }

    // --- every event ---
    charge mode = charge::nothing;
    std::uint32_t epoch_serial = no_epoch;
    std::uint32_t number = 0;  // of this state; never 0
    std::uint32_t session = 0;
    std::uint64_t session_head = 0;   // what the records of this session begin with
    plain_place plain[2];             // by tag: allocation_tags::operator_new, malloc_family
    std::uint64_t newest_window = 0;  // latest opened_at of the windows that watch
    std::uint64_t windows = 0;        // slots 0..63 that watch this thread
    // The live bytes that no share knows yet, and the most they were since the last flush. Both are
    // stored as the distance to the next action, so that an event changes each with one instruction
    // and checks the sign.
    std::int64_t bytes_below_peak = 0;                 // less than 0: there is a new peak
    std::int64_t bytes_above_floor = flush_bytes - 1;  // less than 0: a flush is due
    atomic<std::int64_t> pending_peak{0};
    chain_memo memo;
    stack_bounds bounds;

    // --- at boundaries and for new stacks ---
    std::uint32_t frames = 0;             // how many return addresses to keep
    bool has_unoptimised_stacks = false;  // has met stacks with more: unoptimised_frames()
    unwinding method = unwinding::automatic;
    std::uint32_t many_windows = 0;  // windows without a mask bit are open
    std::uint32_t tables = 0;        // generation of the tables the caches belong to
    std::uint32_t pause_depth = 0;
    std::uint64_t sample_bytes = 0;  // mean bytes between samples; 0: not sampled
    random_source dice{};
    bool has_dice = false;
    atomic<std::uint64_t> clock{0};  // boundary clock of the view
    atomic<std::uint64_t> instance{0};
    atomic<epoch*> newest_epoch{nullptr};
    bool is_epoch_current = false;  // newest_epoch is of this view and this thread
    // The cohort of the tag that was last asked for without a stack, and the epoch for which it is
    // valid.
    std::uint32_t tagged_cohort = 0;
    std::uint32_t tagged_cohort_tag = 0;
    std::uint32_t tagged_cohort_epoch = no_epoch;
    std::uint32_t next_cohort = 0;    // in the page that is being filled; 0: there is none
    std::uint32_t next_detailed = 0;  // likewise, of cohorts with details
    const void* last_born = nullptr;  // with details: where the record of the newest object lies
    cohort_of_site cohorts;
    foreign_deaths foreign;
    rule_cache rules;
    walked_stack scratch{};  // saves a hook 6 KiB of the program's stack

    // --- control lock, or the list ---
    atomic<std::uint64_t> own_clock{0};         // of the last boundary of an own window
    atomic<std::uint32_t> returned_cohorts{0};  // reclaimed: list through cohort::next
    atomic<std::uint32_t> returned_sampled{0};  // likewise, of sampled cohorts
    atomic<std::uint32_t> returned_detailed{0};
    atomic<epoch*> returned_epochs{nullptr};  // reclaimed: list through epoch::older
    atomic<bool> is_taken{false};
    thread_state* next_state = nullptr;            // in the list of all; set once
    atomic<thread_state*> primary_state{nullptr};  // this, or whose nested state this is
    atomic<thread_state*> nested{nullptr};
    std::uint32_t end_rounds = 0;
    atomic<std::int32_t> thread_id{0};  // of a thread that ends without a call; otherwise 0
    atomic<std::int32_t> task{0};       // the kernel's id of the thread; 0: not known

    reading_question question;   // walking lock and this thread
    sample_in_steps unfinished;  // this thread; read by any

    owned_counter losses[static_cast<std::uint32_t>(loss_reason::count)];
    owned_counter new_cohorts;  // how many were ever made

    window_share shares[window_table::masked_windows] = {};
    atomic<unmasked_shares*> more_shares{nullptr};
    own_demand own;

    // Makes the memo; it has no chains then. Returns false when there is no memory.
    bool prepare_memo() noexcept { return memo.prepare(memo_frames(), method); }
    std::uint32_t memo_frames() const noexcept {
        return has_unoptimised_stacks ? unoptimised_frames(frames) : frames;
    }
    ALLOCSCOPE_INLINE thread_state& primary() const noexcept {
        return *primary_state.load(memory_order::relaxed);
    }
    // May also be called in a signal handler that interrupts another loss.
    void lose(loss_reason reason, std::uint64_t events = 1) noexcept {
        is_anything_lost.store(true, memory_order::relaxed);
        losses[static_cast<std::uint32_t>(reason)].add_shared(events);
    }
};

}  // namespace detail

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_STATE_THREAD_STATE_HPP
