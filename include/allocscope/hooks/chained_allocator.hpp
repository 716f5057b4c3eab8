// chained_allocator.hpp - calls a malloc other than glibc's: jemalloc, tcmalloc, mimalloc, ...
//
// Room:     hooks (floor 6), malloc-safe
// Called:   by the hooks through hooks/underlying_allocator.hpp, when the next malloc in the search
//           order is not glibc's
// Threads:  any
// Memory:   the other allocator's
//
// Every block is the other allocator's, so every call goes to it. If it does not define a function
// that glibc has, its posix_memalign is called instead. It is never asked for less than
// `least_request_bytes`, so that no two blocks share a slot of the live object map.

#ifndef ALLOCSCOPE_HOOKS_CHAINED_ALLOCATOR_HPP
#define ALLOCSCOPE_HOOKS_CHAINED_ALLOCATOR_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/plain_value.hpp>
#include <allocscope/hooks/early_blocks.hpp>
#include <allocscope/hooks/intercepted_functions.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/tables/live_object_map.hpp>

#include <cerrno>   // errno, ENOMEM
#include <cstddef>  // size_t
#include <cstdint>  // uint32_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// A pointer to each function of an allocator.
struct allocator_functions {
#define ALLOCSCOPE_PRIVATE_MEMBER(result, name, parameters, arguments) \
    atomic<result(*) parameters noexcept> name;
    ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_PRIVATE_MEMBER)
#undef ALLOCSCOPE_PRIVATE_MEMBER
};

template <class Function>
ALLOCSCOPE_FAST_PATH Function function_in(const atomic<Function>& place) noexcept {
    return value_for_one_use(place);
}

// The other allocator's functions, or glibc's where it has none.
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline allocator_functions next_definitions{};

// The least that the other allocator is asked for. The preload library sets it to 0 in a program
// that is never recorded, because it has the malloc of a sanitizer, which would not see that the
// program writes beyond a raised block.
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline std::size_t least_request_bytes =
    smallest_block_bytes;

inline std::size_t raised(std::size_t bytes) noexcept {
    return bytes < least_request_bytes ? least_request_bytes : bytes;
}

// Another allocator may prepare itself in the first call that it gets, and ask for memory
// meanwhile. The hooks pass that on as it was asked, and never take a sample: in place of malloc
// oneTBB would get a posix_memalign, which waits for the end of the preparation.
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline atomic<bool> is_other_preparing{false};
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline atomic<std::uint32_t> preparing_calls{0};

class call_of_other {
public:
    call_of_other() noexcept : is_counted_(is_other_preparing.load(memory_order::relaxed)) {
        if (is_counted_) preparing_calls.fetch_add(1, memory_order::relaxed);
    }
    ~call_of_other() {
        if (!is_counted_) return;
        is_other_preparing.store(false, memory_order::relaxed);
        preparing_calls.fetch_sub(1, memory_order::relaxed);
    }
    call_of_other(const call_of_other&) = delete;
    call_of_other& operator=(const call_of_other&) = delete;

private:
    const bool is_counted_;
};

inline void* chained_malloc(std::size_t bytes) noexcept {
    const call_of_other call;
    return function_in(next_definitions.malloc)(raised(bytes));
}
inline void* chained_calloc(std::size_t count, std::size_t bytes) noexcept {
    const call_of_other call;
    std::size_t product = 0;
    const bool is_too_small =
        !__builtin_mul_overflow(count, bytes, &product) && product < least_request_bytes;
    return is_too_small ? function_in(next_definitions.calloc)(1, least_request_bytes)
                        : function_in(next_definitions.calloc)(count, bytes);
}
inline void* chained_realloc(void* block, std::size_t bytes) noexcept {
    if (early.contains(block)) return early.resize(block, bytes);
    const bool is_free = block != nullptr && bytes == 0;
    const call_of_other call;
    return function_in(next_definitions.realloc)(block, is_free ? 0 : raised(bytes));
}
inline void chained_free(void* block) noexcept {
    if (!early.release(block)) function_in(next_definitions.free)(block);
}
inline int chained_posix_memalign(void** place, std::size_t alignment, std::size_t bytes) noexcept {
    const call_of_other call;
    return function_in(next_definitions.posix_memalign)(place, alignment, raised(bytes));
}
// The standard asks for a multiple of the alignment, and some allocators refuse anything else. So a
// multiple stays one, and what is none stays none.
inline void* chained_aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    const std::size_t missing = raised(bytes) - bytes;
    const std::size_t beyond = alignment != 0 ? missing % alignment : 0;
    const std::size_t added = beyond == 0 ? missing : missing + (alignment - beyond);
    const call_of_other call;
    return function_in(next_definitions.aligned_alloc)(alignment, bytes + added);
}
inline void* chained_memalign(std::size_t alignment, std::size_t bytes) noexcept {
    const call_of_other call;
    return function_in(next_definitions.memalign)(alignment, raised(bytes));
}
inline void* chained_valloc(std::size_t bytes) noexcept {
    const call_of_other call;
    return function_in(next_definitions.valloc)(raised(bytes));
}
inline void* chained_pvalloc(std::size_t bytes) noexcept {
    const call_of_other call;
    return function_in(next_definitions.pvalloc)(raised(bytes));
}
inline std::size_t chained_malloc_usable_size(void* block) noexcept {
    if (early.contains(block)) return early_malloc_usable_size(block);
    return function_in(next_definitions.malloc_usable_size)(block);
}

// --- in place of functions that the other allocator does not define ---

inline void* replaced_memalign(std::size_t alignment, std::size_t bytes) noexcept {
    std::size_t power = sizeof(void*);
    while (power < alignment && power != 0) power <<= 1U;
    void* block = nullptr;
    const int failure = chained_posix_memalign(&block, power, bytes);
    if (failure == 0) return block;
    errno = failure;
    return nullptr;
}
inline void* replaced_aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    return replaced_memalign(alignment, bytes);
}
inline void* replaced_valloc(std::size_t bytes) noexcept {
    return replaced_memalign(page_bytes, bytes);
}
inline void* replaced_pvalloc(std::size_t bytes) noexcept {
    const std::size_t whole = (bytes + page_bytes - 1) & ~(page_bytes - 1);
    if (whole >= bytes) return replaced_valloc(whole);
    errno = ENOMEM;
    return nullptr;
}
// All that is known of the block is the least size that is requested for any block.
inline std::size_t replaced_malloc_usable_size(void* block) noexcept {
    return early_malloc_usable_size(block);
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_CHAINED_ALLOCATOR_HPP
