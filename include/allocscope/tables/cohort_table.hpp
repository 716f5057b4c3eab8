// cohort_table.hpp - everything one thread allocated at one place between two window boundaries.
//
// Room:     tables (floor 2), malloc-safe
// Called:   on every recorded allocation and free
// Threads:  each cohort is written by the thread that made it; any thread may read
// Memory:   64 bytes for each cohort, 256 for one of samples, 512 for one with details; threads get
//           them in pages of 4 KiB for 64 cohorts
//
// The slot of a live object names its cohort, and the cohort knows the rest. Only the cohort's own
// thread counts in it, so no locked instruction is needed. A free by another thread is counted in a
// table of that other thread (foreign_deaths.hpp). So:
//
//     alive = births - deaths - (sum over all threads of their foreign deaths)
//
// All cohorts lie in one range of addresses, so that an id is an index, and only the pages in use
// are in memory:
//
//     id     24         7 6     0
//           |   page     | index |      page:  [ counters of cohorts 0 .. 63 ][ facts of 0 .. 63 ]
//                                               32 bytes each                  32 bytes each
//
// The counters change with every event of the thread, the facts never. They are stored apart, so
// that a thread that frees what another thread allocates can read the facts without taking the
// cache line of the counters away from that thread. Only indices 0 .. 63 are used, so that an id is
// an index of the counters.

#ifndef ALLOCSCOPE_TABLES_COHORT_TABLE_HPP
#define ALLOCSCOPE_TABLES_COHORT_TABLE_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/owned_counter.hpp>
#include <allocscope/base/owned_events.hpp>
#include <allocscope/base/size_classes.hpp>
#include <allocscope/platform/lasting_pages.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

struct cohort_facts {
    atomic<std::uint64_t> born_at;  // the boundary clock when the cohort's epoch began
    atomic<std::uint64_t> windows;  // which windows (slots 0..63) it belonged to then
    atomic<std::uint32_t> owner;    // number of the thread state that made it
    atomic<std::uint32_t> site;
    atomic<std::uint32_t> next;  // the next cohort of the epoch; 0 ends the list
    // Low half of the thread's instance number. It distinguishes the thread from another one that
    // had the same state, unless 2^32 threads were started in between.
    atomic<std::uint32_t> instance;
};

struct alignas(32) cohort {
    owned_events births;
    owned_events deaths;  // by the thread that made the cohort

    // For a cohort in the table.
    ALLOCSCOPE_FAST_PATH cohort_facts& facts() noexcept {
        return *reinterpret_cast<cohort_facts*>(reinterpret_cast<char*>(this) + page_bytes / 2);
    }
    ALLOCSCOPE_FAST_PATH const cohort_facts& facts() const noexcept {
        return const_cast<cohort*>(this)->facts();
    }
};
static_assert(sizeof(cohort) == 32 && sizeof(cohort_facts) == 32, "half a page each for 64");

// A cohort of samples continues in the place of the next three cohorts' counters. Its births and
// deaths count samples, and its bytes are those that the samples stand for. Any thread may count a
// death there, with locked instructions, because samples are few.
struct sampled_part {
    // Sums of weights, as in sampling/sample_sums.hpp.
    struct sums {
        atomic<double> objects;
        atomic<double> objects_variance;
        atomic<double> bytes_variance;
        atomic<double> objects_skew;
        atomic<double> bytes_skew;
    };
    sums births;
    sums deaths;
    atomic<std::uint64_t> sample_bytes;  // mean bytes between two samples
};
// Ids of sampled cohorts are multiples of this, so that all parts of one lie in one page.
constexpr std::uint32_t sampled_cohort_parts = 4;
static_assert(sizeof(sampled_part) <= (sampled_cohort_parts - 1) * sizeof(cohort),
              "it lies in the place of the next cohorts");

// In cohort::owner: this is a cohort of samples.
constexpr std::uint32_t sampled_owner = std::uint32_t{1} << 31U;

ALLOCSCOPE_FAST_PATH bool is_sampled(const cohort& which) noexcept {
    return (which.facts().owner.load(memory_order::relaxed) & sampled_owner) != 0;
}

// What a cohort had at a peak, and at which one. It is one value of 16 bytes, so that a thread that
// is delayed cannot write half of it, or an old value over a newer one.
struct alignas(16) kept_at_peak {
    std::uint64_t low;   // 48 bits of the bytes of the peak, 16 bits of the objects
    std::uint64_t high;  // 48 bits of the bytes, 16 bits of the objects

    static constexpr std::uint64_t most_bytes = (std::uint64_t{1} << 48U) - 1;

    static kept_at_peak of(std::uint64_t peak, std::uint64_t objects,
                           std::uint64_t bytes) noexcept {
        return {(peak & most_bytes) | objects << 48U, (bytes & most_bytes) | (objects >> 16U)
                                                                                 << 48U};
    }
    bool is_of(std::uint64_t peak) const noexcept {
        return (low & most_bytes) == (peak & most_bytes);
    }
    std::uint64_t objects() const noexcept { return low >> 48U | high >> 48U << 16U; }
    std::uint64_t bytes() const noexcept { return high & most_bytes; }

    // Any thread may call this. The two halves may be of different times; replace() then fails.
    ALLOCSCOPE_FAST_PATH kept_at_peak read() const noexcept {
        return {__atomic_load_n(&low, __ATOMIC_ACQUIRE), __atomic_load_n(&high, __ATOMIC_ACQUIRE)};
    }
    ALLOCSCOPE_INLINE void replace(kept_at_peak known, kept_at_peak fresh) noexcept {
        __asm__ volatile("lock cmpxchg16b %0"
                         : "+m"(*this), "+a"(known.low), "+d"(known.high)
                         : "b"(fresh.low), "c"(fresh.high)
                         : "cc", "memory");
    }
};

// A cohort of a window with options::details continues in the place of the next seven cohorts'
// counters. Any thread may count a death in it, with locked instructions; everything else is
// written only by the thread that made it.
struct detailed_part {
    kept_at_peak kept;
    atomic<std::uint64_t> followed;  // the number of a followed_peak; 0: of none
    // Births and deaths, with the sum of their times, modulo 2^64, in the place of bytes: see
    // record/detailed_events.hpp.
    owned_events birth_times;
    owned_events death_times;
    owned_counter temporary;
    owned_counter sizes[size_class_count];
};
constexpr std::uint32_t detailed_cohort_parts = 8;
static_assert(sizeof(detailed_part) <= (detailed_cohort_parts - 1) * sizeof(cohort),
              "it lies in the place of the next cohorts");

// In cohort::owner: the cohort has details.
constexpr std::uint32_t detailed_owner = std::uint32_t{1} << 30U;

ALLOCSCOPE_FAST_PATH bool is_detailed(const cohort& which) noexcept {
    return (which.facts().owner.load(memory_order::relaxed) & detailed_owner) != 0;
}

class cohort_table {
public:
    static constexpr std::uint32_t id_bits = 25;  // as many as a slot of the live object map holds
    static constexpr std::uint32_t page_cohorts = 64;
    static constexpr std::uint32_t page_ids = 128;
    static constexpr std::uint32_t page_count = (1U << id_bits) / page_ids;

    // Returns false when there are no addresses for the table. May be called again after a failure.
    ALLOCSCOPE_SLOW_PATH bool prepare() noexcept {
        if (is_prepared_.load(memory_order::acquire)) return true;
        // Where addresses are limited, most of them are left to the program.
        constexpr std::size_t most_bytes = std::size_t{page_count} * page_bytes;
        std::size_t bytes = most_bytes;
        while (bytes > least_pages * page_bytes && bytes > limit_of(RLIMIT_AS) / 64) bytes /= 2;
        void* addresses = reserve_lasting_addresses(bytes);
        for (; addresses == nullptr && bytes > least_pages * page_bytes;
             addresses = reserve_lasting_addresses(bytes)) {
            bytes = bytes / 4 > least_pages * page_bytes ? bytes / 4 : least_pages * page_bytes;
        }
        if (addresses == nullptr) return false;
        cohorts_.store(static_cast<cohort*>(addresses), memory_order::relaxed);
        reserved_pages_ = static_cast<std::uint32_t>(bytes / page_bytes);
        is_prepared_.store(true, memory_order::release);
        return true;
    }

    ALLOCSCOPE_FAST_PATH cohort* by_id(std::uint32_t id) const noexcept {
        return cohorts_.load(memory_order::relaxed) + id;
    }

    ALLOCSCOPE_FAST_PATH sampled_part* sampled_part_of(std::uint32_t id) const noexcept {
        return reinterpret_cast<sampled_part*>(by_id(id + 1));
    }

    ALLOCSCOPE_FAST_PATH detailed_part* detailed_part_of(std::uint32_t id) const noexcept {
        return reinterpret_cast<detailed_part*>(by_id(id + 1));
    }

    // Returns the id of the first of 64 fresh cohorts, or 0 when there is no room. Ids of the first
    // page are never given out, so that 0 can mean "none".
    ALLOCSCOPE_SLOW_PATH std::uint32_t add_page() noexcept {
        std::uint32_t page = next_page_.load(memory_order::relaxed);
        do {
            if (page >= reserved_pages_ || page >= limit.load(memory_order::relaxed)) return 0;
            if (page >= opened_pages_.load(memory_order::acquire) && !open_up_to(page)) {
                return 0;
            }
        } while (!next_page_.compare_exchange_weak(page, page + 1, memory_order::acq_rel));
        return page * page_ids;
    }

    // Bytes of the pages given out.
    ALLOCSCOPE_FAST_PATH std::size_t used_bytes() const noexcept {
        return std::size_t{next_page_.load(memory_order::relaxed) - 1} * page_bytes;
    }

    // Forgets every cohort and gives the memory back.
    ALLOCSCOPE_FAST_PATH void release() noexcept {
        const std::uint32_t opened = opened_pages_.load(memory_order::relaxed);
        if (opened != 0) {
            empty_lasting_pages(cohorts_.load(memory_order::relaxed), opened * page_bytes);
        }
        next_page_.store(1, memory_order::relaxed);
    }

    // How many pages there may be; a test makes it small.
    atomic<std::uint32_t> limit{page_count};

private:
    static constexpr std::uint32_t least_pages = 256;
    static constexpr std::uint32_t pages_at_once = 256;  // opened by one call: 1 MiB
    static_assert(sizeof(cohort) * page_ids == page_bytes && page_ids == 2 * page_cohorts,
                  "a page of the machine, half of it counters");

    // Makes the page, and those up to the next multiple of pages_at_once, readable and writable.
    ALLOCSCOPE_SLOW_PATH bool open_up_to(std::uint32_t page) noexcept {
        const std::uint32_t first = page / pages_at_once * pages_at_once;
        cohort* from = cohorts_.load(memory_order::relaxed) + first * page_ids;
        if (!open_lasting_pages(from, std::size_t{pages_at_once} * page_bytes)) return false;
        std::uint32_t opened = opened_pages_.load(memory_order::relaxed);
        while (opened < first + pages_at_once &&
               !opened_pages_.compare_exchange_weak(opened, first + pages_at_once,
                                                    memory_order::acq_rel)) {
        }
        return true;
    }

    atomic<cohort*> cohorts_{nullptr};
    atomic<std::uint32_t> next_page_{1};
    atomic<std::uint32_t> opened_pages_{0};
    std::uint32_t reserved_pages_ = 0;  // set before is_prepared_
    atomic<bool> is_prepared_{false};
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_TABLES_COHORT_TABLE_HPP
