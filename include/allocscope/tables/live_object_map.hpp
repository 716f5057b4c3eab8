// live_object_map.hpp - finds the record of a live block from its address, without hashing.
//
// Room:     tables (floor 2), malloc-safe
// Called:   on every recorded allocation and on every free under a window
// Threads:  any, without locks: a block belongs to one thread when it is born and when it dies
// Memory:   8 bytes for every 32 bytes of heap that recorded blocks touch, in 4 KiB pages
//
//     address   46        26 25              5 4    0
//              |  region    |     granule     |      |       a region is 64 MiB of heap
//                    |               |
//     regions_  [ leaf* ....]   leaf [ slot slot slot ... ]  2,097,152 slots of 8 bytes
//
//     slot      63      52 51            27   26   25           0
//              | session  |     cohort      | half |    size     |   0: no record
//
// One slot for 32 bytes gives each block a slot of its own: the hooks never ask the allocator for
// less than 24 bytes (`smallest_block_bytes`), and blocks start at multiples of 16, so two blocks
// are at least 32 bytes apart. `half` says at which of the granule's two multiples of 16 the block
// starts. A size that does not fit in 26 bits is stored in the next slot, which a block that large
// always owns.
//
// Sampled blocks begin at a page, so their map (sampled_object_map) has one slot for each page of
// heap.
//
// The session number distinguishes records of ended windows from current ones. So nothing needs to
// be wiped when the last window ends: a slot of another session is no record.
//
// Plain stores suffice for this reason: a thread that frees a block got its address from the thread
// that allocated it, by some synchronisation of the program's own. That orders the write of the
// record before its removal. The record is removed before the real free, so no other block can get
// the address meanwhile.

#ifndef ALLOCSCOPE_TABLES_LIVE_OBJECT_MAP_HPP
#define ALLOCSCOPE_TABLES_LIVE_OBJECT_MAP_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/platform/resident_pages.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint64_t, uintptr_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// The least size that the hooks ask the allocator for, so that no two blocks share a slot.
constexpr std::size_t smallest_block_bytes = 24;

// The maps have no place for addresses from 2^47 on. The kernel hands such addresses out only on
// request, but what a pool calls an address or a size may be any number.
constexpr std::uint32_t address_bits = 47;

// Whether an object lies there, or reaches that far.
constexpr bool is_too_high(std::uintptr_t address, std::uint64_t bytes = 0) noexcept {
    constexpr std::uintptr_t end = std::uintptr_t{1} << address_bits;
    return address >= end || bytes > end - address;
}

// What all live object maps together have taken, and how much they may take.
ALLOCSCOPE_HIDDEN inline atomic<std::size_t> map_bytes_taken{0};
ALLOCSCOPE_HIDDEN inline atomic<std::size_t> most_map_bytes{SIZE_MAX};

inline void return_map_pages(void* pages, std::size_t bytes) noexcept {
    return_reservation(pages, bytes);
    map_bytes_taken.fetch_sub(bytes, memory_order::relaxed);
}

inline void* take_map_pages(std::size_t bytes) noexcept {
    const std::size_t sum = map_bytes_taken.fetch_add(bytes, memory_order::relaxed) + bytes;
    void* const pages =
        sum <= most_map_bytes.load(memory_order::relaxed) ? reserve_pages(bytes) : nullptr;
    if (pages == nullptr) map_bytes_taken.fetch_sub(bytes, memory_order::relaxed);
    return pages;
}

struct live_object {
    std::uintptr_t address = 0;
    std::uint32_t cohort = 0;
    std::uint64_t bytes = 0;
};

// One slot for every 2^GranuleShift bytes of heap.
template <std::uint32_t GranuleShift>
class object_map {
public:
    static constexpr std::uint32_t cohort_bits = 25;
    static constexpr std::uint32_t last_cohort = (1U << cohort_bits) - 1U;
    static constexpr std::uint32_t last_session = 4095;
    // Sizes from here on are stored in the slot after the record's own.
    static constexpr std::int64_t least_long_bytes = (std::int64_t{1} << 26) - 1;

    using slot = atomic<std::uint64_t>;

    // Until this is true, only prepare, for_each, wipe and resident may be called.
    ALLOCSCOPE_FAST_PATH bool is_ready() const noexcept {
        return regions_.load(memory_order::acquire) != nullptr;
    }

    // Returns false when there is no memory for the first level. May be called again after a
    // failure.
    ALLOCSCOPE_FAST_PATH bool prepare() noexcept {
        if (is_ready()) return true;
        // Writable pages count as data of the process, touched or not (RLIMIT_DATA). Half of what
        // may be data is left to the program, which would not know what to do if that were refused.
        // The kernel is asked only here: later the program may have a filter of system calls.
        most_map_bytes.store(limit_of(RLIMIT_DATA) / 2, memory_order::relaxed);
        void* pages = take_map_pages(region_count * sizeof(leaf_pointer));
        if (pages == nullptr) return false;
        leaf_pointer* expected = nullptr;
        if (!regions_.compare_exchange_strong(expected, static_cast<leaf_pointer*>(pages))) {
            return_map_pages(pages, region_count * sizeof(leaf_pointer));
        }
        return true;
    }

    // The slot of a block, or null when its part of the map could not be mapped.
    ALLOCSCOPE_FAST_PATH slot* slot_for(std::uintptr_t address) noexcept {
        slot* leaf = find_leaf(address);
        if (ALLOCSCOPE_UNLIKELY(leaf == nullptr)) {
            leaf = add_leaf(address);
            if (leaf == nullptr) return nullptr;
        }
        return leaf + granule_of(address);
    }

    // The slot of a block that may have no record; null when no block near it was ever recorded.
    ALLOCSCOPE_FAST_PATH slot* existing_slot(std::uintptr_t address) noexcept {
        slot* leaf = find_leaf(address);
        return leaf == nullptr ? nullptr : leaf + granule_of(address);
    }

    // What the records of a cohort's objects begin with.
    static ALLOCSCOPE_FAST_PATH constexpr std::uint64_t record_head(std::uint32_t session,
                                                                    std::uint32_t cohort) noexcept {
        return (std::uint64_t{session} << session_shift) | (std::uint64_t{cohort} << cohort_shift);
    }

    // Writes the record of a block whose size fits into the slot.
    ALLOCSCOPE_FAST_PATH static void put_short(slot* where, std::uintptr_t address,
                                               std::uint64_t head, std::uint64_t bytes) noexcept {
        head |= (address & 16U) << (half_shift - 4U);
        where->store(head | bytes, memory_order::relaxed);
    }
    static ALLOCSCOPE_FAST_PATH void put(slot* where, std::uintptr_t address, std::uint64_t head,
                                         std::uint64_t bytes) noexcept {
        if (is_long_size(bytes)) {
            where[1].store(bytes, memory_order::relaxed);
            bytes = size_mask;
        }
        put_short(where, address, head, bytes);
    }

    ALLOCSCOPE_FAST_PATH static std::uint32_t session_of(std::uint64_t record) noexcept {
        return static_cast<std::uint32_t>(record >> session_shift);
    }
    ALLOCSCOPE_FAST_PATH static std::uint32_t cohort_of(std::uint64_t record) noexcept {
        return static_cast<std::uint32_t>(record >> cohort_shift) & last_cohort;
    }
    // The cohort of a record that begins like those of this session; `head` is record_head(session,
    // 0). For any other record, a number greater than any cohort.
    ALLOCSCOPE_FAST_PATH static std::uint64_t cohort_in_session(std::uint64_t record,
                                                                std::uint64_t head) noexcept {
        return (record ^ head) >> cohort_shift;
    }
    // A long record keeps its size in the next slot; a short one is complete in its own.
    ALLOCSCOPE_FAST_PATH static bool is_long_size(std::uint64_t bytes) noexcept {
        return bytes >= size_mask;
    }
    ALLOCSCOPE_FAST_PATH static std::uint64_t short_bytes_of(std::uint64_t record) noexcept {
        return record & size_mask;
    }
    ALLOCSCOPE_FAST_PATH static std::uint64_t bytes_of(const slot* where,
                                                       std::uint64_t record) noexcept {
        const std::uint64_t bytes = record & size_mask;
        if (ALLOCSCOPE_UNLIKELY(bytes == size_mask)) {
            return where[1].load(memory_order::relaxed);
        }
        return bytes;
    }

    // Calls visit(live_object) for every record of the session. The program may go on meanwhile: a
    // block that dies or is born during the loop may be visited or not. Stops when visit returns
    // false.
    template <class Visit>
    void for_each(std::uint32_t session, Visit&& visit) noexcept {
        for (slot* leaf = newest_leaf(); leaf != nullptr; leaf = end_of(leaf).older) {
            if (!visit_leaf(leaf, session, visit)) return;
        }
    }

    // Forgets every record and gives the memory of the slots back; the addresses stay reserved, and
    // a page for each 64 MiB of heap stays.
    ALLOCSCOPE_FAST_PATH void wipe() noexcept {
        for (slot* leaf = newest_leaf(); leaf != nullptr; leaf = end_of(leaf).older) {
            empty_pages(leaf, leaf_slots * sizeof(slot));
        }
    }

    ALLOCSCOPE_FAST_PATH std::size_t resident() noexcept {
        std::size_t bytes = 0;
        for (slot* leaf = newest_leaf(); leaf != nullptr; leaf = end_of(leaf).older) {
            bytes += resident_bytes(leaf, leaf_bytes);
        }
        return bytes;
    }

private:
    static constexpr std::uint32_t region_shift = 26;
    static constexpr std::size_t region_count = std::size_t{1} << (address_bits - region_shift);
    static constexpr std::size_t leaf_slots = std::size_t{1} << (region_shift - GranuleShift);
    static constexpr std::size_t leaf_bytes = leaf_slots * sizeof(slot) + page_bytes;
    static constexpr std::uint32_t half_shift = 26;
    static constexpr std::uint32_t cohort_shift = 27;
    static constexpr std::uint32_t session_shift = cohort_shift + cohort_bits;
    static constexpr std::uint64_t size_mask = (std::uint64_t{1} << half_shift) - 1U;
    static_assert(least_long_bytes == size_mask, "the greatest number that fits stands for them");

    using leaf_pointer = atomic<slot*>;

    // What lies behind the slots of a leaf. The leaves are a list, because there are a few of them
    // among two million regions.
    struct leaf_end {
        slot size_of_last;  // of a huge block that begins in the last granule
        slot* older;
        std::size_t region;
    };

    static_assert(sizeof(slot) == 8, "a slot is one machine word");
    static_assert(GranuleShift >= 5 && smallest_block_bytes > 16,
                  "blocks of more than 16 bytes at multiples of 16 are 32 bytes apart");

    ALLOCSCOPE_FAST_PATH static std::size_t granule_of(std::uintptr_t address) noexcept {
        return (address >> GranuleShift) & (leaf_slots - 1U);
    }

    // Called only after a window has opened: regions_ is set before the gate opens.
    ALLOCSCOPE_FAST_PATH slot* find_leaf(std::uintptr_t address) const noexcept {
        const std::uintptr_t region = address >> region_shift;
        if (ALLOCSCOPE_UNLIKELY(region >= region_count)) return nullptr;
        return regions_.load(memory_order::relaxed)[region].load(memory_order::acquire);
    }

    ALLOCSCOPE_SLOW_PATH slot* add_leaf(std::uintptr_t address) noexcept {
        const std::uintptr_t region = address >> region_shift;
        if (region >= region_count) return nullptr;
        auto* const fresh = static_cast<slot*>(take_map_pages(leaf_bytes));
        if (fresh == nullptr) return nullptr;
        slot* expected = nullptr;
        leaf_pointer& place = regions_.load(memory_order::relaxed)[region];
        if (!place.compare_exchange_strong(expected, fresh, memory_order::acq_rel)) {
            return_map_pages(fresh, leaf_bytes);
            return expected;
        }
        end_of(fresh).region = region;
        slot* newest = newest_leaf_.load(memory_order::relaxed);
        do {
            end_of(fresh).older = newest;
        } while (!newest_leaf_.compare_exchange_weak(newest, fresh, memory_order::release));
        return fresh;
    }

    ALLOCSCOPE_INLINE slot* newest_leaf() const noexcept {
        return newest_leaf_.load(memory_order::acquire);
    }

    ALLOCSCOPE_INLINE static leaf_end& end_of(slot* leaf) noexcept {
        return *reinterpret_cast<leaf_end*>(leaf + leaf_slots);
    }

    template <class Visit>
    static bool visit_leaf(slot* leaf, std::uint32_t session, Visit&& visit) noexcept {
        const std::uintptr_t region = end_of(leaf).region;
        resident_pages pages{leaf, leaf_slots * sizeof(slot)};
        while (auto* const first = static_cast<slot*>(pages.next())) {
            for (slot* at = first; at != first + page_bytes / sizeof(slot); ++at) {
                const std::uint64_t record = at->load(memory_order::relaxed);
                if (session_of(record) != session) continue;
                const auto granule = static_cast<std::size_t>(at - leaf);
                live_object found;
                found.address = (region << region_shift) | (granule << GranuleShift) |
                                ((record >> (half_shift - 4U)) & 16U);
                found.cohort = cohort_of(record);
                found.bytes = bytes_of(at, record);
                if (!visit(found)) return false;
            }
        }
        return true;
    }

    atomic<leaf_pointer*> regions_{nullptr};
    atomic<slot*> newest_leaf_{nullptr};
};

using live_object_map = object_map<5>;      // every block
using sampled_object_map = object_map<12>;  // blocks that begin at a page

// The alignment of sampled blocks. With it, a free of any other block costs one test of its
// address.
constexpr std::size_t sampled_alignment = std::size_t{1} << 12U;

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_TABLES_LIVE_OBJECT_MAP_HPP
