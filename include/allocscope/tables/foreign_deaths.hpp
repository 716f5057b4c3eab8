// foreign_deaths.hpp - counts what threads freed of the cohorts of other threads.
//
// Room:     tables (floor 2), malloc-safe
// Called:   when a thread frees what another one allocated, and when cohorts are summed up
// Threads:  each counter is written by one thread; any thread may read
// Memory:   1 KiB for each thread and each 64 cohorts of which it freed something
//
// A thread finds its counters in a table of its own. A reader finds the counters of all threads in
// a list for each page of the cohort table. So the cost of a sum over all threads depends on what
// threads have freed, not on how many threads there are.
//
//     thread's directory_   [ chunk* ][ null ][ chunk* ] ...   one entry for each cohort page
//                               |
//                             64 x {deaths, bytes}, next --> another thread's chunk of this page
//                               |
//     process's first_of_   [ chunk* ][ null ][ chunk* ] ...   likewise

#ifndef ALLOCSCOPE_TABLES_FOREIGN_DEATHS_HPP
#define ALLOCSCOPE_TABLES_FOREIGN_DEATHS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/owned_events.hpp>
#include <allocscope/platform/lasting_pages.hpp>
#include <allocscope/platform/page_arena.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/tables/cohort_table.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

struct foreign_chunk {
    owned_events counts[cohort_table::page_cohorts];
    atomic<foreign_chunk*> next;
};

using foreign_chunk_pointer = atomic<foreign_chunk*>;
constexpr std::size_t foreign_directory_bytes =
    cohort_table::page_count * sizeof(foreign_chunk_pointer);

// The chunks of all threads, by page of the cohort table.
class foreign_death_lists {
public:
    // Any thread may call this. Returns false when there is no memory for the lists. May be called
    // again after a failure.
    ALLOCSCOPE_SLOW_PATH bool prepare() noexcept {
        if (!is_empty()) return true;
        void* fresh = reserve_lasting_pages(foreign_directory_bytes);
        if (fresh == nullptr) return false;
        foreign_chunk_pointer* expected = nullptr;
        if (!first_of_.compare_exchange_strong(expected, static_cast<foreign_chunk_pointer*>(fresh),
                                               memory_order::acq_rel)) {
            return_lasting_pages(fresh, foreign_directory_bytes);  // another thread was faster
        }
        return true;
    }

    // Any thread may call this, after prepare(). The chunk is for the page of this cohort.
    void add(foreign_chunk& fresh, std::uint32_t id) noexcept {
        foreign_chunk_pointer& first =
            first_of_.load(memory_order::acquire)[id / cohort_table::page_ids];
        foreign_chunk* next = first.load(memory_order::relaxed);
        do {
            fresh.next.store(next, memory_order::relaxed);
            // Release: a thread that finds the chunk sees its `next`.
        } while (!first.compare_exchange_weak(next, &fresh, memory_order::acq_rel));
    }

    // Whether no thread has ever freed what another one allocated.
    ALLOCSCOPE_INLINE bool is_empty() const noexcept {
        return first_of_.load(memory_order::acquire) == nullptr;
    }

    // Calls visit(owned_events&) for each thread's counters of a cohort.
    template <class Visit>
    ALLOCSCOPE_FAST_PATH void for_each(std::uint32_t id, Visit&& visit) const noexcept {
        const foreign_chunk_pointer* lists = first_of_.load(memory_order::acquire);
        if (lists == nullptr) return;
        for (foreign_chunk* chunk = lists[id / cohort_table::page_ids].load(memory_order::acquire);
             chunk != nullptr; chunk = chunk->next.load(memory_order::relaxed)) {
            visit(chunk->counts[id % cohort_table::page_ids]);
        }
    }

    // Forgets everything. The caller releases the arena that held the chunks.
    ALLOCSCOPE_FAST_PATH void release() noexcept {
        foreign_chunk_pointer* lists = first_of_.exchange(nullptr, memory_order::acq_rel);
        if (lists != nullptr) return_lasting_pages(lists, foreign_directory_bytes);
    }

private:
    atomic<foreign_chunk_pointer*> first_of_{nullptr};
};

// What one thread freed of the cohorts of others. Only that thread uses it.
class foreign_deaths {
public:
    // The counters for a cohort; null when the thread has none yet for its page.
    ALLOCSCOPE_FAST_PATH owned_events* existing(std::uint32_t id) const noexcept {
        if (ALLOCSCOPE_LIKELY(directory_ != nullptr)) {
            foreign_chunk* chunk = directory_[id / cohort_table::page_ids];
            if (ALLOCSCOPE_LIKELY(chunk != nullptr)) {
                return chunk->counts + id % cohort_table::page_ids;
            }
        }
        return nullptr;
    }
    // Does the same, but makes counters when there are none. Null when there is no memory for them.
    owned_events* for_writing(page_arena& arena, foreign_death_lists& lists,
                              std::uint32_t id) noexcept {
        owned_events* known = existing(id);
        return known != nullptr ? known : add_chunk(arena, lists, id);
    }

    // Forgets everything. The caller releases the arena that held the chunks.
    ALLOCSCOPE_FAST_PATH void release() noexcept {
        if (directory_ != nullptr) return_reservation(directory_, foreign_directory_bytes);
        directory_ = nullptr;
    }

private:
    ALLOCSCOPE_SLOW_PATH owned_events* add_chunk(page_arena& arena, foreign_death_lists& lists,
                                                 std::uint32_t id) noexcept {
        if (!lists.prepare()) return nullptr;
        if (directory_ == nullptr) {
            directory_ = static_cast<foreign_chunk**>(reserve_pages(foreign_directory_bytes));
            if (directory_ == nullptr) return nullptr;
        }
        auto* chunk = static_cast<foreign_chunk*>(arena.allocate(sizeof(foreign_chunk)));
        if (chunk == nullptr) return nullptr;
        lists.add(*chunk, id);
        directory_[id / cohort_table::page_ids] = chunk;
        return chunk->counts + id % cohort_table::page_ids;
    }

    foreign_chunk** directory_ = nullptr;
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_TABLES_FOREIGN_DEATHS_HPP
