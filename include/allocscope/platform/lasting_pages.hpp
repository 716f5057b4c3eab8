// lasting_pages.hpp - pages whose contents can outlive the process.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by tables/ and record/ for everything that a report needs
// Threads:  any, lock-free; begin() before there is a second thread
// Memory:   as page_memory.hpp; from the area, if there is one
//
// A process that is recorded from outside has an area: one mapping of memory that it shares with
// the command that started it. However the process ends, the command can still read there what was
// recorded. So everything that a report needs is taken from the area:
//
//     lasting      stacks, cohorts, what threads have counted, which modules were met
//     private      what only serves to find those quickly: the live object map, memos, rules
//
// Without an area the pages are private ones like any others. Pages of an area are taken one after
// the other. They are not given back to the area, but their memory is given back to the kernel.

#ifndef ALLOCSCOPE_PLATFORM_LASTING_PAGES_HPP
#define ALLOCSCOPE_PLATFORM_LASTING_PAGES_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t

#include <sys/mman.h>  // madvise

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class lasting_area {
public:
    // The addresses from `*next` to `end` are shared and cannot be read or written yet. `next` lies
    // in the area, too.
    void begin(atomic<std::uintptr_t>* next, std::uintptr_t end) noexcept {
        end_ = end;
        next_ = next;
    }
    bool exists() const noexcept { return next_ != nullptr; }
    bool holds(const void* pages) const noexcept {
        return reinterpret_cast<std::uintptr_t>(pages) - first() < end_ - first();
    }

    // Takes whole pages. Returns null when the area is full.
    void* take(std::size_t bytes) noexcept {
        const std::size_t whole = (bytes + page_bytes - 1) & ~(page_bytes - 1);
        std::uintptr_t at = next_->load(memory_order::relaxed);
        do {
            if (whole > end_ - at) return nullptr;
        } while (!next_->compare_exchange_weak(at, at + whole, memory_order::relaxed));
        return reinterpret_cast<void*>(at);
    }

private:
    std::uintptr_t first() const noexcept { return reinterpret_cast<std::uintptr_t>(next_); }

    atomic<std::uintptr_t>* next_ = nullptr;  // null: there is no area
    std::uintptr_t end_ = 0;
};

ALLOCSCOPE_HIDDEN inline lasting_area lasting;

// As reserve_addresses.
inline void* reserve_lasting_addresses(std::size_t bytes) noexcept {
    if (!lasting.exists()) return reserve_addresses(bytes);
    return is_mapping_refused() ? nullptr : lasting.take(bytes);
}

// As reserve_pages.
inline void* reserve_lasting_pages(std::size_t bytes) noexcept {
    if (!lasting.exists()) return reserve_pages(bytes);
    void* pages = lasting.take(bytes);
    return pages != nullptr && open_pages(pages, bytes) ? pages : nullptr;
}

// As map_pages.
inline void* map_lasting_pages(std::size_t bytes) noexcept {
    void* pages = reserve_lasting_pages(bytes);
    if (pages != nullptr) mapped_pages_bytes.fetch_add(bytes, memory_order::relaxed);
    return pages;
}

// As empty_pages.
inline void empty_lasting_pages(void* pages, std::size_t bytes) noexcept {
    if (!lasting.holds(pages)) return empty_pages(pages, bytes);
    const int saved_errno = errno;
    ::madvise(pages, bytes, MADV_REMOVE);
    errno = saved_errno;
}

// As return_reservation.
inline void return_lasting_pages(void* pages, std::size_t bytes) noexcept {
    if (!lasting.holds(pages)) return return_reservation(pages, bytes);
    empty_lasting_pages(pages, bytes);
}

// For a page_list that a report is made of.
struct lasting_pages {
    static void* reserve(std::size_t bytes) noexcept { return reserve_lasting_pages(bytes); }
    static void give_back(void* pages, std::size_t bytes) noexcept {
        return_lasting_pages(pages, bytes);
    }
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLATFORM_LASTING_PAGES_HPP
