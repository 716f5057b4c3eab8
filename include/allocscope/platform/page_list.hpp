// page_list.hpp - an array of values in pages from the kernel.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by record/ and windows/ while numbers are read
// Threads:  one at a time
// Memory:   64 KiB of pages, twice as many whenever they are full, until release()
//
// Below the malloc line nothing is thrown. When pages are refused, values are left out from then
// on, and has_refused() says so until the list is cleared.

#ifndef ALLOCSCOPE_PLATFORM_PAGE_LIST_HPP
#define ALLOCSCOPE_PLATFORM_PAGE_LIST_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/kept_pages.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>  // size_t
#include <cstring>  // memcpy

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Where a list has its values: of this process alone.
struct private_pages {
    static constexpr std::size_t first_bytes = kept_pages::smallest;
    static void* reserve(std::size_t bytes) noexcept {
        return pages_of_requests.take(kept_pages::rounded_up(bytes));
    }
    static void give_back(void* pages, std::size_t bytes) noexcept {
        pages_of_requests.give_back(pages, kept_pages::rounded_up(bytes));
    }
};

// The part of a list that does not depend on the type of its values.
template <class Pages>
class any_page_list {
protected:
    // The list is whole at every instruction, because a signal handler may jump out of this
    // function.
    ALLOCSCOPE_NOINLINE bool grow(std::size_t value_bytes) noexcept {
        const std::size_t room = room_ == 0 ? Pages::first_bytes / value_bytes : room_ * 2;
        void* const fresh = Pages::reserve(room * value_bytes);
        if (fresh == nullptr) {
            has_refused_ = true;
            return false;
        }
        void* const old = values_;
        const std::size_t old_bytes = room_ * value_bytes;
        if (old != nullptr) std::memcpy(fresh, old, old_bytes);
        values_ = fresh;
        compiler_barrier();
        room_ = room;
        if (old != nullptr) Pages::give_back(old, old_bytes);
        return true;
    }

    ALLOCSCOPE_NOINLINE void release(std::size_t value_bytes) noexcept {
        if (values_ != nullptr) Pages::give_back(values_, room_ * value_bytes);
        values_ = nullptr;
        size_ = room_ = 0;
        has_refused_ = false;
    }

    void* values_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
    bool has_refused_ = false;
};

template <class T, class Pages = private_pages>
class page_list : private any_page_list<Pages> {
    using any_page_list<Pages>::has_refused_;
    using any_page_list<Pages>::room_;
    using any_page_list<Pages>::size_;
    using any_page_list<Pages>::values_;

public:
    ALLOCSCOPE_INLINE constexpr page_list() noexcept {}

    ALLOCSCOPE_INLINE T* begin() const noexcept { return static_cast<T*>(values_); }
    ALLOCSCOPE_INLINE T* end() const noexcept { return begin() + size_; }
    ALLOCSCOPE_INLINE std::size_t size() const noexcept { return size_; }
    ALLOCSCOPE_INLINE bool has_refused() const noexcept { return has_refused_; }

    void add(const T& value) noexcept {
        static_assert(__is_trivially_copyable(T), "values are moved by memcpy");
        if (size_ == room_ && !this->grow(sizeof(T))) return;
        begin()[size_++] = value;
    }

    // Forgets the values after the first `size`.
    ALLOCSCOPE_INLINE void cut(std::size_t size) noexcept { size_ = size; }
    ALLOCSCOPE_INLINE void clear() noexcept {
        size_ = 0;
        has_refused_ = false;
    }

    ALLOCSCOPE_INLINE void release() noexcept { any_page_list<Pages>::release(sizeof(T)); }
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_PLATFORM_PAGE_LIST_HPP
