// site_table.hpp - keeps every distinct stack once and gives it a small number.
//
// Room:     tables (floor 2), malloc-safe
// Called:   when a thread meets a stack it has not seen lately
// Threads:  any, without locks; a site is never changed and never removed, except by release(),
//           during which no other thread may be in a hook
// Memory:   24 + 8 * frames bytes for each distinct stack, rounded up to 64; 512 KiB of buckets, of
//           which only touched pages are in memory
//
//     buckets_   [ o ][   ][ o ] ...            sites are only added: a new one becomes the first
//                  |         |                  of its bucket by a compare-and-swap. Of two threads
//                site      site -> site         that bring the same stack, the second finds the
//                                               site of the first
//
// Site 0 is "no stack": counters mode, and stacks for which there was no room.
//
// Equal stacks with different tags (tables/allocation_tags.hpp) are different sites, because the
// family of an object is read from its site.

#ifndef ALLOCSCOPE_TABLES_SITE_TABLE_HPP
#define ALLOCSCOPE_TABLES_SITE_TABLE_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/two_words.hpp>
#include <allocscope/platform/page_arena.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstring>  // memcpy

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// One distinct call stack: return addresses, innermost first.
struct site {
    std::uint64_t hash;
    atomic<site*> next;
    std::uint32_t id;
    std::uint16_t frame_count;
    std::uint16_t tag;  // number of an allocation_tag; follows frame_count, see is_stack

    ALLOCSCOPE_FAST_PATH const std::uintptr_t* frames() const noexcept {
        return reinterpret_cast<const std::uintptr_t*>(this + 1);
    }
    // Reads in steps of 16 bytes, because chain_memo.hpp writes the addresses in such steps. A read
    // of another width would have to wait until the latest writes have reached the cache.
    ALLOCSCOPE_FAST_PATH bool is_stack(std::uint64_t other_hash, const std::uintptr_t* other,
                                       std::uint32_t other_count,
                                       std::uint32_t other_tag) const noexcept {
        std::uint32_t own_shape;  // both halves are compared at once
        std::memcpy(&own_shape, &frame_count, sizeof own_shape);
        if (hash != other_hash || own_shape != (other_count | other_tag << 16U)) return false;
        const std::uintptr_t* const own = frames();
        two_words differs{};
        std::uint32_t i = 0;
        for (; i + 1 < other_count; i += 2) {
            differs |= load_two(own + i) ^ load_two(other + i);
        }
        const std::uint32_t equal = byte_mask(equal_halves(differs, two_words{}));
        return equal == 0xffff && (i == other_count || own[i] == other[i]);
    }
};

class site_table {
public:
    static constexpr std::uint32_t chunk_sites = 512;
    static constexpr std::uint32_t chunk_count = 8192;
    static constexpr std::uint32_t most_sites = chunk_sites * chunk_count;

    // The one site of this stack; null when there is none yet.
    ALLOCSCOPE_FAST_PATH const site* known(std::uint64_t hash, const std::uintptr_t* frames,
                                           std::uint32_t frame_count,
                                           std::uint32_t tag = 0) const noexcept {
        const bucket* buckets = buckets_.load(memory_order::acquire);
        if (buckets == nullptr) return nullptr;
        return find(buckets[bucket_of(hash, tag)].load(memory_order::acquire), nullptr, hash,
                    frames, frame_count, tag);
    }

    // The one site of this stack, made if there is none yet; null when there is no room for it.
    site* intern(page_arena& arena, std::uint64_t hash, const std::uintptr_t* frames,
                 std::uint32_t frame_count, std::uint32_t tag = 0) noexcept {
        bucket* buckets = prepared_buckets();
        if (buckets == nullptr) return nullptr;
        bucket& place = buckets[bucket_of(hash, tag)];
        site* first = place.load(memory_order::acquire);
        site* searched = nullptr;
        site* fresh = nullptr;
        for (;;) {
            if (site* known = find(first, searched, hash, frames, frame_count, tag)) return known;
            if (fresh == nullptr) {
                // Another thread may count at the site as soon as it finds it, so by_id() knows it
                // before.
                fresh = make_site(arena, hash, frames, frame_count, tag);
                if (fresh == nullptr || !put_by_number(arena, fresh)) return nullptr;
            }
            searched = first;
            fresh->next.store(first, memory_order::relaxed);
            // Release: a thread that finds the site sees its frames.
            if (place.compare_exchange_weak(first, fresh, memory_order::acq_rel)) return fresh;
        }
    }

    // The site with this number; null for site 0.
    ALLOCSCOPE_FAST_PATH const site* by_id(std::uint32_t id) const noexcept {
        if (id == 0 || id >= most_sites) return nullptr;
        const site_slot* chunk = chunks_[id / chunk_sites].load(memory_order::acquire);
        return chunk == nullptr ? nullptr : chunk[id % chunk_sites].load(memory_order::acquire);
    }

    std::uint32_t size() const noexcept { return next_id_.load(memory_order::relaxed) - 1; }
    ALLOCSCOPE_FAST_PATH std::size_t used_bytes() const noexcept {
        bucket* buckets = buckets_.load(memory_order::acquire);
        if (buckets == nullptr) return 0;
        const std::size_t touched = std::size_t{size()} * page_bytes;  // at most a page per site
        return touched < bucket_count * sizeof(bucket) ? touched : bucket_count * sizeof(bucket);
    }

    // Forgets every site. The caller releases the arena that held them.
    ALLOCSCOPE_FAST_PATH void release() noexcept {
        bucket* buckets = buckets_.load(memory_order::relaxed);
        if (buckets != nullptr) empty_pages(buckets, bucket_count * sizeof(bucket));
        for (auto& chunk : chunks_) {
            if (chunk.load(memory_order::relaxed) != nullptr) {
                chunk.store(nullptr, memory_order::relaxed);
            }
        }
        next_id_.store(1, memory_order::relaxed);
    }

    // How many sites there may be; a test makes it small.
    atomic<std::uint32_t> limit{most_sites - 1};

private:
    using bucket = atomic<site*>;
    using site_slot = atomic<const site*>;
    static constexpr std::size_t bucket_count = std::size_t{1} << 16U;

    // Thousands of pools may have one stack.
    ALLOCSCOPE_FAST_PATH static std::size_t bucket_of(std::uint64_t hash,
                                                      std::uint32_t tag) noexcept {
        return (hash + tag) & (bucket_count - 1U);
    }

    ALLOCSCOPE_FAST_PATH static site* find(site* from, const site* until, std::uint64_t hash,
                                           const std::uintptr_t* frames, std::uint32_t frame_count,
                                           std::uint32_t tag) noexcept {
        for (site* s = from; s != until; s = s->next.load(memory_order::relaxed)) {
            if (s->is_stack(hash, frames, frame_count, tag)) return s;
        }
        return nullptr;
    }

    ALLOCSCOPE_SLOW_PATH bucket* prepared_buckets() noexcept {
        bucket* buckets = buckets_.load(memory_order::acquire);
        if (buckets != nullptr) return buckets;
        void* pages = reserve_pages(bucket_count * sizeof(bucket));
        if (pages == nullptr) return nullptr;
        if (buckets_.compare_exchange_strong(buckets, static_cast<bucket*>(pages),
                                             memory_order::acq_rel)) {
            return static_cast<bucket*>(pages);
        }
        return_reservation(pages, bucket_count * sizeof(bucket));
        return buckets;
    }

    ALLOCSCOPE_SLOW_PATH site* make_site(page_arena& arena, std::uint64_t hash,
                                         const std::uintptr_t* frames, std::uint32_t frame_count,
                                         std::uint32_t tag) noexcept {
        if (size() >= limit.load(memory_order::relaxed)) return nullptr;
        const std::size_t frame_bytes = frame_count * sizeof(std::uintptr_t);
        auto* fresh = static_cast<site*>(arena.allocate(sizeof(site) + frame_bytes));
        if (fresh == nullptr) return nullptr;
        fresh->hash = hash;
        fresh->frame_count = static_cast<std::uint16_t>(frame_count);
        fresh->tag = static_cast<std::uint16_t>(tag);
        fresh->id = next_id_.fetch_add(1, memory_order::relaxed);
        if (fresh->id >= most_sites) {
            next_id_.fetch_sub(1, memory_order::relaxed);
            return nullptr;
        }
        std::memcpy(static_cast<void*>(fresh + 1), frames, frame_bytes);
        return fresh;
    }

    ALLOCSCOPE_SLOW_PATH bool put_by_number(page_arena& arena, const site* fresh) noexcept {
        auto& place = chunks_[fresh->id / chunk_sites];
        site_slot* chunk = place.load(memory_order::acquire);
        if (chunk == nullptr) {
            auto* made = static_cast<site_slot*>(arena.allocate(chunk_sites * sizeof(site_slot)));
            if (made == nullptr) return false;
            if (place.compare_exchange_strong(chunk, made, memory_order::acq_rel)) chunk = made;
        }
        chunk[fresh->id % chunk_sites].store(fresh, memory_order::release);
        return true;
    }

    atomic<bucket*> buckets_{nullptr};
    atomic<std::uint32_t> next_id_{1};
    atomic<site_slot*> chunks_[chunk_count] = {};
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_TABLES_SITE_TABLE_HPP
