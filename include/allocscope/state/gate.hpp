// gate.hpp - one word that says whether and how hooks record, and the facts behind it.
//
// Room:     state (floor 4), malloc-safe
// Called:   read at the beginning of every hook; changed when windows open or close
// Threads:  any reader; one writer at a time, under the control lock
// Memory:   16 KiB
//
// The word is 0 while no window is open anywhere. Otherwise it is the number of the current view. A
// thread that finds another number than last time reads the view anew:
//
//     word ----> views_[word / 2 % 256] {number, clock, windows, mode, frames, session, ...}
//
// Numbers go up by two. The highest bit says that every free must be looked up, because a window
// that records every event is open, or was open in this session. Without the bit only sampled
// windows are open, and a free matters only if its block begins at a page (record/sampler.hpp).
//
// A view is complete before its number is published, and its element is reused only 256 views
// later. A reader that was overtaken meanwhile finds another number in the view and starts over. So
// readers never wait for the writer.

#ifndef ALLOCSCOPE_STATE_GATE_HPP
#define ALLOCSCOPE_STATE_GATE_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/base/plain_value.hpp>
#include <allocscope/config.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstring>  // memcpy

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// True in the preload library: the process records by itself, from its first event on.
constexpr bool begins_with_first_event = ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT != 0;

// What a thread does with an allocation: the greatest value that a window watching it wants.
// As an exception, samples and numbers together give stacks, because neither can serve the other.
enum class charge : std::uint32_t {
    nothing,              // no window watches this thread; frees are still seen
    samples,              // a few allocations, each with its stack
    numbers,              // counters only
    stacks,               // each allocation with its stack
    stacks_without_memo,  // there was no memory for the thread's caches
    details               // as stacks, and record/detailed_events.hpp
};

// A number that no view has and that the word never has. It is not 0, because 0 means a shut gate.
constexpr std::uint64_t no_view = ~std::uint64_t{0};

// A bit in a view's number: the hooks must see every event. It is the sign bit, so that an operator
// can tell all three states of the word with one test.
constexpr std::uint64_t every_event = std::uint64_t{1} << 63U;

constexpr charge joined(charge most, std::uint64_t sample_bytes) noexcept {
    return most == charge::numbers && sample_bytes != 0 ? charge::stacks : most;
}

// A set of ways to find callers (options::unwind). If windows want different ways, their stacks are
// found by any means, which serves all of them.
using unwinding_set = std::uint32_t;
constexpr unwinding_set only(unwinding method) noexcept {
    return 1U << static_cast<std::uint32_t>(method);
}
constexpr unwinding common_method(unwinding_set wanted) noexcept {
    return wanted == only(unwinding::cfi)              ? unwinding::cfi
           : wanted == only(unwinding::frame_pointers) ? unwinding::frame_pointers
                                                       : unwinding::automatic;
}

struct view {
    std::uint64_t number = 0;
    std::uint64_t clock = 0;         // boundary clock when the view began
    std::uint64_t windows = 0;       // process-wide windows in slots 0..63
    charge mode = charge::nothing;   // greatest of the process-wide windows
    std::uint32_t frames = 0;        // most stack_frames of the process-wide exact windows
    std::uint32_t session = 0;       // tag of the records in the live object map
    std::uint32_t many_windows = 0;  // windows in slots from 64 on, of any kind
    std::uint32_t tables = 0;        // generation of the tables: caches of another one are void
    unwinding_set methods = 0;       // of the process-wide windows with stacks
    std::uint64_t sample_bytes = 0;  // least of the process-wide sampled windows; 0: there is none
};

class gate {
public:
    ALLOCSCOPE_FAST_PATH std::uint64_t word() const noexcept {
        // Relaxed: a thread that learned of the window by any synchronisation sees its number. What
        // is behind the number is read with acquire in load().
        return word_.load(memory_order::relaxed);
    }

    // For modules that check whether a window is open before they report an event of a pool.
    ALLOCSCOPE_FAST_PATH const std::uint64_t* word_address() const noexcept {
        static_assert(sizeof(word_) == sizeof(std::uint64_t), "read by __atomic_load_n");
        return reinterpret_cast<const std::uint64_t*>(&word_);
    }

    // Whether a free must be looked up: a test of the address alone. All bits of the address that
    // are set in address_bits_ have to be zero. (A null pointer always passes the test.)
    //
    //     every event is recorded    no bits          every free is looked up
    //     only samples are           the low 12 bits  those of blocks that begin at a page
    //     no window is open          all bits         none
    //     untouched, see below       no bits          each may be the first event
    //     wiped, see below           no bits          each finds a word that is 0
    ALLOCSCOPE_FAST_PATH bool concerns_free_of(const void* block) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(block);
        return (address & value_for_one_use(address_bits_)) == 0;
    }

    ALLOCSCOPE_FAST_PATH void shut() noexcept {
        address_bits_.store(~std::uintptr_t{0}, memory_order::relaxed);
        word_.store(0, memory_order::seq_cst);
    }

    // A process that is recorded from outside shares its tables with their reader. A child that it
    // forks shares them, too, but must not write. So the pages of the gate are wiped in the child,
    // which shuts the gate for every hook. True in such a child.
    bool is_wiped() const noexcept { return is_whole_.load(memory_order::relaxed) == 0; }

    // The word of a process that records by itself and has had no event yet. No view has an odd
    // number. The highest bit is set, so that an allocation that passes has no test for it.
    static constexpr std::uint64_t untouched = ~std::uint64_t{2};
    bool is_untouched() const noexcept { return word() == untouched; }

    // False with a word that is 0 or untouched. It takes one comparison, since no view has one of
    // the two numbers between these.
    static ALLOCSCOPE_FAST_PATH bool may_have_records(std::uint64_t word) noexcept {
        return ALLOCSCOPE_LIKELY(word - untouched > std::uint64_t{0} - untouched);
    }

    // Called under the control lock. Numbers and publishes the view.
    void publish(const view& next, bool sees_every_event) noexcept {
        last_number_ += 2;
        const std::uint64_t number = last_number_ | (sees_every_event ? every_event : 0);
        stored& place = views_[number / 2 % view_count];
        place.number.store(0, memory_order::relaxed);
        std::uint64_t words[view_words];
        std::memcpy(words, &next, sizeof(next));
        for (std::size_t i = 0; i < view_words; ++i) {
            // Release: a reader that sees anything new here then reads 0 or the new number.
            place.words[i].store(words[i], memory_order::release);
        }
        place.number.store(number, memory_order::release);
        // Stored before the word, so that a thread that learned of the window sees these, too.
        address_bits_.store(sees_every_event ? 0 : sampled_address_bits, memory_order::relaxed);
        word_.store(number, memory_order::release);
    }

    // Reads the current view. False: the gate is shut.
    ALLOCSCOPE_FAST_PATH bool load(view& out) const noexcept {
        for (;;) {
            const std::uint64_t number = word_.load(memory_order::acquire);
            if (number == 0) return false;
            const stored& place = views_[number / 2 % view_count];
            const std::uint64_t before = place.number.load(memory_order::acquire);
            std::uint64_t words[view_words];
            for (std::size_t i = 0; i < view_words; ++i) {
                words[i] = place.words[i].load(memory_order::acquire);
            }
            const std::uint64_t after = place.number.load(memory_order::acquire);
            if (before != number || after != number) continue;
            std::memcpy(&out, words, sizeof(out));
            out.number = number;
            return true;
        }
    }

private:
    static constexpr std::size_t view_count = 256;
    static constexpr std::uintptr_t sampled_address_bits = page_bytes - 1;  // sample_records.hpp
    static constexpr std::size_t view_words = sizeof(view) / sizeof(std::uint64_t);
    static_assert(__is_trivially_copyable(view) && sizeof(view) % sizeof(std::uint64_t) == 0,
                  "a view is stored and read word by word");

    struct alignas(64) stored {
        atomic<std::uint64_t> number{0};
        atomic<std::uint64_t> words[view_words] = {};
    };
    static_assert(sizeof(stored) == 64, "a cache line");

    alignas(64) atomic<std::uint64_t> word_{begins_with_first_event ? untouched : 0};
    atomic<std::uintptr_t> address_bits_{begins_with_first_event ? 0 : ~std::uintptr_t{0}};
    atomic<std::uint32_t> is_whole_{1};
    alignas(64) std::uint64_t last_number_ = 0;
    stored views_[view_count];
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_STATE_GATE_HPP
