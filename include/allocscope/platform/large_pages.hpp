// large_pages.hpp - requests large pages for memory that will be written from end to end.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by saved/ for a file and its rows, and by page/page_paths.hpp
// Threads:  any
// Memory:   none; the ends of the piece, which fill no large page, stay as they are
//
// Each page of 4 KiB costs a page fault, about as much as reading a hundred rows. If the system has
// no large pages, or gives none, nothing changes.

#ifndef ALLOCSCOPE_PLATFORM_LARGE_PAGES_HPP
#define ALLOCSCOPE_PLATFORM_LARGE_PAGES_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t

#include <sys/mman.h>  // madvise

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

inline void ask_for_large_pages(const void* piece, std::size_t bytes) noexcept {
    constexpr std::uintptr_t large_page = std::uintptr_t{1} << 21U;
    const auto begin = reinterpret_cast<std::uintptr_t>(piece);
    const std::uintptr_t first = (begin + large_page - 1) / large_page * large_page;
    const std::uintptr_t last = (begin + bytes) / large_page * large_page;
    if (piece == nullptr || last <= first) return;
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_LARGE_PAGES_HPP
