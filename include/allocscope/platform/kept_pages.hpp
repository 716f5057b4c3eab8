// kept_pages.hpp - pages that requests have given back, kept for the next request.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by the arenas and lists of a request; windows/window_control.hpp has them kept
// Threads:  any, lock-free
// Memory:   at most 704 KiB: what requests have touched of it, until the process ends
//
// A request that names one object takes three pieces of memory and uses a few pages of each. To map
// and touch them took most of its time. Only the module with the engine keeps pages, because it
// stays loaded once a window was open; what another one kept would be lost when it is unloaded.

#ifndef ALLOCSCOPE_PLATFORM_KEPT_PAGES_HPP
#define ALLOCSCOPE_PLATFORM_KEPT_PAGES_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class kept_pages {
public:
    static constexpr std::size_t smallest = std::size_t{64} * 1024;
    static constexpr std::size_t largest = std::size_t{256} * 1024;

    ALLOCSCOPE_INLINE constexpr kept_pages() noexcept {}

    // From now on what is given back is kept.
    ALLOCSCOPE_INLINE void begin() noexcept { keeps_.store(true, memory_order::relaxed); }

    // How many bytes to ask for if one needs `bytes`: what can be kept has one of three sizes.
    static std::size_t rounded_up(std::size_t bytes) noexcept {
        std::size_t size = smallest;
        while (size < bytes && size < largest) size *= 2;
        return size < bytes ? (bytes + page_bytes - 1) & ~(page_bytes - 1) : size;
    }

    // Pages with undefined contents; null when the kernel refuses.
    void* take(std::size_t bytes) noexcept {
        for (std::size_t i = 0; i < slot_count; ++i) {
            if (bytes_of(i) != bytes) continue;
            void* const kept = slots_[i].exchange(nullptr, memory_order::acquire);
            if (kept == nullptr) continue;
            if (!is_mapping_refused()) return kept;
            give_back(kept, bytes);
            return nullptr;
        }
        return reserve_pages(bytes);
    }

    void give_back(void* pages, std::size_t bytes) noexcept {
        for (std::size_t i = 0; i < slot_count && keeps_.load(memory_order::relaxed); ++i) {
            void* none = nullptr;
            if (bytes_of(i) == bytes &&
                slots_[i].compare_exchange_strong(none, pages, memory_order::release)) {
                return;
            }
        }
        return_reservation(pages, bytes);
    }

private:
    // Three of the smallest, two of the next, one of the largest. A table of constants would be one
    // for the whole process, and no library with it could be unloaded.
    static constexpr std::size_t slot_count = 6;
    static constexpr std::size_t bytes_of(std::size_t slot) noexcept {
        return slot < 3 ? smallest : slot < 5 ? 2 * smallest : largest;
    }

    atomic<void*> slots_[slot_count]{};
    atomic<bool> keeps_{false};
};

ALLOCSCOPE_HIDDEN inline kept_pages pages_of_requests;

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLATFORM_KEPT_PAGES_HPP
