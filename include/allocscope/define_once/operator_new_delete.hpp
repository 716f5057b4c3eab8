// operator_new_delete.hpp - replaces operator new and delete: include it in exactly one .cpp.
//
// Room:     define_once (floor 12), malloc-safe
// Called:   by every new-expression and delete-expression of the program and its libraries
// Threads:  any
// Memory:   the C library's allocator; the library's own memory comes from the kernel
//
//     // main.cpp, or a file of its own:
//     #include <allocscope/define_once/operator_new_delete.hpp>
//
// A replacement function must not be inline. So if another .cpp includes this header, too, the
// linker reports duplicate symbols. The header belongs in the executable, not in a shared library.
//
// This header also compiles the machinery behind allocscope.hpp: recording, symbols, reports.

#ifndef ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_DELETE_HPP
#define ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_DELETE_HPP

// For programs that use vectors and include no more than the two headers, as
// tests/consumer/hooks_of_its_own.cpp. A file of its own has no use for it, and compiles faster.
#ifdef ALLOCSCOPE_ALLOCSCOPE_HPP
    #include <vector>  // vector
#endif

#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/engine_table.hpp>
#include <allocscope/define_once/operator_new_entry.hpp>

#include <cstddef>  // size_t
#include <new>      // align_val_t, nothrow_t

// noinline: a stack begins with the operator's own frame. used: only the linker asks for the
// function, by name, so the compiler must not drop it.
#define ALLOCSCOPE_OPERATOR __attribute__((__noinline__, __used__))

// Another name for the same function, so that it is compiled once.
#define ALLOCSCOPE_OPERATOR_AS(name) __attribute__((__used__, __alias__(name)))
#if !defined(__clang__)
    #pragma GCC diagnostic push
    #pragma GCC diagnostic ignored "-Wattribute-alias"
#endif

// --- new ---

ALLOCSCOPE_OPERATOR void* operator new(std::size_t bytes) {
    return allocscope::detail::new_block(bytes);
}
ALLOCSCOPE_OPERATOR void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocscope::detail::new_block_or_null(bytes, __builtin_frame_address(0));
}
ALLOCSCOPE_OPERATOR void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocscope::detail::new_aligned_block(bytes, alignment, __builtin_frame_address(0));
}
ALLOCSCOPE_OPERATOR void* operator new(std::size_t bytes, std::align_val_t alignment,
                                       const std::nothrow_t& tag) noexcept {
    if (allocscope::detail::answer_handshake(bytes, alignment, tag)) return nullptr;
    return allocscope::detail::new_aligned_block_or_null(bytes, alignment,
                                                         __builtin_frame_address(0));
}
ALLOCSCOPE_OPERATOR_AS("_Znwm") void* operator new[](std::size_t bytes);
ALLOCSCOPE_OPERATOR_AS("_ZnwmRKSt9nothrow_t")
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept;
ALLOCSCOPE_OPERATOR_AS("_ZnwmSt11align_val_t")
void* operator new[](std::size_t bytes, std::align_val_t alignment);
ALLOCSCOPE_OPERATOR_AS("_ZnwmSt11align_val_tRKSt9nothrow_t")
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept;

// --- delete: size and alignment are not needed, because the record has them ---

ALLOCSCOPE_OPERATOR void operator delete(void* block) noexcept {
    allocscope::detail::delete_block(block);
}
#define ALLOCSCOPE_DELETE ALLOCSCOPE_OPERATOR_AS("_ZdlPv") void operator
ALLOCSCOPE_DELETE delete[](void* block) noexcept;
ALLOCSCOPE_DELETE delete (void* block, std::size_t) noexcept;
ALLOCSCOPE_DELETE delete[](void* block, std::size_t) noexcept;
ALLOCSCOPE_DELETE delete (void* block, const std::nothrow_t&) noexcept;
ALLOCSCOPE_DELETE delete[](void* block, const std::nothrow_t&) noexcept;
ALLOCSCOPE_DELETE delete (void* block, std::align_val_t) noexcept;
ALLOCSCOPE_DELETE delete[](void* block, std::align_val_t) noexcept;
ALLOCSCOPE_DELETE delete (void* block, std::size_t, std::align_val_t) noexcept;
ALLOCSCOPE_DELETE delete[](void* block, std::size_t, std::align_val_t) noexcept;
ALLOCSCOPE_DELETE delete (void* block, std::align_val_t, const std::nothrow_t&) noexcept;
ALLOCSCOPE_DELETE delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept;

#if !defined(__clang__)
    #pragma GCC diagnostic pop
#endif
#undef ALLOCSCOPE_DELETE
#undef ALLOCSCOPE_OPERATOR_AS
#undef ALLOCSCOPE_OPERATOR

// The engine that answers for these operators. used: see address_of_engine.
ALLOCSCOPE_NAMESPACE_BEGIN
namespace detail {
ALLOCSCOPE_HIDDEN __attribute__((__used__)) extern constexpr engine the_engine =
    make_engine_table();
}  // namespace detail
ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_DEFINE_ONCE_OPERATOR_NEW_DELETE_HPP
