// signal_safe_malloc.hpp - a malloc that a signal handler may call, and may even jump out of.
//
// Room:     tests/support
// Called:   included by one .cpp of a test program; it defines malloc and its family there
// Threads:  any, and any signal handler
// Memory:   static arrays, touched as they are used
//
// The C library's malloc must not be re-entered by a handler that interrupted it, so a test of
// handlers that allocate would test that rule instead of the hooks. Here small blocks come from one
// list. Its head carries a counter, which tells a head that came back from one that stayed. Larger
// blocks are cut from a region and never used again.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_SIGNAL_SAFE_MALLOC_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_SIGNAL_SAFE_MALLOC_HPP

#include "scale.hpp"

#if !ALLOCSCOPE_TEST_SANITIZED

    #include <atomic>   // atomic
    #include <cerrno>   // ENOMEM, EINVAL
    #include <cstddef>  // size_t
    #include <cstdint>  // uint32_t, uint64_t, uintptr_t

namespace allocscope_test {
namespace signal_safe {

constexpr std::size_t small_bytes = 128;
constexpr std::uint32_t small_blocks = 1U << 20;
constexpr std::size_t large_region_bytes = std::size_t{256} << 20;

struct alignas(16) small_block {
    unsigned char bytes[small_bytes];
};

inline small_block blocks[small_blocks];
inline std::atomic<std::uint32_t> next_of[small_blocks];
inline std::atomic<std::uint64_t> free_list{0};  // counter << 32 | index + 1
inline std::atomic<std::uint32_t> fresh{0};
alignas(4096) inline unsigned char large_region[large_region_bytes];
inline std::atomic<std::size_t> large_used{0};

inline bool is_small(const void* memory) {
    return memory >= blocks && memory < blocks + small_blocks;
}

inline void* take_small() {
    std::uint64_t head = free_list.load(std::memory_order_acquire);
    while ((head & 0xffffffffU) != 0) {
        const auto index = static_cast<std::uint32_t>(head) - 1;
        const std::uint64_t next = next_of[index].load(std::memory_order_relaxed);
        const std::uint64_t counter = (head >> 32) + 1;
        if (free_list.compare_exchange_weak(head, counter << 32 | next)) return &blocks[index];
    }
    const std::uint32_t index = fresh.fetch_add(1, std::memory_order_relaxed);
    return index < small_blocks ? &blocks[index] : nullptr;
}

inline void give_small(void* memory) {
    const auto index = static_cast<std::uint32_t>(static_cast<small_block*>(memory) - blocks);
    std::uint64_t head = free_list.load(std::memory_order_relaxed);
    std::uint64_t wanted = 0;
    do {
        next_of[index].store(static_cast<std::uint32_t>(head), std::memory_order_relaxed);
        wanted = ((head >> 32) + 1) << 32 | (index + 1);
    } while (!free_list.compare_exchange_weak(head, wanted));
}

// The 16 bytes in front of a large block hold its size.
inline void* take_large(std::size_t size, std::size_t alignment) {
    if (size > large_region_bytes || alignment > large_region_bytes) return nullptr;
    const std::size_t room = size + alignment + 16;
    const std::size_t begin = large_used.fetch_add(room, std::memory_order_relaxed);
    if (begin + room > large_region_bytes) return nullptr;
    auto address = reinterpret_cast<std::uintptr_t>(large_region + begin) + 16;
    address = (address + alignment - 1) / alignment * alignment;
    *reinterpret_cast<std::size_t*>(address - 16) = size;
    return reinterpret_cast<void*>(address);
}

inline void* take(std::size_t size, std::size_t alignment = 16) {
    void* memory = size <= small_bytes && alignment <= 16
                       ? take_small()
                       : take_large((size + 15) / 16 * 16, alignment);
    if (memory == nullptr) errno = ENOMEM;
    return memory;
}

inline std::size_t size_of(const void* memory) {
    return is_small(memory) ? small_bytes : static_cast<const std::size_t*>(memory)[-2];
}

inline void copy(void* to, const void* from, std::size_t size) {
    auto* target = static_cast<volatile unsigned char*>(to);
    const auto* source = static_cast<const unsigned char*>(from);
    for (std::size_t i = 0; i < size; ++i) target[i] = source == nullptr ? 0 : source[i];
}

inline void give(void* memory) {
    if (memory != nullptr && is_small(memory)) give_small(memory);
}

inline void* take_zeroed(std::size_t count, std::size_t size) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) return errno = ENOMEM, nullptr;
    void* memory = take(bytes);
    if (memory != nullptr) copy(memory, nullptr, bytes);
    return memory;
}

inline void* resize(void* memory, std::size_t size) {
    if (memory == nullptr) return take(size);
    void* moved = take(size);
    if (moved == nullptr) return nullptr;
    const std::size_t old_size = size_of(memory);
    copy(moved, memory, old_size < size ? old_size : size);
    give(memory);
    return moved;
}

}  // namespace signal_safe
}  // namespace allocscope_test

// The names beginning with __libc_ are those that replacements of malloc forward to.
extern "C" {
void* malloc(std::size_t size) noexcept {
    return allocscope_test::signal_safe::take(size);
}
void free(void* memory) noexcept {
    allocscope_test::signal_safe::give(memory);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
    return allocscope_test::signal_safe::take_zeroed(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
    return allocscope_test::signal_safe::resize(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return allocscope_test::signal_safe::take(size, alignment < 16 ? 16 : alignment);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    void* memory = memalign(alignment, size);
    if (memory == nullptr) return ENOMEM;
    *result = memory;
    return 0;
}
std::size_t malloc_usable_size(void* memory) noexcept {
    return memory == nullptr ? 0 : allocscope_test::signal_safe::size_of(memory);
}
void* __libc_malloc(std::size_t size) noexcept {
    return malloc(size);
}
void __libc_free(void* memory) noexcept {
    free(memory);
}
void* __libc_calloc(std::size_t count, std::size_t size) noexcept {
    return calloc(count, size);
}
void* __libc_realloc(void* memory, std::size_t size) noexcept {
    return realloc(memory, size);
}
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept {
    return memalign(alignment, size);
}
}

#endif

#endif  // ALLOCSCOPE_TESTS_SUPPORT_SIGNAL_SAFE_MALLOC_HPP
