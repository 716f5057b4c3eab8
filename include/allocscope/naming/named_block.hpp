// named_block.hpp - the block of a snapshot whose texts live in a name book.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   by naming/rows_of_window.hpp; by the engine for a snapshot of numbers alone
// Threads:  made under the naming lock; the last owner, on any thread, frees it
// Memory:   snapshot_data, rows, losses and the window's name in one malloc'ed block
//
//     head {snapshot_data, book, losses, name} | rows

#ifndef ALLOCSCOPE_NAMING_NAMED_BLOCK_HPP
#define ALLOCSCOPE_NAMING_NAMED_BLOCK_HPP

#include <allocscope/naming/build_snapshot.hpp>
#include <allocscope/naming/name_book.hpp>
#include <allocscope/naming/snapshot_difference.hpp>
#include <allocscope/naming/take_snapshot.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t
#include <cstdlib>  // malloc, free
#include <new>      // placement new

#include <pthread.h>  // pthread_mutex_lock

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class naming_lock {
public:
    naming_lock() noexcept { ::pthread_mutex_lock(&process.naming); }
    ~naming_lock() { ::pthread_mutex_unlock(&process.naming); }
    naming_lock(const naming_lock&) = delete;
    naming_lock& operator=(const naming_lock&) = delete;
};

// The naming lock is held.
inline void drop_book(name_book* book) noexcept {
    if (book != nullptr && --book->references == 0) delete book;
}

inline const char* sentence_for(loss_reason reason) noexcept {
    switch (reason) {
        case loss_reason::no_memory_for_record:
            return "allocations were not recorded: memory for their records was refused";
        case loss_reason::no_room_for_site:
            return "allocations were counted without their place: no room for more stacks";
        case loss_reason::no_room_for_death:
            return "frees by another thread were not counted: memory for them was refused";
        case loss_reason::too_deeply_nested:
            return "events in signal handlers were not recorded: nested too deeply";
        case loss_reason::record_replaced:
            return "blocks were freed past operator delete: noticed when their address was used"
                   " again";
        case loss_reason::no_memory_for_thread:
            return "events were not recorded: memory for the state of their thread was refused";
        case loss_reason::count:
            break;
    }
    return "events were not recorded";
}

class named_block {
public:
    // Room for so many rows, unless memory for it is refused.
    explicit named_block(std::size_t most_rows) noexcept {
        void* memory = std::malloc(sizeof(head) + most_rows * sizeof(snapshot::row));
        if (memory == nullptr) return;
        head_ = ::new (memory) head{};
        rows_ = reinterpret_cast<snapshot::row*>(head_ + 1);
    }
    ~named_block() { std::free(head_); }
    named_block(const named_block&) = delete;
    named_block& operator=(const named_block&) = delete;

    bool has_memory() const noexcept { return head_ != nullptr; }

    void add(const snapshot::row& row) noexcept {
        ::new (rows_ + row_count_) snapshot::row(row);
        ++row_count_;
        head_->data.live_objects += row.objects;
        head_->data.live_bytes += row.bytes;
    }

    // The finished block, with one reference. The naming lock is held, or there is no book.
    snapshot_data* take(name_book* book, const live_window& window,
                        const char* not_recording) noexcept {
        head_->book = book;
        if (book != nullptr) ++book->references;
        copy_name(head_->name, sizeof head_->name, window.name);
        snapshot_data& data = head_->data;
        data.references = 1;
        data.release = &release;
        data.rows = rows_;
        data.row_count = row_count_;
        data.difference = &difference_of;
        describe(data.info, window);
        data.info.not_recording = not_recording;
        head_ = nullptr;
        return &data;
    }

private:
    static constexpr std::size_t loss_count = static_cast<std::size_t>(loss_reason::count);

    struct head {
        snapshot_data data;  // first: a pointer to it is a pointer to the block
        name_book* book;     // null: there are no rows
        snapshot::loss losses[loss_count];
        char name[sizeof(live_window::name)];
    };
    static_assert(sizeof(head) % alignof(snapshot::row) == 0, "rows follow the head");

    void describe(snapshot::window_info& info, const live_window& window) noexcept {
        info.name = head_->name;
        info.record = window.wanted.record;
        info.from = window.wanted.from;
        info.stack_frames = window.wanted.stack_frames;
        info.duration_ns = window.duration_ns;
        info.totals = window.totals.counts;
        info.estimates = exact_estimates(info.totals);
        if (info.record == recording::sampled) {
            info.sample_bytes = window.wanted.sample_bytes;
            info.samples = window.totals.births.samples;
            info.estimates = sampled_estimates(info.totals, window.totals.births,
                                               window.totals.deaths, info.sample_bytes);
        }
        info.own_memory_bytes = window.own_memory_bytes;
        info.losses = head_->losses;
        for (std::uint32_t i = 0; i < loss_count; ++i) {
            if (window.losses[i] == 0) continue;
            head_->losses[info.loss_count++] = {sentence_for(static_cast<loss_reason>(i)),
                                                window.losses[i]};
        }
    }

    static void release(snapshot_data* data) {
        const uncharged_work meanwhile;
        auto* block = reinterpret_cast<head*>(data);
        if (block->book != nullptr) {
            const naming_lock lock;
            drop_book(block->book);
        }
        std::free(block);
    }

    head* head_ = nullptr;
    snapshot::row* rows_ = nullptr;
    std::size_t row_count_ = 0;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_NAMED_BLOCK_HPP
