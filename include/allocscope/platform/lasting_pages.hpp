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
//     private      indexes that only find those quickly: the live object map, memos, rules
//
// Without an area the pages are private ones like any others. Pages of an area are taken one after
// the other. They are not given back to the area, but their memory is given back to the kernel.
//
// At first the whole area is mapped, but only the pages in use can be read and written, so that a
// tool that reads all memory, or a process that locks it, does not meet the rest. A process may
// also limit its addresses while it runs (RLIMIT_AS). So after trim() only the pages in use are
// mapped. When more are needed, the mapping is made longer at its end: that needs no descriptor of
// the file.

#ifndef ALLOCSCOPE_PLATFORM_LASTING_PAGES_HPP
#define ALLOCSCOPE_PLATFORM_LASTING_PAGES_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t

#include <sched.h>     // sched_yield
#include <sys/mman.h>  // madvise, mremap, munmap

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The end of a mapping of a file. The addresses after it are free.
class mapping_edge {
public:
    ALLOCSCOPE_INLINE void begin(std::uintptr_t at, std::uintptr_t limit) noexcept {
        limit_ = limit;
        at_.store(at, memory_order::relaxed);
    }
    ALLOCSCOPE_INLINE std::uintptr_t at() const noexcept { return at_.load(memory_order::relaxed); }

    // Maps more, until `wanted`. May be called on any thread, also in a signal handler. Returns
    // false when the kernel refused.
    bool reach(std::uintptr_t wanted) noexcept {
        constexpr int most_waits = 50'000;
        int waits = 0;
        std::uintptr_t at = at_.load(memory_order::acquire);
        while (at < wanted) {
            const std::size_t bytes = limit_ - at < step ? limit_ - at : step;
            if (is_made_longer(at, bytes)) {
                at += bytes;
                at_.store(at, memory_order::release);
                continue;
            }
            // Another thread may have mapped it and not yet stored `at`, because it lost its
            // processor. In a signal handler it may be this thread: then `at` stays as it is.
            const std::uintptr_t before = at;
            at = at_.load(memory_order::acquire);
            if (at != before) continue;
            if (is_mapping_refused() || at == taken_at_.load(memory_order::relaxed) ||
                !is_mapped(at, bytes)) {
                return false;
            }
            if (waits++ == most_waits) taken_at_.store(at, memory_order::relaxed);
            ::sched_yield();
        }
        return true;
    }

    static constexpr std::size_t step = std::size_t{1} << 20U;

private:
    static ALLOCSCOPE_INLINE bool is_made_longer(std::uintptr_t at, std::size_t bytes) noexcept {
        if (is_mapping_refused()) return false;
        void* const last_page = reinterpret_cast<void*>(at - page_bytes);
        const int saved_errno = errno;
        const bool is_done = ::mremap(last_page, page_bytes, page_bytes + bytes, 0) != MAP_FAILED;
        errno = saved_errno;
        return is_done;
    }

    // Whether there is something at each of these addresses. The advice changes nothing.
    static bool is_mapped(std::uintptr_t at, std::size_t bytes) noexcept {
        const int saved_errno = errno;
        const bool is_there =
            ::madvise(reinterpret_cast<void*>(at), bytes, MADV_WILLNEED) == 0 || errno != ENOMEM;
        errno = saved_errno;
        return is_there;
    }

    atomic<std::uintptr_t> at_{0};
    atomic<std::uintptr_t> taken_at_{0};  // where a foreign mapping begins; 0: unknown
    std::uintptr_t limit_ = 0;
};

class lasting_area {
public:
    // The addresses from `*next` to `end` are shared and cannot be read or written yet. `next` lies
    // in the area, too.
    void begin(atomic<std::uintptr_t>* next, std::uintptr_t end) noexcept {
        end_ = end;
        pages_.begin(end, end);
        next_ = next;
    }
    ALLOCSCOPE_INLINE bool exists() const noexcept { return next_ != nullptr; }
    bool holds(const void* pages) const noexcept {
        return reinterpret_cast<std::uintptr_t>(pages) - first() < end_ - first();
    }

    // Takes whole pages. Returns null when the area is full, or memory is refused.
    void* take(std::size_t bytes) noexcept {
        const std::uintptr_t at = take_addresses(bytes);
        void* const pages = reinterpret_cast<void*>(at);
        const bool is_there =
            at != 0 && (is_trimmed_ ? pages_.reach(at + bytes) : open_pages(pages, bytes));
        return is_there ? pages : nullptr;
    }

    // Takes addresses, of which open() makes pages, from the first on. Returns null when the area
    // is full.
    void* reserve(std::size_t bytes) noexcept {
        if (is_trimmed_ || reserved_ != 0) return take(bytes);
        reserved_ = take_addresses(bytes);
        if (reserved_ == 0) return nullptr;
        reserved_end_ = reserved_ + bytes;
        opened_.begin(reserved_, reserved_end_);
        return reinterpret_cast<void*>(reserved_);
    }
    bool open(void* pages, std::size_t bytes) noexcept {
        const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(pages) + bytes;
        if (is_trimmed_) return end > reserved_end_ || opened_.reach(end);
        if (!open_pages(pages, bytes)) return false;
        if (end > opened_.at() && end <= reserved_end_) opened_.begin(end, reserved_end_);
        return true;
    }

    // From now on only the parts in use are mapped, and a little more of each, so that a program
    // with a filter of system calls needs no mremap as long as it allocates little. Called before
    // there is a second thread, while no other code gets addresses of the area from the kernel.
    // Where a mapping cannot be extended in place, as under Valgrind, the area loses its last part
    // and the rest stays mapped.
    void trim() noexcept {
        const std::uintptr_t used = next_->load(memory_order::relaxed);
        const std::uintptr_t kept = used + mapping_edge::step;
        const std::uintptr_t last = end_ - mapping_edge::step;
        if (kept >= last || !is_unmapped(last, end_)) return;
        pages_.begin(last, end_);
        if (!pages_.reach(end_)) {
            end_ = last;
            pages_.begin(last, last);
            return;
        }
        // A mapping that is made longer keeps the permissions of its last page.
        if (!is_opened(used, mapping_edge::step)) return;
        std::uintptr_t at = opened_.at();
        if (reserved_ != 0) {
            const std::uintptr_t last_page = at - page_bytes;
            at = reserved_end_ - at < mapping_edge::step ? reserved_end_ : at + mapping_edge::step;
            if (!is_opened(last_page, at - last_page)) return;
            opened_.begin(at, reserved_end_);
        }
        if (!is_unmapped(kept, end_)) return;
        pages_.begin(kept, end_);
        is_trimmed_ = true;
        if (!is_unmapped(at, reserved_end_)) {
            is_opened(at, reserved_end_ - at);
            opened_.begin(reserved_end_, reserved_end_);
        }
    }

    // Unmaps the area, and everything from `first` to its beginning. There is no area afterwards.
    void give_up(void* first) noexcept {
        const auto begin = reinterpret_cast<std::uintptr_t>(first);
        if (is_trimmed_ && reserved_ != 0) {
            is_unmapped(begin, opened_.at());
            is_unmapped(reserved_end_, pages_.at());
        } else {
            is_unmapped(begin, pages_.at());
        }
        next_ = nullptr;
        reserved_ = reserved_end_ = 0;
        is_trimmed_ = false;
    }

private:
    ALLOCSCOPE_INLINE std::uintptr_t first() const noexcept {
        return reinterpret_cast<std::uintptr_t>(next_);
    }

    // 0: the area is full.
    std::uintptr_t take_addresses(std::size_t& bytes) noexcept {
        bytes = (bytes + page_bytes - 1) & ~(page_bytes - 1);
        std::uintptr_t at = next_->load(memory_order::relaxed);
        do {
            if (bytes > end_ - at) return 0;
        } while (!next_->compare_exchange_weak(at, at + bytes, memory_order::relaxed));
        return at;
    }

    static bool is_opened(std::uintptr_t at, std::size_t bytes) noexcept {
        return open_pages(reinterpret_cast<void*>(at), bytes);
    }
    static bool is_unmapped(std::uintptr_t from, std::uintptr_t to) noexcept {
        return from >= to || ::munmap(reinterpret_cast<void*>(from), to - from) == 0;
    }

    atomic<std::uintptr_t>* next_ = nullptr;  // null: there is no area
    std::uintptr_t end_ = 0;
    mapping_edge pages_;           // what take() gives is mapped up to here
    std::uintptr_t reserved_ = 0;  // what reserve() gave; 0: nothing
    std::uintptr_t reserved_end_ = 0;
    mapping_edge opened_;  // the reserved addresses are opened up to here
    bool is_trimmed_ = false;
};

ALLOCSCOPE_HIDDEN inline lasting_area lasting;

// Like reserve_addresses(), but lasting if there is an area. The same holds for those below.
inline void* reserve_lasting_addresses(std::size_t bytes) noexcept {
    if (!lasting.exists()) return reserve_addresses(bytes);
    return is_mapping_refused() ? nullptr : lasting.reserve(bytes);
}

// Like open_pages(), for addresses from reserve_lasting_addresses().
inline bool open_lasting_pages(void* pages, std::size_t bytes) noexcept {
    return lasting.exists() ? lasting.open(pages, bytes) : open_pages(pages, bytes);
}

// Like reserve_pages().
inline void* reserve_lasting_pages(std::size_t bytes) noexcept {
    if (!lasting.exists()) return reserve_pages(bytes);
    return is_mapping_refused() ? nullptr : lasting.take(bytes);
}

// Like map_pages().
inline void* map_lasting_pages(std::size_t bytes) noexcept {
    void* pages = reserve_lasting_pages(bytes);
    if (pages != nullptr) mapped_pages_bytes.fetch_add(bytes, memory_order::relaxed);
    return pages;
}

// Like empty_pages().
inline void empty_lasting_pages(void* pages, std::size_t bytes) noexcept {
    if (!lasting.holds(pages)) return empty_pages(pages, bytes);
    const int saved_errno = errno;
    ::madvise(pages, bytes, MADV_REMOVE);
    errno = saved_errno;
}

// Like return_reservation(); pages of an area only become empty.
inline void return_lasting_pages(void* pages, std::size_t bytes) noexcept {
    if (!lasting.holds(pages)) return return_reservation(pages, bytes);
    empty_lasting_pages(pages, bytes);
}

// For a page_list that a report is made of.
struct lasting_pages {
    static constexpr std::size_t first_bytes = 4 * page_bytes;
    static ALLOCSCOPE_INLINE void* reserve(std::size_t bytes) noexcept {
        return reserve_lasting_pages(bytes);
    }
    static ALLOCSCOPE_INLINE void give_back(void* pages, std::size_t bytes) noexcept {
        return_lasting_pages(pages, bytes);
    }
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_LASTING_PAGES_HPP
