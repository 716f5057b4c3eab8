// window_table.hpp - the windows that are open, each in a numbered slot.
//
// Room:     state (floor 4), malloc-safe
// Called:   when windows open, close and are counted; by threads that find a new view
// Threads:  written under the control lock; all atomic members may be read by any
// Memory:   448 bytes for each window ever open at the same time; 64 of them are always there, with
//           33 KiB to find the others
//
// A window is an interval of the boundary clock that has begun and not yet ended. It owns what is
// born in it, on any thread or on one. Slots 0..63 also have a bit in the window masks of threads
// and cohorts, which makes the usual case cheap. Opening or closing a window costs the same however
// many are open. A thread that frees an older object loops over the windows in higher slots.

#ifndef ALLOCSCOPE_STATE_WINDOW_TABLE_HPP
#define ALLOCSCOPE_STATE_WINDOW_TABLE_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/loss_reason.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/platform/lasting_pages.hpp>
#include <allocscope/platform/page_list.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/sampling/sample_sums.hpp>
#include <allocscope/state/age_marks.hpp>
#include <allocscope/state/gate.hpp>
#include <allocscope/state/window_demand.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_RARE_BEGIN

namespace detail {

constexpr std::uint64_t every_thread = 0;  // no thread instance has this number

// What a window owned in cohorts that were reclaimed while it was open. All these objects died.
struct retired_births {
    allocation_counts counts;  // in a window that is not sampled
    sample_sums births;        // in a sampled one
    sample_sums deaths;
    std::uint32_t families = 0;  // index + 1 of the first retired_family; 0: none
};

// The part of retired_births that belongs to one family other than operator new's.
struct retired_family {
    std::uint32_t family;  // number of its tag
    std::uint32_t next;    // index + 1 of the next one of the same window; 0 ends the list
    allocation_counts counts;
    sample_sums births;
    sample_sums deaths;
};
using retired_family_list = page_list<retired_family, lasting_pages>;

struct alignas(64) open_window {
    atomic<std::uint64_t> open_at{0};  // boundary clock; 0: the slot is free
    atomic<std::uint64_t> instance{every_thread};
    atomic<charge> mode{charge::nothing};
    atomic<std::uint32_t> frames{0};
    atomic<unwinding_set> methods{0};
    atomic<std::uint64_t> sample_bytes{0};

    // The members from here on need the control lock.
    std::uint32_t generation = 0;
    options wanted;
    std::uint64_t started_ns = 0;
    age_marks* ages = nullptr;  // null: no mark was ever made
    retired_births retired;
    std::uint64_t highest_read = 0;  // the largest peak that a reading has returned
    // What the process had lost when the window began: no losses of this window.
    std::uint64_t losses_before[static_cast<std::uint32_t>(loss_reason::count)] = {};
    char name[64] = {};

    window_wish wish() const noexcept {
        return {mode.load(memory_order::relaxed), frames.load(memory_order::relaxed),
                methods.load(memory_order::relaxed), sample_bytes.load(memory_order::relaxed)};
    }

    ALLOCSCOPE_INLINE bool owns(std::uint64_t born_at, std::uint64_t by_instance) const noexcept {
        const std::uint64_t opened = open_at.load(memory_order::acquire);
        if (opened == 0 || born_at < opened) return false;
        const std::uint64_t watched = instance.load(memory_order::relaxed);
        // Cohorts keep only the low half of an instance.
        return watched == every_thread ||
               static_cast<std::uint32_t>(watched) == static_cast<std::uint32_t>(by_instance);
    }
};

class window_table {
public:
    static constexpr std::uint32_t masked_windows = 64;
    static constexpr std::uint32_t chunk_windows = 64;
    static constexpr std::uint32_t chunk_count = 2048;
    static constexpr std::uint32_t most_windows = chunk_windows * chunk_count;

    // Control lock. The number of the lowest free slot, or -1 when there is no memory or no free
    // slot.
    std::int64_t take_slot() noexcept {
        const std::uint32_t slot = lowest_free();
        if (by_slot(slot) == nullptr && add_chunk(slot) == nullptr) return -1;
        note_taken(slot);
        return slot;
    }

    // Control lock.
    void free_slot(std::uint32_t slot) noexcept {
        open_window* window = by_slot(slot);
        window->open_at.store(0, memory_order::release);
        ++window->generation;
        note_free(slot);
    }

    open_window* by_slot(std::uint32_t slot) noexcept {
        if (slot < chunk_windows) return first_ + slot;
        if (slot >= most_windows) return nullptr;
        open_window* chunk = chunks_[slot / chunk_windows].load(memory_order::acquire);
        return chunk == nullptr ? nullptr : chunk + slot % chunk_windows;
    }

    // The window's bit in the window masks; 0 when it has none.
    std::uint64_t mask_of(const open_window& window) const noexcept {
        const auto from = reinterpret_cast<std::uintptr_t>(first_);
        const std::uintptr_t slot =
            (reinterpret_cast<std::uintptr_t>(&window) - from) / sizeof(open_window);
        return slot < masked_windows ? std::uint64_t{1} << slot : 0;
    }

    // All open windows are in slots below this.
    std::uint32_t slot_end() const noexcept { return slot_end_.load(memory_order::acquire); }
    std::uint32_t open_count() const noexcept { return open_count_; }
    std::uint32_t unmasked_count() const noexcept { return unmasked_count_; }

    // A clock that is not before the opening of the newest window without a mask bit.
    std::uint64_t newest_unmasked() const noexcept {
        return newest_unmasked_.load(memory_order::acquire);
    }

    // Control lock. The window begins, or begins anew.
    void begin(open_window& window, std::uint64_t now) noexcept {
        if (mask_of(window) == 0) newest_unmasked_.store(now, memory_order::release);
        window.open_at.store(now, memory_order::release);
    }

    // --- control lock: process-wide windows, as all threads must see them ---

    const window_demand& demand() const noexcept { return demand_; }
    std::uint64_t wide_mask() const noexcept { return wide_mask_; }

    // A process-wide window has opened (+1) or closed (-1).
    void change_demand(const open_window& window, int change) noexcept {
        wide_mask_ = change > 0 ? wide_mask_ | mask_of(window) : wide_mask_ & ~mask_of(window);
        change_demand(demand_, window, change);
    }
    // Does the same for a demand of the windows that watch one thread, or all threads.
    void change_demand(window_demand& demand, const open_window& window, int change) noexcept {
        demand.change(window.wish(), change);
        if (!demand.lacks_interval()) return;
        const std::uint64_t watched = window.instance.load(memory_order::relaxed);
        for (std::uint32_t slot = 0; const open_window* each = next_open(slot);) {
            const bool is_of_these = each->instance.load(memory_order::relaxed) == watched;
            if (is_of_these && each->mode.load(memory_order::relaxed) == charge::samples) {
                demand.add_interval(each->sample_bytes.load(memory_order::relaxed));
            }
        }
    }

    // Computes everything again from the windows that have begun, in a forked child that found it
    // half done.
    void count_anew() noexcept {
        for (std::uint64_t& taken : taken_) taken = 0;
        for (std::uint64_t& some : some_) some = 0;
        for (std::uint64_t& full : full_) full = 0;
        open_count_ = 0;
        unmasked_count_ = 0;
        demand_ = {};
        wide_mask_ = 0;
        slot_end_.store(0, memory_order::release);
        for (std::uint32_t slot = 0; slot < most_windows; ++slot) {
            const open_window* window = by_slot(slot);
            if (window == nullptr) break;
            if (window->open_at.load(memory_order::relaxed) == 0) continue;
            note_taken(slot);
            if (window->instance.load(memory_order::relaxed) == every_thread) {
                change_demand(*window, +1);
            }
        }
    }

    // Control lock. The first open window in the slots from `slot` on, which becomes the slot
    // behind it; null: there is none.
    ALLOCSCOPE_NOINLINE open_window* next_open(std::uint32_t& slot) noexcept {
        while (slot < slot_end()) {
            const std::uint64_t left = taken_[slot / 64] >> slot % 64;
            if (left == 0) {
                slot = next_word(slot / 64 + 1) * 64;
                continue;
            }
            slot += lowest_bit(left);
            open_window& window = *by_slot(slot++);
            if (window.open_at.load(memory_order::relaxed) != 0) return &window;
        }
        return nullptr;
    }

private:
    open_window* add_chunk(std::uint32_t slot) noexcept {
        if (slot >= most_windows) return nullptr;
        void* pages = map_pages(chunk_windows * sizeof(open_window));
        if (pages == nullptr) return nullptr;
        auto* chunk = static_cast<open_window*>(pages);  // zeroed pages are free windows
        chunks_[slot / chunk_windows].store(chunk, memory_order::release);
        return chunk + slot % chunk_windows;
    }

    // The first word of taken_ that is not 0, from `word` on; chunk_count: there is none.
    std::uint32_t next_word(std::uint32_t word) const noexcept {
        while (word < chunk_count) {
            const std::uint64_t left = some_[word / 64] >> word % 64;
            if (left != 0) return word + lowest_bit(left);
            word = (word / 64 + 1) * 64;
        }
        return chunk_count;
    }

    // Returns most_windows when all slots are taken.
    std::uint32_t lowest_free() const noexcept {
        for (std::uint32_t i = 0; i < chunk_count / 64; ++i) {
            if (full_[i] == ~std::uint64_t{0}) continue;
            const std::uint32_t word = i * 64 + lowest_bit(~full_[i]);
            return word * 64 + lowest_bit(~taken_[word]);
        }
        return most_windows;
    }

    void note_taken(std::uint32_t slot) noexcept {
        std::uint64_t& word = taken_[slot / 64];
        word |= std::uint64_t{1} << slot % 64;
        some_[slot / 4096] |= std::uint64_t{1} << slot / 64 % 64;
        if (word == ~std::uint64_t{0}) full_[slot / 4096] |= std::uint64_t{1} << slot / 64 % 64;
        ++open_count_;
        if (slot >= masked_windows) ++unmasked_count_;
        if (slot >= slot_end_.load(memory_order::relaxed)) {
            slot_end_.store(slot + 1, memory_order::release);
        }
    }

    void note_free(std::uint32_t slot) noexcept {
        const std::uint64_t bit_of_word = std::uint64_t{1} << slot / 64 % 64;
        taken_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
        full_[slot / 4096] &= ~bit_of_word;
        if (taken_[slot / 64] == 0) some_[slot / 4096] &= ~bit_of_word;
        --open_count_;
        if (slot >= masked_windows) --unmasked_count_;
        if (slot + 1 != slot_end_.load(memory_order::relaxed)) return;
        std::uint32_t word = slot / 64;
        while (word != 0 && taken_[word] == 0) --word;
        const std::uint32_t end = taken_[word] == 0 ? 0 : word * 64 + highest_bit(taken_[word]) + 1;
        slot_end_.store(end, memory_order::release);
    }

    static std::uint32_t lowest_bit(std::uint64_t word) noexcept {
        return static_cast<std::uint32_t>(__builtin_ctzll(word));
    }
    static std::uint32_t highest_bit(std::uint64_t word) noexcept {
        return 63U - static_cast<std::uint32_t>(__builtin_clzll(word));
    }

    open_window first_[chunk_windows];
    atomic<open_window*> chunks_[chunk_count] = {};
    std::uint64_t taken_[chunk_count] = {};      // a bit for each slot
    std::uint64_t some_[chunk_count / 64] = {};  // a bit for each word of taken_ that is not 0
    std::uint64_t full_[chunk_count / 64] = {};  // a bit for each word of taken_ with all bits set
    atomic<std::uint32_t> slot_end_{0};
    atomic<std::uint64_t> newest_unmasked_{0};
    std::uint32_t open_count_ = 0;
    std::uint32_t unmasked_count_ = 0;
    std::uint64_t wide_mask_ = 0;
    window_demand demand_;
};

}  // namespace detail

ALLOCSCOPE_RARE_END

#endif  // ALLOCSCOPE_STATE_WINDOW_TABLE_HPP
