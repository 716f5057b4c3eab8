// page_arena.hpp - small pieces of zeroed memory that are given back all at once.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by tables/ and record/ for sites, epochs, and what a thread keeps for sites and cohorts
// Threads:  allocate() from any thread, also inside a signal handler: no lock; release() only
//           while no other thread can be inside
// Memory:   blocks of 256 KiB of which only what was handed out is touched
//
//     block:  | next | used |  piece  piece  piece ......| untouched |
//
// A piece is taken by adding to `used`. A thread that goes past the end maps a new block and offers
// it with one compare-and-swap. If it loses, it gives its block back and tries again.

#ifndef ALLOCSCOPE_PLATFORM_PAGE_ARENA_HPP
#define ALLOCSCOPE_PLATFORM_PAGE_ARENA_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/lasting_pages.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class page_arena {
public:
    static constexpr std::size_t block_bytes = std::size_t{256} * 1024;
    static constexpr std::size_t largest_piece = block_bytes / 8;

    // Zeroed memory, aligned to 64; null when the kernel refuses. At most largest_piece bytes.
    void* allocate(std::size_t bytes) noexcept {
        const std::size_t rounded = (bytes + 63U) & ~std::size_t{63};
        for (;;) {
            block* current = current_.load(memory_order::acquire);
            if (current != nullptr) {
                const std::size_t at = current->used.fetch_add(rounded, memory_order::relaxed);
                if (at + rounded <= block_bytes) return reinterpret_cast<char*>(current) + at;
            }
            if (!add_block(current)) return nullptr;
        }
    }

    // Unmaps everything.
    void release() noexcept {
        block* next = current_.exchange(nullptr, memory_order::acq_rel);
        while (next != nullptr) {
            block* older = next->next;
            return_lasting_pages(next, block_bytes);
            next = older;
        }
    }

    // Bytes handed out: no more than these are touched.
    std::size_t used_bytes() const noexcept {
        std::size_t sum = 0;
        for (block* b = current_.load(memory_order::acquire); b != nullptr; b = b->next) {
            const std::size_t used = b->used.load(memory_order::relaxed);
            sum += used < block_bytes ? used : block_bytes;
        }
        return sum;
    }

private:
    struct alignas(64) block {
        block* next;
        atomic<std::size_t> used;
    };

    bool add_block(block* seen) noexcept {
        void* pages = reserve_lasting_pages(block_bytes);
        if (pages == nullptr) return false;
        auto* fresh = static_cast<block*>(pages);
        fresh->next = seen;
        fresh->used.store(sizeof(block), memory_order::relaxed);
        // Release: a thread that sees the block sees its head.
        if (!current_.compare_exchange_strong(seen, fresh, memory_order::acq_rel)) {
            return_lasting_pages(pages, block_bytes);
        }
        return true;
    }

    atomic<block*> current_{nullptr};
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLATFORM_PAGE_ARENA_HPP
