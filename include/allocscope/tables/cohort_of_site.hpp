// cohort_of_site.hpp - what one thread knows about the sites it allocates at.
//
// Room:     tables (floor 2), malloc-safe
// Called:   when the chain memo does not know a stack: before the site table, and with its answer
// Threads:  one thread's own
// Memory:   12 KiB for each group of 512 sites that the thread uses; addresses for 64 KiB of
//           pointers to them
//
// For each site it keeps the cohort that the thread has for the site in one epoch, and the shape
// (chain_memo.hpp) that the stack had when it was last met. If the stack has that shape again, it
// is correct without any further test.
//
// A program with many stacks meets each of them after its lines have left the cache, so looking it
// up takes as long as waiting for memory three times. But programs repeat themselves: three of five
// times, the compiler cc1plus goes from one stack to the stack it went to the last time. So each
// site keeps its follower, which is fetched in advance and looked at before the table.

#ifndef ALLOCSCOPE_TABLES_COHORT_OF_SITE_HPP
#define ALLOCSCOPE_TABLES_COHORT_OF_SITE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_arena.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/tables/site_table.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

class cohort_of_site {
public:
    struct entry {
        std::uint64_t shape;  // 0: none that can be recognised
        std::uint32_t epoch;  // the epoch for which `cohort` is valid
        std::uint32_t cohort;
        const site* follower;  // the site that the thread met next, the last time; null: none yet
    };

    // The one site of this stack; null when there is none yet.
    ALLOCSCOPE_FAST_PATH const site* known(const site_table& all, std::uint64_t hash,
                                           const std::uintptr_t* frames, std::uint32_t frame_count,
                                           std::uint32_t tag) const noexcept {
        const bool is_expected =
            expected_ != nullptr && expected_->is_stack(hash, frames, frame_count, tag);
        return is_expected ? expected_ : all.known(hash, frames, frame_count, tag);
    }

    // The thread is at the site `now`, whose entry is `here`. A signal handler that jumps away in
    // the middle leaves a wrong guess.
    ALLOCSCOPE_FAST_PATH void meet(entry& here, const site& now) noexcept {
        if (last_ != nullptr && last_->follower != &now) last_->follower = &now;
        last_ = &here;
        expected_ = here.follower;
        if (expected_ == nullptr) return;
        // The lines of a site of 21 frames. It does no harm to fetch what is not there.
        const auto* const lines = reinterpret_cast<const char*>(expected_);
        __builtin_prefetch(lines);
        __builtin_prefetch(lines + cache_line_bytes);
        __builtin_prefetch(lines + 2 * cache_line_bytes);
    }

    // Returns null when the thread has not been at this site, nor at one of its neighbours.
    ALLOCSCOPE_FAST_PATH entry* existing(std::uint32_t site_id) const noexcept {
        if (directory_ == nullptr) return nullptr;
        entry* const chunk = directory_[site_id / site_table::chunk_sites];
        return chunk == nullptr ? nullptr : chunk + site_id % site_table::chunk_sites;
    }

    // Returns null when there is no memory.
    entry* find(page_arena& arena, std::uint32_t site_id) noexcept {
        if (directory_ == nullptr) {
            directory_ = static_cast<entry**>(reserve_pages(directory_bytes));
            if (directory_ == nullptr) return nullptr;
        }
        entry*& chunk = directory_[site_id / site_table::chunk_sites];
        if (chunk == nullptr) {
            chunk = static_cast<entry*>(arena.allocate(site_table::chunk_sites * sizeof(entry)));
            if (chunk == nullptr) return nullptr;
        }
        return chunk + site_id % site_table::chunk_sites;
    }

    // Forgets everything. The caller releases the arena that held the chunks.
    ALLOCSCOPE_FAST_PATH void release() noexcept {
        if (directory_ != nullptr) return_reservation(directory_, directory_bytes);
        directory_ = nullptr;
        last_ = nullptr;
        expected_ = nullptr;
    }

private:
    static constexpr std::size_t directory_bytes = site_table::chunk_count * sizeof(entry*);
    static constexpr std::size_t cache_line_bytes = 64;

    entry** directory_ = nullptr;
    entry* last_ = nullptr;           // of the site that the thread met last
    const site* expected_ = nullptr;  // the follower of that site
};

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_TABLES_COHORT_OF_SITE_HPP
