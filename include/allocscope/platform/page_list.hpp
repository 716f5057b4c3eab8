// page_list.hpp - values in a row, in pages from the kernel.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by record/ and windows/ while numbers are read
// Threads:  one at a time
// Memory:   pages, twice as many whenever they are full, until release()
//
// Below the malloc line nothing is thrown: when pages are refused, values are left out from then on
// and has_refused() says so, until the list is cleared.

#ifndef ALLOCSCOPE_PLATFORM_PAGE_LIST_HPP
#define ALLOCSCOPE_PLATFORM_PAGE_LIST_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/page_memory.hpp>

#include <cstddef>      // size_t
#include <cstring>      // memcpy
#include <type_traits>  // is_trivially_copyable

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Larger pages for what fills `bytes` of the old ones, which are given back; null: refused.
ALLOCSCOPE_SLOW_PATH void* exchange_pages(void* old, std::size_t bytes,
                                          std::size_t larger) noexcept {
    void* fresh = reserve_pages(larger);
    if (fresh == nullptr || old == nullptr) return fresh;
    std::memcpy(fresh, old, bytes);
    return_reservation(old, bytes);
    return fresh;
}

template <class T>
class page_list {
public:
    T* begin() const noexcept { return values_; }
    T* end() const noexcept { return values_ + size_; }
    std::size_t size() const noexcept { return size_; }
    bool has_refused() const noexcept { return has_refused_; }

    void add(const T& value) noexcept {
        static_assert(std::is_trivially_copyable<T>::value, "values are moved by memcpy");
        if (size_ == room_ && !grow()) return;
        values_[size_++] = value;
    }

    // Forgets the values behind the first `size`.
    void cut(std::size_t size) noexcept { size_ = size; }
    void clear() noexcept {
        size_ = 0;
        has_refused_ = false;
    }

    void release() noexcept {
        if (values_ != nullptr) return_reservation(values_, room_ * sizeof(T));
        *this = page_list{};
    }

private:
    bool grow() noexcept {
        constexpr std::size_t first_room = 4 * page_bytes / sizeof(T);
        const std::size_t room = room_ == 0 ? first_room : room_ * 2;
        void* fresh = exchange_pages(values_, room_ * sizeof(T), room * sizeof(T));
        has_refused_ = has_refused_ || fresh == nullptr;
        if (fresh == nullptr) return false;
        values_ = static_cast<T*>(fresh);
        room_ = room;
        return true;
    }

    T* values_ = nullptr;
    std::size_t size_ = 0;
    std::size_t room_ = 0;
    bool has_refused_ = false;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PLATFORM_PAGE_LIST_HPP
