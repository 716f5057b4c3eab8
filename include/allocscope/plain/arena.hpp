// arena.hpp - memory for one request: pieces are taken one by one and released all at once.
//
// Room:     plain (floor 2), not malloc-safe
// Called:   by all code that serves a request: stats(), a check, a report; and by the name book
// Threads:  one at a time
// Memory:   blocks of pages from the kernel, never malloc: 64 KiB at first, then twice as much up
//           to 1 MiB; only what was handed out is touched. kept_pages.hpp keeps a few of them
//
//     arena memory;
//     list<row> rows{memory};          // lists, texts and tables take their memory from it
//     text_out line{memory};
//                                      // the end of `memory` gives everything back
//
// Nothing in an arena has a destructor, so no piece is given back alone. A borrowed_memory gives
// back what was taken since it was made. When the kernel refuses memory, allocate() throws
// std::bad_alloc (without exceptions: ends the program). Then the whole request fails, in the one
// place that called is_done_with_memory().

#ifndef ALLOCSCOPE_PLAIN_ARENA_HPP
#define ALLOCSCOPE_PLAIN_ARENA_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/platform/kept_pages.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t
#include <cstdlib>  // abort
#include <new>      // bad_alloc, placement new

ALLOCSCOPE_COOL_BEGIN

namespace plain {

[[noreturn]] ALLOCSCOPE_SLOW_PATH void refuse_memory() {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    std::abort();
#else
    throw std::bad_alloc();
#endif
}

// Runs `work`. Returns false when memory was refused on the way.
template <class Work>
ALLOCSCOPE_INLINE bool is_done_with_memory(const Work& work) {
#if ALLOCSCOPE_CONFIG_NO_EXCEPTIONS
    work();
    return true;
#else
    try {
        work();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
#endif
}

class arena {
public:
    ALLOCSCOPE_NOINLINE arena() noexcept {}
    ~arena() { release(); }
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;

    // Aligned to 16 bytes. The contents are not defined.
    void* allocate(std::size_t bytes) {
        const std::size_t rounded = rounded_up(bytes);
        if (rounded > static_cast<std::size_t>(end_ - free_)) return allocate_in_new_block(rounded);
        void* piece = free_;
        free_ += rounded;
        return piece;
    }

    // Extends a piece in place, if it is the one that was handed out last. Returns false when that
    // is impossible.
    bool extend(const void* piece, std::size_t bytes, std::size_t wanted) noexcept {
        const std::size_t more = rounded_up(wanted) - rounded_up(bytes);
        const char* end = static_cast<const char*>(piece) + rounded_up(bytes);
        if (piece == nullptr || end != free_ || more > static_cast<std::size_t>(end_ - free_)) {
            return false;
        }
        free_ += more;
        return true;
    }

    // Extends a piece that has a block of its own: the kernel moves its pages, and nothing is
    // copied. Returns null when the piece has no such block, or when the kernel refuses.
    void* move_and_extend(void* piece, std::size_t wanted) noexcept;

    // An object that lives as long as the arena; its destructor is never called.
    template <class T, class... Arguments>
    ALLOCSCOPE_INLINE T* make(Arguments&&... arguments) {
        static_assert(alignof(T) <= 16, "pieces are aligned to 16 bytes");
        return ::new (allocate(sizeof(T))) T(static_cast<Arguments&&>(arguments)...);
    }

    // Gives back everything that was handed out.
    void release() noexcept {
        while (newest_ != nullptr) {
            block* older = newest_->older;
            detail::pages_of_requests.give_back(newest_, newest_->bytes);
            newest_ = older;
        }
        if (spare_ != nullptr) detail::pages_of_requests.give_back(spare_, spare_->bytes);
        spare_ = nullptr;
        free_ = end_ = nullptr;
        mapped_bytes_ = 0;
    }

    // Takes over everything that `other` has handed out. This arena must not have handed out
    // anything.
    void take(arena& other) noexcept {
        newest_ = other.newest_;
        free_ = other.free_;
        end_ = other.end_;
        next_block_ = other.next_block_;
        mapped_bytes_ = other.mapped_bytes_;
        other.newest_ = nullptr;
        other.release();
    }

    std::size_t mapped_bytes() const noexcept { return mapped_bytes_; }

private:
    friend class borrowed_memory;

    struct alignas(16) block {
        block* older;
        std::size_t bytes;
        bool is_alone;  // it holds one piece
    };
    static constexpr std::size_t first_block = std::size_t{64} * 1024;
    static constexpr std::size_t largest_block = std::size_t{1024} * 1024;

    static constexpr std::size_t rounded_up(std::size_t bytes) noexcept {
        return (bytes + 15U) & ~std::size_t{15};
    }

    void* allocate_in_new_block(std::size_t bytes);

    // Keeps the larger one of two unused blocks, because the next step will need one.
    void give_back(block* idle) noexcept;

    block* newest_ = nullptr;
    block* spare_ = nullptr;  // its bytes are not in mapped_bytes_
    char* free_ = nullptr;
    char* end_ = nullptr;
    std::size_t next_block_ = first_block;
    std::size_t mapped_bytes_ = 0;
};

// A piece larger than half a block gets a block of its own, and the one in use stays in use.
ALLOCSCOPE_NOINLINE void* arena::allocate_in_new_block(std::size_t bytes) {
    const bool is_alone = bytes > next_block_ / 2;
    std::size_t wanted = next_block_;
    if (is_alone) {
        if (bytes > (std::size_t{1} << 46U)) refuse_memory();
        wanted = detail::kept_pages::rounded_up(bytes + sizeof(block));
    }
    const bool is_spare = !is_alone && spare_ != nullptr && bytes + sizeof(block) <= spare_->bytes;
    void* memory = spare_;
    if (is_spare) {
        wanted = spare_->bytes;
        spare_ = nullptr;
    } else {
        memory = detail::pages_of_requests.take(wanted);
    }
    if (memory == nullptr) refuse_memory();
    block* fresh = ::new (memory) block{newest_, wanted, is_alone};
    newest_ = fresh;
    mapped_bytes_ += wanted;
    char* begin = reinterpret_cast<char*>(fresh + 1);
    if (is_alone) return begin;
    free_ = begin + bytes;
    end_ = reinterpret_cast<char*>(fresh) + wanted;
    if (!is_spare && next_block_ < largest_block) next_block_ *= 2;
    return begin;
}

// A block that holds pieces of several owners is not alone: it is or was the one in use.
ALLOCSCOPE_NOINLINE void* arena::move_and_extend(void* piece, std::size_t wanted) noexcept {
    auto* const alone = static_cast<block*>(piece) - 1;
    block** place = &newest_;
    while (*place != nullptr && *place != alone) place = &(*place)->older;
    if (*place == nullptr || !alone->is_alone || wanted > (std::size_t{1} << 46U)) return nullptr;
    const std::size_t bytes = detail::kept_pages::rounded_up(wanted + sizeof(block));
    if (bytes <= alone->bytes) return piece;
    void* const moved = detail::lengthen_reservation(alone, alone->bytes, bytes);
    if (moved == nullptr) return nullptr;
    *place = static_cast<block*>(moved);
    mapped_bytes_ += bytes - (*place)->bytes;
    (*place)->bytes = bytes;
    return *place + 1;
}

ALLOCSCOPE_NOINLINE void arena::give_back(block* idle) noexcept {
    const bool is_kept =
        idle->bytes <= largest_block && (spare_ == nullptr || spare_->bytes < idle->bytes);
    block* const unwanted = is_kept ? spare_ : idle;
    if (is_kept) spare_ = idle;
    if (unwanted != nullptr) detail::pages_of_requests.give_back(unwanted, unwanted->bytes);
}

// For work in steps that need memory only for themselves. The destructor gives back everything that
// was taken from the arena since the object was made. Lists and texts that were made before must
// not grow meanwhile.
class borrowed_memory {
public:
    explicit borrowed_memory(arena& memory) noexcept
        : memory_(memory), newest_(memory.newest_), free_(memory.free_), end_(memory.end_) {}
    ~borrowed_memory() {
        while (memory_.newest_ != newest_) {
            arena::block* given_back = memory_.newest_;
            memory_.newest_ = given_back->older;
            memory_.mapped_bytes_ -= given_back->bytes;
            memory_.give_back(given_back);
        }
        memory_.free_ = free_;
        memory_.end_ = end_;
    }
    borrowed_memory(const borrowed_memory&) = delete;
    borrowed_memory& operator=(const borrowed_memory&) = delete;

private:
    arena& memory_;
    arena::block* newest_;
    char* free_;
    char* end_;
};

}  // namespace plain

// The rooms that use this vocabulary write it without a prefix.
namespace detail {
using namespace plain;
}
namespace symbolize {
using namespace plain;
}

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLAIN_ARENA_HPP
