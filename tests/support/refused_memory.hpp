// refused_memory.hpp - refuses one call of malloc or mmap, or all from one on.
//
// Room:     tests/support
// Called:   by process tests linked with -Wl,--wrap=malloc -Wl,--wrap=mmap; in one source of each
// Threads:  one
// Memory:   none

#ifndef ALLOCSCOPE_TESTS_SUPPORT_REFUSED_MEMORY_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_REFUSED_MEMORY_HPP

#include <allocscope/platform/kept_pages.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t

#include <sys/mman.h>  // MAP_FAILED

extern "C" void* __real_malloc(std::size_t size);
extern "C" void* __real_mmap(void* at, std::size_t size, int access, int flags, int file,
                             off_t offset);

namespace {

enum class refusal { none, of_one, of_all_from };

refusal refused = refusal::none;
unsigned calls_before = 0;
unsigned calls = 0;

// The kernel gets the pages that earlier requests left for later ones.
inline void drop_kept_pages() {
    using allocscope::detail::kept_pages;
    for (std::size_t bytes = kept_pages::smallest; bytes <= kept_pages::largest; bytes *= 2) {
        void* kept[8];
        for (void*& each : kept) each = allocscope::detail::pages_of_requests.take(bytes);
        for (void* each : kept) allocscope::detail::return_reservation(each, bytes);
    }
}

bool is_refused() {
    if (refused == refusal::none) return false;
    const unsigned call = calls++;
    return refused == refusal::of_one ? call == calls_before : call >= calls_before;
}

}  // namespace

// The linker leads every call of malloc here, also those of operator new.
extern "C" void* __wrap_malloc(std::size_t size) {
    return is_refused() ? nullptr : __real_malloc(size);
}

// And every call of mmap by the headers; the C library's own are not seen.
extern "C" void* __wrap_mmap(void* at, std::size_t size, int access, int flags, int file,
                             off_t offset) {
    if (!is_refused()) return __real_mmap(at, size, access, flags, file, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

#endif  // ALLOCSCOPE_TESTS_SUPPORT_REFUSED_MEMORY_HPP
