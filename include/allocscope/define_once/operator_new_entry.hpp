// operator_new_entry.hpp - what the replaced operators do.
//
// Room:     define_once (floor 12), malloc-safe
// Called:   by the 20 operators in define_once/operator_new_delete.hpp
// Threads:  any
// Memory:   the C library's allocator (define_once/operator_memory.hpp)
//
// The operators behave like those of libstdc++. A request of 0 bytes gets a block of its own. When
// there is no memory, the new_handler is called until there is memory, the handler throws, or there
// is no handler any more. The nothrow forms call it, too, and turn any exception into null. An
// alignment that is not a power of two is refused at once.
//
// While no window is open, an operator costs one load and one branch more than malloc and free.
// While only sampled windows are open, it also costs a subtraction and a test of the address
// (record/sampler.hpp).

#ifndef ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_ENTRY_HPP
#define ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_ENTRY_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/define_once/operator_memory.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/record/consult_watches.hpp>
#include <allocscope/record/recorder.hpp>
#include <allocscope/record/sampler.hpp>

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t
#include <cstdlib>  // abort
#include <new>      // bad_alloc, get_new_handler

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The engine of this process; defined where a header of define_once/ is included.
ALLOCSCOPE_HIDDEN extern const engine the_engine __asm__("allocscope_engine");

// The engine's address, found by its name in the assembler. clang++ assumes that any function may
// call an operator that is defined beside it. If it saw that an operator leads to the engine, and
// so to every function, it would take all functions for one cycle of calls, and 6 % longer to
// compile.
inline const engine* address_of_engine() noexcept {
    const engine* address;
    __asm__("leaq allocscope_engine(%%rip), %0" : "=r"(address));
    return address;
}

constexpr std::size_t block_bytes_for(std::size_t bytes) noexcept {
    return bytes < smallest_block_bytes ? smallest_block_bytes : bytes;
}

[[noreturn]] inline void refuse_allocation() {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    std::abort();
#else
    throw std::bad_alloc();
#endif
}

// --- memory, or null ---

constexpr std::size_t no_alignment = 0;

inline void* allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept {
    void* block = nullptr;
    const std::size_t least = sizeof(void*);
    const int failure = obtain_aligned<the_operators>(&block, alignment < least ? least : alignment,
                                                      block_bytes_for(bytes));
    return failure == 0 ? block : nullptr;
}

// Called when there is no memory: calls the new_handler as long as there is one, and tries again.
// Passes on what the handler throws.
ALLOCSCOPE_SLOW_PATH void* allocate_with_handler(std::size_t bytes, std::size_t alignment) {
    for (;;) {
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) return nullptr;
        handler();
        void* block = alignment == no_alignment ? obtain<the_operators>(block_bytes_for(bytes))
                                                : allocate_aligned(bytes, alignment);
        if (block != nullptr) return block;
    }
}

ALLOCSCOPE_FAST_PATH void* plain_block(std::size_t bytes) {
    void* block = obtain<the_operators>(block_bytes_for(bytes));
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) block = allocate_with_handler(bytes, no_alignment);
    return block;
}

inline void* plain_aligned_block(std::size_t bytes, std::size_t alignment) {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) return nullptr;
    void* block = allocate_aligned(bytes, alignment);
    if (block == nullptr) block = allocate_with_handler(bytes, alignment);
    return block;
}

// --- the same while a window is open ---
//
// These are functions of their own, so that the operators only load and test a word while no window
// is open. `frame` is the operator's own frame address.

// A block at a page for an allocation that is to be a sample; null when there is no memory for it.
inline void* sampled_block(std::size_t bytes, std::size_t alignment) noexcept {
    const int saved_errno = errno;
    void* block = allocate_aligned(bytes_of_sample(bytes), alignment_of_sample(alignment));
    errno = saved_errno;
    return block;
}

// Handles any request, in any state of the thread.
ALLOCSCOPE_NOINLINE void* watched_block(std::size_t bytes, std::size_t alignment, void* frame) {
    if (ALLOCSCOPE_UNLIKELY(has_watches()) &&
        is_refused_by_watch(bytes, reinterpret_cast<std::uintptr_t>(frame))) {
        return nullptr;
    }
    const bool is_possible = (alignment & (alignment - 1)) == 0;
    const auto address = reinterpret_cast<std::uintptr_t>(frame);
    const draw drawn = is_possible ? draw_for(bytes, address) : draw::not_wanted;
    void* block = drawn == draw::sample ? sampled_block(bytes, alignment) : nullptr;
    if (block == nullptr) {
        block =
            alignment == no_alignment ? plain_block(bytes) : plain_aligned_block(bytes, alignment);
    }
    if (block != nullptr) {
        on_decided<allocation_tags::operator_new>(drawn, block, bytes, address);
    }
    return block;
}

// Everything that throws is here, so that the next function has nothing to save on the stack.
ALLOCSCOPE_NOINLINE void* watched_block_or_throw(std::size_t bytes, void* frame) {
    ALLOCSCOPE_KEEP_FRAME();
    void* block = watched_block(bytes, no_alignment, frame);
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) refuse_allocation();
    return block;
}

// --- the operators' bodies ---

// For the throwing operators while a window is open. If the thread records every event, this is a
// straight path.
ALLOCSCOPE_FAST_PATH void* recorded_block(thread_entry* entry, std::uint64_t word,
                                          std::size_t bytes) {
    // Separates what is kept over the call of malloc from the operator's argument, so that the
    // compiler saves registers here and not while no window is open.
    __asm__("" : "+r"(bytes), "+r"(entry));
    // If this is true, neither samples nor watches have to be checked.
    const bool records_every_event = entry->straight_view == word;
    if (ALLOCSCOPE_UNLIKELY(!records_every_event)) {
        return watched_block_or_throw(bytes, __builtin_frame_address(0));
    }
    void* block = obtain<the_operators>(block_bytes_for(bytes));
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) {
        return watched_block_or_throw(bytes, __builtin_frame_address(0));
    }
    return on_allocate(block, bytes);
}

// A separate function, so that an operator needs no frame of its own unless a window is open.
ALLOCSCOPE_NOINLINE void* plain_block_or_throw(std::size_t bytes) {
    void* block = plain_block(bytes);
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) refuse_allocation();
    return block;
}

// The gate's word says everything. 0: no window is open. Highest bit set: every event is recorded.
// Otherwise only samples are recorded.
ALLOCSCOPE_FAST_PATH void* new_block(std::size_t bytes) {
    const std::uint64_t word = process.entry.word();
    if (ALLOCSCOPE_UNLIKELY(word != 0)) {
        thread_entry* const entry = current_entry;
        if ((word & every_event) != 0 || !passes(entry, word, bytes)) {
            return recorded_block(entry, word, bytes);
        }
    }
    return plain_block_or_throw(bytes);
}

// Passes on what the new_handler throws.
ALLOCSCOPE_FAST_PATH void* block_or_null(std::size_t bytes, void* frame) {
    if (ALLOCSCOPE_UNLIKELY(process.entry.word() != 0)) {
        return watched_block(bytes, no_alignment, frame);
    }
    return plain_block(bytes);
}

ALLOCSCOPE_FAST_PATH void* aligned_block_or_null(std::size_t bytes, std::align_val_t wanted,
                                                 void* frame) {
    const auto alignment = static_cast<std::size_t>(wanted);
    if (ALLOCSCOPE_UNLIKELY(process.entry.word() != 0) && alignment != no_alignment) {
        return watched_block(bytes, alignment, frame);
    }
    return plain_aligned_block(bytes, alignment);
}

ALLOCSCOPE_FAST_PATH void* new_aligned_block(std::size_t bytes, std::align_val_t alignment,
                                             void* frame) {
    void* block = aligned_block_or_null(bytes, alignment, frame);
    if (ALLOCSCOPE_UNLIKELY(block == nullptr)) refuse_allocation();
    return block;
}

#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS

ALLOCSCOPE_FAST_PATH void* new_block_or_null(std::size_t bytes, void* frame) noexcept {
    return block_or_null(bytes, frame);
}
ALLOCSCOPE_FAST_PATH void* new_aligned_block_or_null(std::size_t bytes, std::align_val_t alignment,
                                                     void* frame) noexcept {
    return aligned_block_or_null(bytes, alignment, frame);
}

#else

ALLOCSCOPE_FAST_PATH void* new_block_or_null(std::size_t bytes, void* frame) noexcept {
    try {
        return block_or_null(bytes, frame);
    } catch (...) {  // whatever the new_handler threw, as the standard demands
        return nullptr;
    }
}
ALLOCSCOPE_FAST_PATH void* new_aligned_block_or_null(std::size_t bytes, std::align_val_t alignment,
                                                     void* frame) noexcept {
    try {
        return aligned_block_or_null(bytes, alignment, frame);
    } catch (...) {
        return nullptr;
    }
}

#endif

ALLOCSCOPE_FAST_PATH void delete_block(void* block) noexcept {
    if (ALLOCSCOPE_UNLIKELY(process.entry.concerns_free_of(block))) {
        return free_recorded<&release<the_operators>>(block);
    }
    release<the_operators>(block);
}

// Returns whether a module asks for the engine (engine.hpp), and if so puts the answer into its
// tag. The tag is read only when size and alignment fit, because a plain nothrow_t has no magic
// number.
inline bool answer_handshake(std::size_t bytes, std::align_val_t alignment,
                             const std::nothrow_t& tag) noexcept {
    if (bytes != handshake_size || alignment != handshake_alignment) return false;
    if (&tag == &std::nothrow) return false;
    auto& asked = const_cast<handshake_tag&>(static_cast<const handshake_tag&>(tag));
    if (asked.magic != handshake_magic) return false;
    asked.answer = address_of_engine();
    return true;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_ENTRY_HPP
