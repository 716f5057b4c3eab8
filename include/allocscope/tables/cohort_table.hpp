// cohort_table.hpp - everything one thread allocated at one place between two window boundaries.
//
// Room:     tables (floor 3), malloc-safe
// Called:   on every recorded allocation and free
// Threads:  each cohort is written by the thread that made it; any thread may read
// Memory:   64 bytes for each cohort, 256 for one of samples; threads get them in pages of 4 KiB
//
// The slot of a live object names its cohort; the cohort knows the rest. As only its own thread
// counts in it, no locked instruction is needed. A free by another thread is counted in a table of
// that other thread (foreign_deaths.hpp), so
//
//     alive = births - deaths - (sum over all threads of their foreign deaths)
//
//     id     23         6 5     0
//           |   page     | index |      pages_[page] -> 64 cohorts of 64 bytes, one cache line each

#ifndef ALLOCSCOPE_TABLES_COHORT_TABLE_HPP
#define ALLOCSCOPE_TABLES_COHORT_TABLE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/owned_counter.hpp>
#include <allocscope/memory/page_arena.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <atomic>   // atomic
#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct alignas(64) cohort {
    owned_counter births;
    owned_counter birth_bytes;
    owned_counter deaths;  // by the thread that made the cohort
    owned_counter death_bytes;
    std::atomic<std::uint64_t> born_at;  // the boundary clock when the cohort's epoch began
    std::atomic<std::uint64_t> windows;  // which windows (slots 0..63) it belonged to then
    std::atomic<std::uint32_t> owner;    // number of the thread state that made it
    std::atomic<std::uint32_t> site;
    std::atomic<std::uint32_t> next;  // of the same epoch; 0 ends the list
    // Low half of the thread's instance number: told apart from another thread that had the same
    // state unless 2^32 threads were started in between.
    std::atomic<std::uint32_t> instance;
};
static_assert(sizeof(cohort) == 64, "one cache line: an event touches one");

// A cohort of samples goes on in the lines after its first, where births and deaths then count
// samples, and the bytes are those that the samples stand for. Any thread may count a death there,
// with locked instructions: samples are few.
struct alignas(64) sampled_part {
    // As in sampling/sample_sums.hpp; sums of weights.
    struct sums {
        std::atomic<double> objects;
        std::atomic<double> objects_variance;
        std::atomic<double> bytes_variance;
        std::atomic<double> objects_skew;
        std::atomic<double> bytes_skew;
    };
    sums births;
    sums deaths;
    std::atomic<std::uint64_t> sample_bytes;  // mean bytes between two samples
};
// Ids of sampled cohorts are multiples of it, so that all lines of one lie in one page.
constexpr std::uint32_t sampled_cohort_lines = 4;
static_assert(sizeof(sampled_part) <= (sampled_cohort_lines - 1) * sizeof(cohort),
              "it lies in the place of the next cohorts");

// In cohort::owner: this is a cohort of samples.
constexpr std::uint32_t sampled_owner = std::uint32_t{1} << 31U;

inline bool is_sampled(const cohort& which) noexcept {
    return (which.owner.load(std::memory_order_relaxed) & sampled_owner) != 0;
}

class cohort_table {
public:
    static constexpr std::uint32_t id_bits = 24;  // as many as a slot of the live object map holds
    static constexpr std::uint32_t page_cohorts = 64;
    static constexpr std::uint32_t page_count = (1U << id_bits) / page_cohorts;

    // False when there is no memory for the directory. Called again after a failure.
    bool prepare() noexcept {
        if (pages_.load(std::memory_order_acquire) != nullptr) return true;
        void* pages = reserve_pages(page_count * sizeof(page_pointer));
        if (pages == nullptr) return false;
        page_pointer* expected = nullptr;
        if (!pages_.compare_exchange_strong(expected, static_cast<page_pointer*>(pages))) {
            return_reservation(pages, page_count * sizeof(page_pointer));
        }
        return true;
    }

    ALLOCSCOPE_FAST_PATH cohort* by_id(std::uint32_t id) const noexcept {
        return pages_.load(std::memory_order_relaxed)[id / page_cohorts].load(
                   std::memory_order_acquire) +
               id % page_cohorts;
    }

    sampled_part* sampled_part_of(std::uint32_t id) const noexcept {
        return reinterpret_cast<sampled_part*>(by_id(id + 1));
    }

    // The id of the first of 64 fresh cohorts; 0 when there is no room. Ids below 64 are never
    // given out, so that 0 can mean "none".
    std::uint32_t add_page(page_arena& arena) noexcept {
        if (next_page_.load(std::memory_order_relaxed) >= limit.load(std::memory_order_relaxed)) {
            return 0;
        }
        auto* page = static_cast<cohort*>(arena.allocate(page_cohorts * sizeof(cohort)));
        if (page == nullptr) return 0;
        const std::uint32_t number = next_page_.fetch_add(1, std::memory_order_relaxed);
        if (number >= page_count) {
            next_page_.fetch_sub(1, std::memory_order_relaxed);
            return 0;
        }
        pages_.load(std::memory_order_relaxed)[number].store(page, std::memory_order_release);
        return number * page_cohorts;
    }

    // Forgets every cohort. The arena that held them is released by the caller.
    void release() noexcept {
        page_pointer* pages = pages_.load(std::memory_order_relaxed);
        if (pages != nullptr) empty_pages(pages, page_count * sizeof(page_pointer));
        next_page_.store(1, std::memory_order_relaxed);
    }

    // How many pages there may be; a test makes it small.
    std::atomic<std::uint32_t> limit{page_count};

private:
    using page_pointer = std::atomic<cohort*>;

    std::atomic<page_pointer*> pages_{nullptr};
    std::atomic<std::uint32_t> next_page_{1};
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TABLES_COHORT_TABLE_HPP
