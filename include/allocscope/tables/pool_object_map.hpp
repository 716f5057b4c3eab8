// pool_object_map.hpp - finds the record of a pool's object from its address.
//
// Room:     tables (floor 2), malloc-safe
// Called:   on every allocation and free that a pool reports while a window is open
// Threads:  any, without locks: an address belongs to one thread when its object is born and when
//           it dies, as in tables/live_object_map.hpp
// Memory:   64 bytes for each two objects alive at the same time, 8 bytes for each 64 bytes of heap
//           that they touch; 32 MiB of addresses, of which only touched pages are in memory
//
// A pool may put objects at any address, as near to each other as it likes, and the first object
// where its chunk begins. So the address itself is searched for, in a list of the objects that
// begin in the same 64 bytes:
//
//     bucket = address / 64 % 4 Mi      neighbours in the heap are neighbours here: few pages
//       |
//       v
//     [ cell | cell | next ] -> [ cell | cell | next ]       a cell is used again, never taken out
//
//     key      63        62..47    46      0        record   63      48     24       0
//            | filling | session | address |               |  depth | tag  | cohort |
//
// One address may have several records, each of another family: for example an object of one pool,
// and the chunk of another pool that the object was cut from. The deepest record is the newest.

#ifndef ALLOCSCOPE_TABLES_POOL_OBJECT_MAP_HPP
#define ALLOCSCOPE_TABLES_POOL_OBJECT_MAP_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_arena.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/resident_pages.hpp>
#include <allocscope/tables/live_object_map.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class pool_object_map {
public:
    struct cell {
        atomic<std::uint64_t> key;
        atomic<std::uint64_t> record;  // complete unless the key says `filling`
        atomic<std::uint64_t> bytes;

        std::uint32_t cohort() const noexcept {
            return static_cast<std::uint32_t>(record.load(memory_order::relaxed)) &
                   live_object_map::last_cohort;
        }
        std::uint32_t tag() const noexcept {
            return static_cast<std::uint32_t>(record.load(memory_order::acquire) >> tag_shift) &
                   0xffffU;
        }
        std::uint32_t depth() const noexcept {
            return static_cast<std::uint32_t>(record.load(memory_order::acquire) >> depth_shift);
        }
        // Forgets the object at the address, so that the cell may be used for another one. Returns
        // false when the session has ended, and another object has got the cell since: the caller
        // may have been stopped after it had found the cell.
        ALLOCSCOPE_INLINE bool forget(std::uintptr_t address, std::uint32_t session) noexcept {
            std::uint64_t expected = key_of(address, session);
            return key.compare_exchange_strong(expected, 0, memory_order::acq_rel);
        }
    };

    // The newest record of an address for which fits(tag) is true; null when there is none. Another
    // thread may meanwhile forget an object of another family at this address, and its cell may get
    // one of another address. So a record counts only if the key is the same before and after it is
    // read.
    template <class Fits>
    ALLOCSCOPE_INLINE cell* newest(std::uintptr_t address, std::uint32_t session,
                                   Fits&& fits) const noexcept {
        const bucket* const buckets = buckets_.load(memory_order::acquire);
        if (buckets == nullptr || is_too_high(address)) return nullptr;
        const std::uint64_t key = key_of(address, session);
        cell* found = nullptr;
        std::uint32_t deepest = 0;
        for (knot* k = buckets[index_of(address)].load(memory_order::acquire); k != nullptr;
             k = k->next) {
            for (cell& each : k->cells) {
                if (each.key.load(memory_order::acquire) != key || !fits(each.tag())) continue;
                const std::uint32_t depth = each.depth();
                if (each.key.load(memory_order::relaxed) != key) continue;
                if (found != nullptr && depth <= deepest) continue;
                found = &each;
                deepest = depth;
            }
        }
        return found;
    }

    // Adds a record. Returns false when there is no memory for it, or when the address is too high.
    bool put(page_arena& arena, std::uintptr_t address, std::uint32_t session, std::uint32_t cohort,
             std::uint32_t tag, std::uint32_t depth, std::uint64_t bytes) noexcept {
        bucket* const buckets = prepared_buckets();
        if (buckets == nullptr || is_too_high(address)) return false;
        bucket& place = buckets[index_of(address)];
        const std::uint64_t key = key_of(address, session);
        cell* free = take_cell(place.load(memory_order::acquire), key, session);
        if (free == nullptr) {
            auto* fresh = static_cast<knot*>(arena.allocate(sizeof(knot)));  // zeroed
            if (fresh == nullptr) return false;
            knots_.fetch_add(1, memory_order::relaxed);
            free = fresh->cells;
            free->key.store(filling | key, memory_order::relaxed);
            fresh->next = place.load(memory_order::acquire);
            while (!place.compare_exchange_weak(fresh->next, fresh, memory_order::acq_rel)) {
            }
        }
        free->bytes.store(bytes, memory_order::relaxed);
        free->record.store(
            std::uint64_t{depth} << depth_shift | std::uint64_t{tag} << tag_shift | cohort,
            memory_order::relaxed);
        free->key.store(key, memory_order::release);
        return true;
    }

    // Calls visit(live_object) for every record of the session, until visit returns false. The
    // program may go on meanwhile, as in live_object_map::for_each.
    template <class Visit>
    void for_each(std::uint32_t session, Visit&& visit) const noexcept {
        bucket* const buckets = buckets_.load(memory_order::acquire);
        if (buckets == nullptr) return;
        resident_pages pages{buckets, bucket_count_ * sizeof(bucket)};
        while (auto* const first = static_cast<bucket*>(pages.next())) {
            for (bucket* at = first; at != first + page_bytes / sizeof(bucket); ++at) {
                if (!visit_bucket(*at, session, visit)) return;
            }
        }
    }

    // The most bytes of the buckets that can be in memory.
    ALLOCSCOPE_INLINE std::size_t used_bytes() const noexcept {
        const std::size_t all = bucket_count_ * sizeof(bucket);
        const std::size_t touched = knots_.load(memory_order::relaxed) * page_bytes;
        return touched < all ? touched : all;
    }

    // Forgets every record. The caller releases the arena that held them.
    ALLOCSCOPE_INLINE void release() noexcept {
        bucket* const buckets = buckets_.load(memory_order::relaxed);
        if (buckets == nullptr || knots_.load(memory_order::relaxed) == 0) return;
        empty_pages(buckets, bucket_count_ * sizeof(bucket));
        knots_.store(0, memory_order::relaxed);
    }

private:
    static constexpr std::uint32_t stretch_shift = 6;  // 64 bytes of heap have one bucket
    static constexpr std::uint32_t tag_shift = live_object_map::cohort_bits;
    static constexpr std::uint32_t depth_shift = tag_shift + 16;
    static constexpr std::uint64_t filling = std::uint64_t{1} << 63U;
    static constexpr std::size_t most_buckets = std::size_t{1} << 22U;
    static constexpr std::size_t least_buckets = std::size_t{1} << 15U;

    struct knot {
        cell cells[2];
        knot* next;  // never changed once the knot is found
    };
    static_assert(sizeof(knot) <= 64, "a piece of the arena");
    using bucket = atomic<knot*>;

    static std::uint64_t key_of(std::uintptr_t address, std::uint32_t session) noexcept {
        return std::uint64_t{session} << address_bits | address;
    }
    static std::uint32_t session_of(std::uint64_t key) noexcept {
        return static_cast<std::uint32_t>((key & ~filling) >> address_bits);
    }
    std::size_t index_of(std::uintptr_t address) const noexcept {
        return (address >> stretch_shift) & (bucket_count_ - 1U);
    }

    // Finds a cell that is free or of an ended session, and marks it as being filled. A cell that
    // is being filled stays with its thread, even if that one was stopped before its session ended:
    // it still writes to the cell when it goes on.
    static ALLOCSCOPE_INLINE cell* take_cell(knot* first, std::uint64_t key,
                                             std::uint32_t session) noexcept {
        for (knot* k = first; k != nullptr; k = k->next) {
            for (cell& each : k->cells) {
                std::uint64_t seen = each.key.load(memory_order::relaxed);
                const bool is_free = (seen & filling) == 0 && session_of(seen) != session;
                if (is_free &&
                    each.key.compare_exchange_strong(seen, filling | key, memory_order::acq_rel)) {
                    return &each;
                }
            }
        }
        return nullptr;
    }

    ALLOCSCOPE_INLINE bucket* prepared_buckets() noexcept {
        bucket* buckets = buckets_.load(memory_order::acquire);
        return buckets != nullptr ? buckets : prepare();
    }

    // The number of buckets is decided once, by the first thread that gets here.
    ALLOCSCOPE_SLOW_PATH bucket* prepare() noexcept {
        // Where addresses are limited, most of them are left to the program.
        std::size_t count = most_buckets;
        while (count > least_buckets && count * sizeof(bucket) > limit_of(RLIMIT_AS) / 64) {
            count /= 2;
        }
        std::size_t chosen = 0;
        if (!bucket_count_.compare_exchange_strong(chosen, count)) count = chosen;
        void* pages = reserve_pages(count * sizeof(bucket));
        if (pages == nullptr) return nullptr;
        bucket* expected = nullptr;
        if (buckets_.compare_exchange_strong(expected, static_cast<bucket*>(pages),
                                             memory_order::acq_rel)) {
            return static_cast<bucket*>(pages);
        }
        return_reservation(pages, count * sizeof(bucket));
        return expected;
    }

    template <class Visit>
    static bool visit_bucket(const bucket& from, std::uint32_t session, Visit& visit) noexcept {
        for (knot* k = from.load(memory_order::acquire); k != nullptr; k = k->next) {
            for (cell& each : k->cells) {
                const std::uint64_t key = each.key.load(memory_order::acquire);
                if ((key & filling) != 0 || session_of(key) != session) continue;
                live_object found;
                found.address = key & ((std::uint64_t{1} << address_bits) - 1U);
                found.cohort = each.cohort();
                found.bytes = each.bytes.load(memory_order::relaxed);
                if (!visit(found)) return false;
            }
        }
        return true;
    }

    atomic<bucket*> buckets_{nullptr};
    atomic<std::size_t> bucket_count_{0};
    atomic<std::size_t> knots_{0};
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_TABLES_POOL_OBJECT_MAP_HPP
