// early_blocks.hpp - the few blocks that glibc handed out before another malloc was found.
//
// Room:     hooks (floor 6), malloc-safe
// Called:   by hooks/underlying_allocator.hpp and hooks/chained_allocator.hpp
// Threads:  any
// Memory:   glibc's
//
// A lookup by dlsym() that succeeds allocates nothing. But a program may bring a dlsym() of its
// own, and a signal handler may allocate during the lookup. No other allocator is known at that
// time, so glibc allocates the block, and the block is remembered. It goes back to glibc, whichever
// allocator is used later.

#ifndef ALLOCSCOPE_HOOKS_EARLY_BLOCKS_HPP
#define ALLOCSCOPE_HOOKS_EARLY_BLOCKS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/tables/live_object_map.hpp>

#include <cerrno>   // errno, ENOMEM
#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

// Names that glibc exports for programs that replace malloc.
extern "C" {
void* __libc_malloc(std::size_t bytes) noexcept;
void* __libc_calloc(std::size_t count, std::size_t bytes) noexcept;
void* __libc_realloc(void* block, std::size_t bytes) noexcept;
void __libc_free(void* block) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t bytes) noexcept;
}

ALLOCSCOPE_HOT_BEGIN

namespace detail {

class early_blocks {
public:
    static constexpr std::uint32_t most = 64;

    // Takes over a block of glibc's. Returns null when `block` is null, or when there is no room to
    // remember it. In the second case the block is freed.
    void* keep(void* block) noexcept {
        if (block == nullptr) return nullptr;
        for (atomic<void*>& each : blocks_) {
            void* none = nullptr;
            if (each.compare_exchange_strong(none, block)) {
                is_used_.store(true, memory_order::relaxed);
                return block;
            }
        }
        __libc_free(block);
        errno = ENOMEM;
        return nullptr;
    }

    ALLOCSCOPE_FAST_PATH bool contains(const void* block) const noexcept {
        return ALLOCSCOPE_UNLIKELY(is_used_.load(memory_order::relaxed)) && find(block);
    }

    // Returns whether this was an early block. If so, it has been freed.
    ALLOCSCOPE_FAST_PATH bool release(void* block) noexcept {
        if (!contains(block)) return false;
        forget(block);
        __libc_free(block);
        return true;
    }

    // For a block that contains() knows. The resized block is glibc's, too.
    ALLOCSCOPE_SLOW_PATH void* resize(void* block, std::size_t bytes) noexcept {
        forget(block);
        void* moved = __libc_realloc(block, bytes);
        if (moved != nullptr) return keep(moved);
        if (bytes != 0) keep(block);
        return nullptr;
    }

private:
    ALLOCSCOPE_SLOW_PATH bool find(const void* block) const noexcept {
        if (block == nullptr) return false;
        for (const atomic<void*>& each : blocks_) {
            if (each.load(memory_order::relaxed) == block) return true;
        }
        return false;
    }
    void forget(const void* block) noexcept {
        for (atomic<void*>& each : blocks_) {
            if (each.load(memory_order::relaxed) == block) each.store(nullptr);
        }
    }

    atomic<bool> is_used_{false};
    atomic<void*> blocks_[most] = {};
};

ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline early_blocks early{};

// --- the functions for a thread that is looking for the allocator ---

inline void* early_malloc(std::size_t bytes) noexcept {
    return early.keep(__libc_malloc(bytes));
}
inline void* early_calloc(std::size_t count, std::size_t bytes) noexcept {
    return early.keep(__libc_calloc(count, bytes));
}
inline void* early_realloc(void* block, std::size_t bytes) noexcept {
    if (block == nullptr) return early_malloc(bytes);
    return early.contains(block) ? early.resize(block, bytes) : nullptr;
}
// No allocator has handed out any other block yet.
inline void early_free(void* block) noexcept {
    static_cast<void>(early.release(block));
}
inline void* early_memalign(std::size_t alignment, std::size_t bytes) noexcept {
    return early.keep(__libc_memalign(alignment, bytes));
}
inline void* early_aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    return early_memalign(alignment, bytes);
}
inline int early_posix_memalign(void** place, std::size_t alignment, std::size_t bytes) noexcept {
    void* block = early_memalign(alignment, bytes);
    if (block == nullptr) return ENOMEM;
    *place = block;
    return 0;
}
inline void* early_valloc(std::size_t bytes) noexcept {
    return early_memalign(page_bytes, bytes);
}
inline void* early_pvalloc(std::size_t bytes) noexcept {
    return early_valloc((bytes + page_bytes - 1) & ~(page_bytes - 1));
}
// glibc answers this only under the name that we replace. No block of glibc has less room.
inline std::size_t early_malloc_usable_size(void* block) noexcept {
    return block == nullptr ? 0 : smallest_block_bytes;
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_EARLY_BLOCKS_HPP
