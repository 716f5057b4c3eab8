// recent_stacks.hpp - the stacks one thread used lately, by hash.
//
// Room:     tables (floor 3), malloc-safe
// Called:   when the chain memo does not know a stack, before the shared site table is asked
// Threads:  one thread's own
// Memory:   4096 entries of 24 bytes, touched page by page
//
// A direct-mapped cache in front of site_table: it also remembers the thread's cohort for the
// stack, so a thread that goes round a few thousand stacks finds both with one look.

#ifndef ALLOCSCOPE_TABLES_RECENT_STACKS_HPP
#define ALLOCSCOPE_TABLES_RECENT_STACKS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/owned_counter.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/tables/site_table.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

struct recent_stack {
    std::uint64_t hash;
    const site* known;    // null: empty
    std::uint32_t epoch;  // for which `cohort` is right
    std::uint32_t cohort;
};

class recent_stacks {
public:
    static constexpr std::size_t entry_count = 4096;

    bool is_ready() const noexcept { return entries_ != nullptr; }
    bool prepare() noexcept {
        if (entries_ == nullptr) entries_ = static_cast<recent_stack*>(reserve_pages(mapped_bytes));
        return entries_ != nullptr;
    }
    void release() noexcept {
        if (entries_ != nullptr) return_reservation(entries_, mapped_bytes);
        entries_ = nullptr;
        used_entries_.set(0);
    }
    void note_new_entry() noexcept { used_entries_.add(1); }
    // At most: each entry may lie in a page of its own. Any thread.
    std::uint64_t touched_bytes() const noexcept {
        const std::uint64_t pages = used_entries_.read() * page_bytes;
        return pages < mapped_bytes ? pages : mapped_bytes;
    }
    ALLOCSCOPE_FAST_PATH recent_stack& entry_for(std::uint64_t hash) noexcept {
        return entries_[hash & (entry_count - 1U)];
    }

private:
    static constexpr std::size_t mapped_bytes = entry_count * sizeof(recent_stack);

    recent_stack* entries_ = nullptr;
    owned_counter used_entries_;
};

// For each site the cohort that this thread has for it in one epoch.
class cohort_of_site {
public:
    struct entry {
        std::uint32_t epoch;
        std::uint32_t cohort;
    };

    // Null when there is no memory.
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

    // Forgets everything. The arena that held the chunks is released by the caller.
    void release() noexcept {
        if (directory_ != nullptr) return_reservation(directory_, directory_bytes);
        directory_ = nullptr;
    }

private:
    static constexpr std::size_t directory_bytes = site_table::chunk_count * sizeof(entry*);

    entry** directory_ = nullptr;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_TABLES_RECENT_STACKS_HPP
