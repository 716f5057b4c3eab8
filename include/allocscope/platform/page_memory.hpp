// page_memory.hpp - gets pages from the kernel and gives them back.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by tables/ when they grow; never during an ordinary allocation
// Threads:  any
// Memory:   what it hands out, counted in mapped_pages_bytes
//
// When a mapping is refused, the functions return null and never abort: the caller counts the loss
// and goes on. errno stays as it was, because the hooks must not change it.

#ifndef ALLOCSCOPE_PLATFORM_PAGE_MEMORY_HPP
#define ALLOCSCOPE_PLATFORM_PAGE_MEMORY_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // int64_t, SIZE_MAX

#if !defined(_GNU_SOURCE)  // mremap, dladdr, secure_getenv and others
    #error "allocscope needs _GNU_SOURCE, which g++ and clang++ define; leave out -U_GNU_SOURCE"
#endif

#include <sys/mman.h>      // mmap, mprotect, munmap, madvise, mincore
#include <sys/resource.h>  // getrlimit

ALLOCSCOPE_COLD_BEGIN

namespace detail {

constexpr std::size_t page_bytes = 4096;

// A test sets this to k >= 0: the k-th mapping from now on, and all after it, are refused.
ALLOCSCOPE_HIDDEN inline atomic<std::int64_t> mappings_until_refusal{-1};

// Bytes that are mapped for tables and caches now (reservations of address space not included).
ALLOCSCOPE_HIDDEN inline atomic<std::size_t> mapped_pages_bytes{0};

inline bool is_mapping_refused() noexcept {
    if (mappings_until_refusal.load(memory_order::relaxed) < 0) return false;
    if (mappings_until_refusal.load(memory_order::relaxed) == 0) return true;
    mappings_until_refusal.fetch_sub(1, memory_order::relaxed);
    return false;
}

// Zeroed pages, readable and writable, or null. They are left out of core dumps. They are never
// huge pages, because those would turn a sparse table into a dense one.
inline void* reserve_pages(std::size_t bytes) noexcept {
    if (is_mapping_refused()) return nullptr;
    const int saved_errno = errno;
    void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        pages = nullptr;
    } else {
        ::madvise(pages, bytes, MADV_NOHUGEPAGE);
        ::madvise(pages, bytes, MADV_DONTDUMP);
    }
    errno = saved_errno;
    return pages;
}

// Reserves addresses only: nothing can be read or written there before open_pages(), and nothing
// counts as memory of the process. Null when they are refused.
inline void* reserve_addresses(std::size_t bytes) noexcept {
    if (is_mapping_refused()) return nullptr;
    const int saved_errno = errno;
    void* addresses =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (addresses == MAP_FAILED) {
        addresses = nullptr;
    } else {
        ::madvise(addresses, bytes, MADV_NOHUGEPAGE);
        ::madvise(addresses, bytes, MADV_DONTDUMP);
    }
    errno = saved_errno;
    return addresses;
}

// Makes whole pages of reserved addresses readable and writable; they read as zero at first.
inline bool open_pages(void* pages, std::size_t bytes) noexcept {
    if (is_mapping_refused()) return false;
    const int saved_errno = errno;
    const bool is_open = ::mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0;
    errno = saved_errno;
    return is_open;
}

// How much the process may have of a resource, such as addresses (RLIMIT_AS) or data (RLIMIT_DATA).
inline std::size_t limit_of(decltype(RLIMIT_AS) resource) noexcept {
    rlimit limit = {};
    if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    return limit.rlim_cur;
}

// Extends a reservation of reserve_pages(). The pages keep their contents, but may move. Returns
// null when the kernel refuses; nothing has changed then.
inline void* lengthen_reservation(void* pages, std::size_t bytes, std::size_t wanted) noexcept {
    if (is_mapping_refused()) return nullptr;
    const int saved_errno = errno;
    void* const moved = ::mremap(pages, bytes, wanted, MREMAP_MAYMOVE);
    errno = saved_errno;
    return moved == MAP_FAILED ? nullptr : moved;
}

inline void return_reservation(void* pages, std::size_t bytes) noexcept {
    const int saved_errno = errno;
    ::munmap(pages, bytes);
    errno = saved_errno;
}

// Like reserve_pages, but the pages are never given back and count as our own memory.
inline void* map_pages(std::size_t bytes) noexcept {
    void* pages = reserve_pages(bytes);
    if (pages != nullptr) mapped_pages_bytes.fetch_add(bytes, memory_order::relaxed);
    return pages;
}

// Gives the memory back and keeps the addresses: the pages read as zero afterwards.
inline void empty_pages(void* pages, std::size_t bytes) noexcept {
    const int saved_errno = errno;
    ::madvise(pages, bytes, MADV_DONTNEED);
    errno = saved_errno;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_PAGE_MEMORY_HPP
