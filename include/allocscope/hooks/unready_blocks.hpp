// unready_blocks.hpp - blocks for code that allocates before the loader has prepared this library.
//
// Room:     hooks (floor 6), malloc-safe
// Called:   by hooks/malloc_entry.hpp, in the preload library only
// Threads:  the process has only one then
// Memory:   64 KiB of zeroed static storage, touched as needed; never used again
//
// The loader relocates a preloaded library after the libraries that come after it in the search
// order. A function of theirs that chooses an implementation (an IFUNC resolver) may run before
// that, and may allocate. At that time this library can reach nothing but its own variables: no
// function of another library, no thread-local variable, no address that is stored in a table. So
// such a block comes from here. It is counted, but not recorded.

#ifndef ALLOCSCOPE_HOOKS_UNREADY_BLOCKS_HPP
#define ALLOCSCOPE_HOOKS_UNREADY_BLOCKS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/state/gate.hpp>
#include <allocscope/state/process_state.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, uintptr_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// Holds its own address, once the loader has written it there.
ALLOCSCOPE_HIDDEN inline const volatile void* volatile written_by_loader = &written_by_loader;

inline bool is_relocated() noexcept {
    return written_by_loader == &written_by_loader;
}

class unready_blocks {
public:
    // Returns null when there is no room. `alignment` is a power of two.
    void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
        const auto first = reinterpret_cast<std::uintptr_t>(room_);
        const std::size_t least = alignment < 16 ? 16 : alignment;
        const std::uintptr_t place = (first + used_ + sizeof(head) + least - 1) & ~(least - 1);
        if (place - first > sizeof room_ || bytes > sizeof room_ - (place - first)) return nullptr;
        reinterpret_cast<head*>(place)[-1].bytes = bytes;
        used_ = place - first + bytes;
        ++count_;
        return reinterpret_cast<void*>(place);
    }
    bool contains(const void* block) const noexcept {
        return reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(room_) <
               sizeof room_;
    }
    // For a block that contains() knows.
    static std::size_t bytes_of(const void* block) noexcept {
        return static_cast<const head*>(block)[-1].bytes;
    }
    std::uint64_t count() const noexcept { return count_; }

private:
    struct head {
        std::size_t bytes;
        std::size_t padding;
    };

    alignas(16) char room_[64 * 1024] = {};
    std::size_t used_ = 0;
    std::uint64_t count_ = 0;
};

ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline unready_blocks unready{};

// Replaces memcpy, which is in another library.
inline void copy_unready(void* to, const void* from, std::size_t bytes) noexcept {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

// Called before the first event, a call by `caller`. Returns false when the library is not ready.
ALLOCSCOPE_SLOW_PATH bool begin_if_ready(const void* caller, const char* called) noexcept {
    if (!is_relocated()) return false;
    begin_recording(caller, called);
    return true;
}

// --- what the functions do while the library is not ready ---

inline void* unready_malloc(std::size_t bytes) noexcept {
    return unready.allocate(bytes, 16);
}
inline void* unready_calloc(std::size_t count, std::size_t bytes) noexcept {
    std::size_t whole = 0;
    return __builtin_mul_overflow(count, bytes, &whole) ? nullptr : unready_malloc(whole);
}
inline void* unready_memalign(std::size_t alignment, std::size_t bytes) noexcept {
    const bool is_power = alignment != 0 && (alignment & (alignment - 1)) == 0;
    return is_power ? unready.allocate(bytes, alignment) : nullptr;
}
inline void* unready_realloc(void* block, std::size_t bytes) noexcept {
    void* moved = unready_malloc(bytes);
    if (moved == nullptr || block == nullptr) return moved;
    const std::size_t old = unready_blocks::bytes_of(block);
    copy_unready(moved, block, old < bytes ? old : bytes);
    return moved;
}
inline void* unready_aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    return unready_memalign(alignment, bytes);
}
inline void* unready_valloc(std::size_t bytes) noexcept {
    return unready_memalign(page_bytes, bytes);
}
inline void* unready_pvalloc(std::size_t bytes) noexcept {
    return unready_valloc((bytes + page_bytes - 1) & ~(page_bytes - 1));
}
inline void* unready_reallocarray(void* block, std::size_t count, std::size_t bytes) noexcept {
    std::size_t whole = 0;
    return __builtin_mul_overflow(count, bytes, &whole) ? nullptr : unready_realloc(block, whole);
}
inline void unready_free(void*) noexcept {}
inline void unready_free_sized(void*, std::size_t) noexcept {}
inline void unready_free_aligned_sized(void*, std::size_t, std::size_t) noexcept {}
inline std::size_t unready_malloc_usable_size(void* block) noexcept {
    return block == nullptr ? 0 : unready_blocks::bytes_of(block);
}
inline int unready_posix_memalign(void** place, std::size_t alignment, std::size_t bytes) noexcept {
    constexpr int no_memory = 12;  // ENOMEM
    void* block = unready_memalign(alignment, bytes);
    if (block == nullptr) return no_memory;
    *place = block;
    return 0;
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_UNREADY_BLOCKS_HPP
