// malloc_entry.hpp - what malloc and its family do when allocscope has replaced them.
//
// Room:     hooks (floor 6), malloc-safe
// Called:   by the symbols of define_once/malloc_definitions.hpp, inlined into each of them
// Threads:  any, also in signal handlers, before main and after exit
// Memory:   the underlying allocator's
//
// Every result and errno is that of the underlying function, called with the program's arguments.
// There is one exception: an allocation that a sampled window draws gets a block that begins at a
// page (record/sampler.hpp). Requests that the underlying function refuses are not recorded.
//
// While no window is open, a function costs one load and one branch more, and one more indirect
// call, like the one through the loader's table.

#ifndef ALLOCSCOPE_HOOKS_MALLOC_ENTRY_HPP
#define ALLOCSCOPE_HOOKS_MALLOC_ENTRY_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/hooks/underlying_allocator.hpp>
#include <allocscope/hooks/unready_blocks.hpp>
#include <allocscope/platform/page_memory.hpp>
#include <allocscope/record/consult_watches.hpp>
#include <allocscope/record/recorder.hpp>
#include <allocscope/record/resized_object.hpp>
#include <allocscope/record/sampler.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/state/thread_state.hpp>
#include <allocscope/tables/live_object_map.hpp>

#include <cerrno>   // errno, ENOMEM
#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, uintptr_t
#include <cstdlib>  // realloc
#include <cstring>  // memcmp, memcpy, memset

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// Calls a function of the underlying allocator.
#define ALLOCSCOPE_PRIVATE_CALL(result, name, parameters, arguments)    \
    ALLOCSCOPE_FAST_PATH result underlying_##name parameters noexcept { \
        return function_in(underlying.name) arguments;                  \
    }
ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_PRIVATE_CALL)
#undef ALLOCSCOPE_PRIVATE_CALL

// --- blocks at a page, for samples ---

// Returns null when there is no memory for the block, or when the allocator asks for it in order
// to prepare itself. Keeps errno.
inline void* block_at_page(std::size_t bytes) noexcept {
    if (preparing_calls.load(memory_order::relaxed) != 0) return nullptr;
    const int saved_errno = errno;
    void* block = nullptr;
    if (underlying_posix_memalign(&block, sampled_alignment, bytes_of_sample(bytes)) != 0) {
        block = nullptr;
    }
    errno = saved_errno;
    return block;
}

// Returns a copy of the block that begins at a page, and frees the old one. Returns the block
// itself when it begins at a page already, or when there is no memory.
inline void* moved_to_page(void* block, std::size_t kept, std::size_t bytes) noexcept {
    if (may_be_sample(block)) return block;
    void* moved = block_at_page(bytes);
    if (moved == nullptr) return block;
    std::memcpy(moved, block, kept);
    underlying_free(block);
    return moved;
}

// Whether a large block of glibc comes straight from the kernel and is therefore zero. glibc's
// calloc looks at the same bit before the block. (M_PERTURB sets every byte to another value.)
inline bool is_from_kernel(const char* block) noexcept {
    constexpr std::size_t is_mapped = 2;
    if (!is_glibc_underlying.load(memory_order::relaxed)) return false;
    std::size_t chunk_size;
    std::memcpy(&chunk_size, block - sizeof(chunk_size), sizeof(chunk_size));
    return (chunk_size & is_mapped) != 0 && block[0] == 0;
}

// Sets a block to zero. In a large block, pages that are already zero are only read, so that they
// take no memory.
inline void set_to_zero(char* block, std::size_t bytes) noexcept {
    if (bytes < least_mapped_bytes) {
        std::memset(block, 0, bytes);
        return;
    }
    if (is_from_kernel(block)) return;
    for (std::size_t done = 0; done < bytes; done += page_bytes) {
        const std::size_t left = bytes - done < page_bytes ? bytes - done : page_bytes;
        char* const page = block + done;
        const bool is_zero = page[0] == 0 && std::memcmp(page, page + 1, left - 1) == 0;
        if (!is_zero) std::memset(page, 0, left);
    }
}

inline void* zeroed_block_at_page(std::size_t bytes) noexcept {
    void* block = block_at_page(bytes);
    if (block != nullptr) set_to_zero(static_cast<char*>(block), bytes);
    return block;
}

// --- while a window is open: births ---

// Handles any allocation, in any state of the thread. `obtain(true)` returns a block at a page if
// it can. Returns null when the request is refused, with errno set.
template <class Obtain>
inline void* obtain_watched(std::size_t bytes, std::uintptr_t frame, Obtain&& obtain) noexcept {
    if (ALLOCSCOPE_UNLIKELY(has_watches()) && is_refused_by_watch(bytes, frame, false)) {
        errno = ENOMEM;
        return nullptr;
    }
    const draw drawn = draw_for(bytes, frame);
    void* block = obtain(drawn == draw::sample);
    if (block != nullptr) {
        on_decided<allocation_tags::malloc_family>(drawn, block, bytes, frame);
    }
    return block;
}

ALLOCSCOPE_NOINLINE void* watched_malloc(std::size_t bytes, std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    return obtain_watched(bytes, frame, [bytes](bool is_sample) {
        void* block = is_sample ? block_at_page(bytes) : nullptr;
        return block != nullptr ? block : underlying_malloc(bytes);
    });
}

// How much of a calloc of `count` times `bytes` bytes the C library asks for only because this
// library is in the process. Defined where ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT is 1.
#if ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT
ALLOCSCOPE_HIDDEN std::size_t bytes_for_this_library(std::size_t count, std::size_t bytes,
                                                     std::uintptr_t frame) noexcept;
#else
constexpr std::size_t bytes_for_this_library(std::size_t, std::size_t, std::uintptr_t) noexcept {
    return 0;
}
#endif

ALLOCSCOPE_NOINLINE void* watched_calloc(std::size_t count, std::size_t bytes,
                                         std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    const std::size_t whole = count * bytes;  // it does not overflow
    const std::size_t counted = whole - bytes_for_this_library(count, bytes, frame);
    return obtain_watched(counted, frame, [=](bool is_sample) {
        void* block = is_sample ? zeroed_block_at_page(whole) : nullptr;
        return block != nullptr ? block : underlying_calloc(count, bytes);
    });
}

// For the functions that align. Each of them decides which alignments it accepts, so it is called
// first in every case.
template <class Align>
inline void* align_watched(std::size_t bytes, std::uintptr_t frame, Align&& align) noexcept {
    return obtain_watched(bytes, frame, [&](bool is_sample) {
        void* block = align();
        return is_sample && block != nullptr ? moved_to_page(block, 0, bytes) : block;
    });
}

ALLOCSCOPE_NOINLINE int watched_posix_memalign(void** place, std::size_t alignment,
                                               std::size_t bytes, std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    int failure = ENOMEM;
    const int saved_errno = errno;
    void* block = align_watched(bytes, frame, [&] {
        errno = saved_errno;
        void* made = nullptr;
        failure = underlying_posix_memalign(&made, alignment, bytes);
        return failure == 0 ? made : nullptr;
    });
    if (block == nullptr) return failure;
    *place = block;
    return 0;
}

ALLOCSCOPE_NOINLINE void* watched_memalign(std::size_t alignment, std::size_t bytes,
                                           std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    return align_watched(bytes, frame, [=] { return underlying_memalign(alignment, bytes); });
}

ALLOCSCOPE_NOINLINE void* watched_aligned_alloc(std::size_t alignment, std::size_t bytes,
                                                std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    return align_watched(bytes, frame, [=] { return underlying_aligned_alloc(alignment, bytes); });
}

ALLOCSCOPE_NOINLINE void* watched_valloc(std::size_t bytes, std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    return align_watched(bytes, frame, [=] { return underlying_valloc(bytes); });
}

ALLOCSCOPE_NOINLINE void* watched_pvalloc(std::size_t bytes, std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    return align_watched(bytes, frame, [=] { return underlying_pvalloc(bytes); });
}

// --- while a window is open: a death and a birth ---

// How many bytes of the old block, which had `room` bytes, a block of `bytes` bytes may contain.
// Some allocators other than glibc's do not report the room.
inline std::size_t bytes_to_keep(std::size_t room, std::size_t bytes) noexcept {
    const bool is_room_known =
        room > smallest_block_bytes || is_glibc_underlying.load(memory_order::relaxed);
    return is_room_known && room < bytes ? room : bytes;
}

// Asks the watches about a realloc of a block. Returns whether it is refused, with errno set. In
// glibc, realloc to 0 bytes is a free, and a caller that gets null takes the block for freed.
ALLOCSCOPE_SLOW_PATH bool is_resize_refused(std::size_t bytes, std::uintptr_t frame) noexcept {
    if (bytes == 0 && is_glibc_underlying.load(memory_order::relaxed)) {
        tell_watch_of_free(frame);
        return false;
    }
    if (!is_refused_by_watch(bytes, frame, false)) return false;
    errno = ENOMEM;
    return true;
}

// `has_passed`: the countdown to the next sample has let the new size pass.
ALLOCSCOPE_NOINLINE void* watched_realloc(void* old, std::size_t bytes, bool has_passed,
                                          std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    if (old == nullptr) {
        return has_passed ? underlying_malloc(bytes) : watched_malloc(bytes, frame);
    }
    if (ALLOCSCOPE_UNLIKELY(has_watches()) && is_resize_refused(bytes, frame)) return nullptr;
    const std::size_t room = underlying_malloc_usable_size(old);
    const taken_record taken = take_record(old, frame);
    void* block = underlying_realloc(old, bytes);
    if (block == nullptr) {
        if (bytes != 0) {
            put_back(taken, old, frame);
        } else {  // it was a free
            on_resized(taken, nullptr, 0, frame, draw::not_wanted);
        }
        return nullptr;
    }
    const draw drawn = has_passed ? draw::passed : draw_for(bytes, frame);
    // A block that begins at a page stays there when it grows in place, or when its pages are
    // moved. So a large block that grows step by step is not copied each time.
    if (drawn == draw::sample) block = moved_to_page(block, bytes_to_keep(room, bytes), bytes);
    on_resized(taken, block, bytes, frame, drawn);
    return block;
}

// --- the bodies of the functions ---

// Whether a request needs no record and is not a sample: either no window is open, or only sampled
// windows are open and the countdown has let it pass. `word` is the gate's word.
ALLOCSCOPE_FAST_PATH bool is_passing(std::uint64_t word, std::size_t bytes) noexcept {
    if (word == 0) return true;
    return (word & every_event) == 0 && passes(current_entry, word, bytes);
}

// --- the first event of a process that records by itself ---

#if ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT

// What the other functions do at the first event, in any state of the thread. The block that they
// get was never recorded.
inline void* watched_first_realloc(void* old, std::size_t bytes, std::uintptr_t frame) noexcept {
    return watched_realloc(old, bytes, false, frame);
}
inline void watched_first_free(void* block, std::uintptr_t) noexcept {
    underlying_free(block);
}
inline std::size_t watched_first_malloc_usable_size(void* block, std::uintptr_t) noexcept {
    return underlying_malloc_usable_size(block);
}

// Begins the recording, if the library is ready for it, and records the event with the frame of the
// function that the program has called.
template <auto Watched, auto Unready, class... Arguments>
ALLOCSCOPE_SLOW_PATH auto first_event(const void* caller, const char* called, std::uintptr_t frame,
                                      Arguments... arguments) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    if (!begin_if_ready(caller, called)) return Unready(arguments...);
    return Watched(arguments..., frame);
}

    // Returns from the function if this is the first event; `called` names what the program
    // has called. This check comes before any access to a thread's state, because a library that is
    // not ready has none.
    #define ALLOCSCOPE_PRIVATE_FIRST_EVENT(word, called, watched, unready, ...)         \
        if (ALLOCSCOPE_UNLIKELY((word) == gate::untouched)) {                           \
            return first_event<&watched, &unready>(__builtin_return_address(0), called, \
                                                   hook_frame(), __VA_ARGS__);          \
        }

#else
    #define ALLOCSCOPE_PRIVATE_FIRST_EVENT(word, called, watched, unready, ...)
#endif

// --- the checks on every request ---

// Whether each allocation of the thread is recorded and neither samples nor watches have to be
// checked.
ALLOCSCOPE_FAST_PATH bool records_straight(std::uint64_t word) noexcept {
    return ALLOCSCOPE_LIKELY(current_entry->straight_view == word);
}

// The recording part is a separate function where it has to save registers, because an allocation
// that passes must not pay for that. In an executable the compiler does so by itself. In a library
// it keeps the distance to the thread's state in a register, over the call of malloc and in all of
// the function.
#if ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT && defined(__OPTIMIZE__)
    #define ALLOCSCOPE_PRIVATE_RECORDED ALLOCSCOPE_NOINLINE
#else
    #define ALLOCSCOPE_PRIVATE_RECORDED ALLOCSCOPE_FAST_PATH
#endif

ALLOCSCOPE_PRIVATE_RECORDED void* recorded_malloc(std::size_t bytes, std::uint64_t word) noexcept {
    // Separates the value that is kept over the call from the argument, so that the compiler saves
    // registers here and not while no window is open.
    __asm__("" : "+r"(bytes));
    if (!records_straight(word)) return watched_malloc(bytes, hook_frame());
    void* block = underlying_malloc(bytes);
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) return nullptr;
    return on_allocate<allocation_tags::malloc_family>(block, bytes);
}

ALLOCSCOPE_FAST_PATH void* hooked_malloc(std::size_t bytes) noexcept {
    const std::uint64_t word = process.entry.word();
    if (is_passing(word, bytes)) return underlying_malloc(bytes);
    ALLOCSCOPE_PRIVATE_FIRST_EVENT(word, "malloc", watched_malloc, unready_malloc, bytes)
    return recorded_malloc(bytes, word);
}

ALLOCSCOPE_PRIVATE_RECORDED void* recorded_calloc(std::size_t count, std::size_t bytes,
                                                  std::uint64_t word) noexcept {
    if (!records_straight(word)) return watched_calloc(count, bytes, hook_frame());
    const std::size_t counted = count * bytes - bytes_for_this_library(count, bytes, hook_frame());
    void* block = underlying_calloc(count, bytes);
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) return nullptr;
    return on_allocate<allocation_tags::malloc_family>(block, counted);
}

ALLOCSCOPE_FAST_PATH void* hooked_calloc(std::size_t count, std::size_t bytes) noexcept {
    const std::uint64_t word = process.entry.word();
    if (ALLOCSCOPE_LIKELY(word == 0)) return underlying_calloc(count, bytes);
    std::size_t whole = 0;
    if (__builtin_mul_overflow(count, bytes, &whole)) return underlying_calloc(count, bytes);
    if (is_passing(word, whole)) return underlying_calloc(count, bytes);
    ALLOCSCOPE_PRIVATE_FIRST_EVENT(word, "calloc", watched_calloc, unready_calloc, count, bytes)
    return recorded_calloc(count, bytes, word);
}

#undef ALLOCSCOPE_PRIVATE_RECORDED

ALLOCSCOPE_FAST_PATH void* hooked_realloc(void* block, std::size_t bytes) noexcept {
    const std::uint64_t word = process.entry.word();
    if (ALLOCSCOPE_UNLIKELY(word != 0)) {
        ALLOCSCOPE_PRIVATE_FIRST_EVENT(word, "realloc", watched_first_realloc, unready_realloc,
                                       block, bytes)
        const bool has_passed = is_passing(word, bytes);
        if (!has_passed || may_be_sample(block)) {
            return watched_realloc(block, bytes, has_passed, hook_frame());
        }
    }
    return underlying_realloc(block, bytes);
}

ALLOCSCOPE_FAST_PATH void hooked_free(void* block,
                                      [[maybe_unused]] const char* called = "free") noexcept {
    if (ALLOCSCOPE_UNLIKELY(process.entry.concerns_free_of(block))) {
        // The first event of the process, or a gate that was wiped. Only a free that is looked up
        // makes this check.
        if (begins_with_first_event && !gate::may_have_records(process.entry.word())) {
            ALLOCSCOPE_PRIVATE_FIRST_EVENT(process.entry.word(), called, watched_first_free,
                                           unready_free, block)
            return underlying_free(block);
        }
        return free_recorded<&underlying_free>(block);
    }
    underlying_free(block);
}

ALLOCSCOPE_FAST_PATH int hooked_posix_memalign(void** place, std::size_t alignment,
                                               std::size_t bytes) noexcept {
    const std::uint64_t word = process.entry.word();
    if (is_passing(word, bytes)) return underlying_posix_memalign(place, alignment, bytes);
    ALLOCSCOPE_PRIVATE_FIRST_EVENT(word, "posix_memalign", watched_posix_memalign,
                                   unready_posix_memalign, place, alignment, bytes)
    return watched_posix_memalign(place, alignment, bytes, hook_frame());
}

ALLOCSCOPE_FAST_PATH void* hooked_aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    const std::uint64_t word = process.entry.word();
    if (is_passing(word, bytes)) return underlying_aligned_alloc(alignment, bytes);
    ALLOCSCOPE_PRIVATE_FIRST_EVENT(word, "aligned_alloc", watched_aligned_alloc,
                                   unready_aligned_alloc, alignment, bytes)
    return watched_aligned_alloc(alignment, bytes, hook_frame());
}

ALLOCSCOPE_FAST_PATH void* hooked_memalign(std::size_t alignment, std::size_t bytes) noexcept {
    const std::uint64_t word = process.entry.word();
    if (is_passing(word, bytes)) return underlying_memalign(alignment, bytes);
    ALLOCSCOPE_PRIVATE_FIRST_EVENT(word, "memalign", watched_memalign, unready_memalign, alignment,
                                   bytes)
    return watched_memalign(alignment, bytes, hook_frame());
}

ALLOCSCOPE_FAST_PATH void* hooked_valloc(std::size_t bytes) noexcept {
    const std::uint64_t word = process.entry.word();
    if (is_passing(word, bytes)) return underlying_valloc(bytes);
    ALLOCSCOPE_PRIVATE_FIRST_EVENT(word, "valloc", watched_valloc, unready_valloc, bytes)
    return watched_valloc(bytes, hook_frame());
}

ALLOCSCOPE_FAST_PATH void* hooked_pvalloc(std::size_t bytes) noexcept {
    const std::uint64_t word = process.entry.word();
    if (is_passing(word, bytes)) return underlying_pvalloc(bytes);
    ALLOCSCOPE_PRIVATE_FIRST_EVENT(word, "pvalloc", watched_pvalloc, unready_pvalloc, bytes)
    return watched_pvalloc(bytes, hook_frame());
}

ALLOCSCOPE_FAST_PATH std::size_t hooked_malloc_usable_size(void* block) noexcept {
    ALLOCSCOPE_PRIVATE_FIRST_EVENT(process.entry.word(), "malloc_usable_size",
                                   watched_first_malloc_usable_size, unready_malloc_usable_size,
                                   block)
    return underlying_malloc_usable_size(block);
}

#undef ALLOCSCOPE_PRIVATE_FIRST_EVENT

// --- the functions that call those above ---

ALLOCSCOPE_FAST_PATH void* hooked_reallocarray(void* block, std::size_t count,
                                               std::size_t bytes) noexcept {
    std::size_t whole = 0;
    if (__builtin_mul_overflow(count, bytes, &whole)) {
        errno = ENOMEM;
        return nullptr;
    }
#if ALLOCSCOPE_CONFIG_BEGINS_WITH_FIRST_EVENT
    // By its name, as glibc's own: a library before ours, which may have no reallocarray, gets it.
    return ::realloc(block, whole);
#else
    return hooked_realloc(block, whole);
#endif
}

ALLOCSCOPE_FAST_PATH void hooked_free_sized(void* block, std::size_t) noexcept {
    hooked_free(block, "free_sized");
}

ALLOCSCOPE_FAST_PATH void hooked_free_aligned_sized(void* block, std::size_t,
                                                    std::size_t) noexcept {
    hooked_free(block, "free_aligned_sized");
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_MALLOC_ENTRY_HPP
