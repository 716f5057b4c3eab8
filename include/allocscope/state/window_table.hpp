// window_table.hpp - the windows that are open, each in a numbered slot.
//
// Room:     state (floor 4), malloc-safe
// Called:   when windows open, close and are counted; by threads that find a new view
// Threads:  written under the control lock; all atomic members may be read by any
// Memory:   320 bytes for each window ever open at the same time; 64 of them are always there
//
// A window is an interval of the boundary clock that has begun and not yet ended. It owns what is
// born in it, on any thread or on one. Slots 0..63 also have a bit in the window masks of threads
// and cohorts, which makes the usual case cheap. Windows in higher slots are found by looking
// through the table.

#ifndef ALLOCSCOPE_STATE_WINDOW_TABLE_HPP
#define ALLOCSCOPE_STATE_WINDOW_TABLE_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/sampling/sample_sums.hpp>
#include <allocscope/state/gate.hpp>

#include <atomic>   // atomic
#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr std::uint64_t every_thread = 0;  // no thread instance has this number

// What a window owned in cohorts that were reclaimed while it was open. All of it has died.
struct retired_births {
    allocation_counts counts;  // in a window that is not sampled
    sample_sums births;        // in a sampled one
    sample_sums deaths;
};

struct alignas(64) open_window {
    std::atomic<std::uint64_t> open_at{0};  // boundary clock; 0: the slot is free
    std::atomic<std::uint64_t> instance{every_thread};
    std::atomic<charge> mode{charge::nothing};
    std::atomic<std::uint32_t> frames{0};
    std::atomic<unwinding_set> methods{0};
    std::atomic<std::uint64_t> sample_bytes{0};

    // From here on: control lock.
    std::uint32_t generation = 0;
    options wanted;
    std::uint64_t started_ns = 0;
    retired_births retired;
    char name[64] = {};

    bool owns(std::uint64_t born_at, std::uint64_t by_instance) const noexcept {
        const std::uint64_t opened = open_at.load(std::memory_order_acquire);
        if (opened == 0 || born_at < opened) return false;
        const std::uint64_t watched = instance.load(std::memory_order_relaxed);
        // Cohorts keep only the low half of an instance.
        return watched == every_thread ||
               static_cast<std::uint32_t>(watched) == static_cast<std::uint32_t>(by_instance);
    }
};

class window_table {
public:
    static constexpr std::uint32_t masked_windows = 64;
    static constexpr std::uint32_t chunk_windows = 64;
    static constexpr std::uint32_t chunk_count = 1024;

    // Control lock. A free slot's number, or -1 when there is no memory.
    std::int64_t take_slot() noexcept {
        for (std::uint32_t slot = lowest_free_;; ++slot) {
            open_window* window = by_slot(slot);
            if (window == nullptr) window = add_chunk(slot);
            if (window == nullptr) return -1;
            if (window->open_at.load(std::memory_order_relaxed) != 0) continue;
            lowest_free_ = slot + 1;
            ++open_count_;
            if (slot >= masked_windows) ++unmasked_count_;
            if (slot >= slot_end_.load(std::memory_order_relaxed)) {
                slot_end_.store(slot + 1, std::memory_order_release);
            }
            return slot;
        }
    }

    // Control lock.
    void free_slot(std::uint32_t slot) noexcept {
        open_window* window = by_slot(slot);
        window->open_at.store(0, std::memory_order_release);
        ++window->generation;
        if (slot < lowest_free_) lowest_free_ = slot;
        --open_count_;
        if (slot >= masked_windows) --unmasked_count_;
        std::uint32_t end = slot_end_.load(std::memory_order_relaxed);
        while (end > 0 && by_slot(end - 1)->open_at.load(std::memory_order_relaxed) == 0) --end;
        slot_end_.store(end, std::memory_order_release);
    }

    open_window* by_slot(std::uint32_t slot) noexcept {
        if (slot < chunk_windows) return first_ + slot;
        if (slot >= chunk_windows * chunk_count) return nullptr;
        open_window* chunk = chunks_[slot / chunk_windows].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : chunk + slot % chunk_windows;
    }

    // All open windows are in slots below this.
    std::uint32_t slot_end() const noexcept { return slot_end_.load(std::memory_order_acquire); }
    std::uint32_t open_count() const noexcept { return open_count_; }
    std::uint32_t unmasked_count() const noexcept { return unmasked_count_; }

private:
    open_window* add_chunk(std::uint32_t slot) noexcept {
        if (slot >= chunk_windows * chunk_count) return nullptr;
        void* pages = map_pages(chunk_windows * sizeof(open_window));
        if (pages == nullptr) return nullptr;
        auto* chunk = static_cast<open_window*>(pages);  // zeroed pages are free windows
        chunks_[slot / chunk_windows].store(chunk, std::memory_order_release);
        return chunk + slot % chunk_windows;
    }

    open_window first_[chunk_windows];
    std::atomic<open_window*> chunks_[chunk_count] = {};
    std::atomic<std::uint32_t> slot_end_{0};
    std::uint32_t lowest_free_ = 0;
    std::uint32_t open_count_ = 0;
    std::uint32_t unmasked_count_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_STATE_WINDOW_TABLE_HPP
