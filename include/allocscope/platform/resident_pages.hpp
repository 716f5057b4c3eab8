// resident_pages.hpp - says which pages of a table are in memory.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by tables/ when their records are visited, or their memory is counted
// Threads:  any; a page may come into memory meanwhile
// Memory:   none
//
// A page of a table that was never written is not in memory. It has no records, and to read it
// would map it. The kernel is asked for 512 pages at once, because the table of a heap of 4 GiB has
// 260,000.

#ifndef ALLOCSCOPE_PLATFORM_RESIDENT_PAGES_HPP
#define ALLOCSCOPE_PLATFORM_RESIDENT_PAGES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t

#include <sys/mman.h>  // mincore

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Goes through the pages of a range that are in memory. When the kernel does not answer, the rest
// counts as not in memory.
//
//     resident_pages pages{table, bytes};
//     while (void* page = pages.next()) ...
class resident_pages {
public:
    ALLOCSCOPE_INLINE resident_pages(void* pages, std::size_t bytes) noexcept
        : page_(static_cast<char*>(pages)), left_(bytes / page_bytes) {}

    // Null after the last one.
    ALLOCSCOPE_NOINLINE void* next() noexcept {
        do {
            while (answer_ != answers_) {
                char* const page = page_;
                page_ += page_bytes;
                if ((is_present_[answer_++] & 1U) != 0) return page;
            }
        } while (ask());
        return nullptr;
    }

private:
    static constexpr std::size_t at_once = 512;

    bool ask() noexcept {
        if (left_ == 0) return false;
        answer_ = 0;
        answers_ = left_ < at_once ? left_ : at_once;
        const int saved_errno = errno;
        if (::mincore(page_, answers_ * page_bytes, is_present_) != 0) answers_ = left_ = 0;
        errno = saved_errno;
        left_ -= answers_;
        return answers_ != 0;
    }

    char* page_;        // the next one
    std::size_t left_;  // the pages behind those that were asked for
    std::size_t answer_ = 0;
    std::size_t answers_ = 0;
    unsigned char is_present_[at_once];
};

inline std::size_t resident_bytes(void* pages, std::size_t bytes) noexcept {
    resident_pages resident{pages, bytes};
    std::size_t count = 0;
    while (resident.next() != nullptr) ++count;
    return count * page_bytes;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLATFORM_RESIDENT_PAGES_HPP
