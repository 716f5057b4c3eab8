// foreign_deaths.hpp - what one thread freed of the cohorts of other threads.
//
// Room:     tables (floor 2), malloc-safe
// Called:   when a thread frees what another one allocated, and when cohorts are summed up
// Threads:  written by one thread, read by any
// Memory:   1 KiB for each 64 cohorts of which the thread freed something
//
//     directory_  [ chunk* ][ null ][ chunk* ] ...   one entry for each page of the cohort table
//                      |
//                    64 x {deaths, bytes}

#ifndef ALLOCSCOPE_TABLES_FOREIGN_DEATHS_HPP
#define ALLOCSCOPE_TABLES_FOREIGN_DEATHS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/owned_counter.hpp>
#include <allocscope/platform/page_arena.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/tables/cohort_table.hpp>

#include <atomic>   // atomic
#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct foreign_count {
    owned_counter deaths;
    owned_counter death_bytes;
};

class foreign_deaths {
public:
    // Owner only: its counters for a cohort; null when there is no memory for them.
    ALLOCSCOPE_FAST_PATH foreign_count* for_writing(page_arena& arena, std::uint32_t id) noexcept {
        chunk_pointer* directory = directory_.load(std::memory_order_relaxed);
        if (ALLOCSCOPE_LIKELY(directory != nullptr)) {
            foreign_count* chunk =
                directory[id / cohort_table::page_ids].load(std::memory_order_relaxed);
            if (ALLOCSCOPE_LIKELY(chunk != nullptr)) return chunk + id % cohort_table::page_ids;
        }
        return add_chunk(arena, id);
    }

    // Any thread: the counters for a cohort, or null when this thread freed none of its page.
    foreign_count* for_reading(std::uint32_t id) const noexcept {
        chunk_pointer* directory = directory_.load(std::memory_order_acquire);
        if (directory == nullptr) return nullptr;
        foreign_count* chunk =
            directory[id / cohort_table::page_ids].load(std::memory_order_acquire);
        return chunk == nullptr ? nullptr : chunk + id % cohort_table::page_ids;
    }

    // Forgets everything. The arena that held the chunks is released by the caller.
    void release() noexcept {
        chunk_pointer* directory = directory_.exchange(nullptr, std::memory_order_acq_rel);
        if (directory != nullptr) return_reservation(directory, directory_bytes);
    }

private:
    using chunk_pointer = std::atomic<foreign_count*>;
    static constexpr std::size_t directory_bytes = cohort_table::page_count * sizeof(chunk_pointer);

    ALLOCSCOPE_SLOW_PATH foreign_count* add_chunk(page_arena& arena, std::uint32_t id) noexcept {
        chunk_pointer* directory = directory_.load(std::memory_order_relaxed);
        if (directory == nullptr) {
            directory = static_cast<chunk_pointer*>(reserve_pages(directory_bytes));
            if (directory == nullptr) return nullptr;
            directory_.store(directory, std::memory_order_release);
        }
        auto* chunk = static_cast<foreign_count*>(
            arena.allocate(cohort_table::page_cohorts * sizeof(foreign_count)));
        if (chunk == nullptr) return nullptr;
        directory[id / cohort_table::page_ids].store(chunk, std::memory_order_release);
        return chunk + id % cohort_table::page_ids;
    }

    std::atomic<chunk_pointer*> directory_{nullptr};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TABLES_FOREIGN_DEATHS_HPP
