// sort.hpp - sorts values; equal ones keep their order.
//
// Room:     plain (floor 2), not malloc-safe
// Called:   for rows, symbols, ranges
// Threads:  any
// Memory:   as much again as the values, from the given arena
//
//     sort(rows, [](const row& a, const row& b) { return a.line < b.line; });
//
// A bottom-up merge sort that moves values by memcpy. It is compiled once, for all types. A sort of
// the standard library is compiled again for each type and order, to several kilobytes each.

#ifndef ALLOCSCOPE_PLAIN_SORT_HPP
#define ALLOCSCOPE_PLAIN_SORT_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstring>  // memcpy

ALLOCSCOPE_MILD_BEGIN

namespace plain {

using comes_first = bool (*)(const void* a, const void* b, const void* order);

// Most values are pointers; these are copied without a call.
ALLOCSCOPE_INLINE void copy_value(char* to, const char* from, std::size_t value_bytes) noexcept {
    if (value_bytes == sizeof(void*)) {
        std::memcpy(to, from, sizeof(void*));
    } else {
        std::memcpy(to, from, value_bytes);
    }
}

// Merges two sorted neighbours of `from` into `to`.
ALLOCSCOPE_NOINLINE void merge_halves(const char* from, char* to, std::size_t middle,
                                      std::size_t end, std::size_t value_bytes, comes_first less,
                                      const void* order) {
    std::size_t left = 0;
    std::size_t right = middle;
    if (right < end &&
        !less(from + right, from + right - value_bytes, order)) {  // in order already
        std::memcpy(to, from, end);
        return;
    }
    while (left < middle && right < end) {
        std::size_t& taken = less(from + right, from + left, order) ? right : left;
        copy_value(to, from + taken, value_bytes);
        taken += value_bytes;
        to += value_bytes;
    }
    std::memcpy(to, from + left, middle - left);
    std::memcpy(to + (middle - left), from + right, end - right);
}

ALLOCSCOPE_NOINLINE void sort_values(void* values, std::size_t count, std::size_t value_bytes,
                                     comes_first less, const void* order, arena& scratch) {
    const std::size_t bytes = count * value_bytes;
    char* from = static_cast<char*>(values);
    std::size_t sorted = value_bytes;  // how many bytes are in order
    while (sorted < bytes && !less(from + sorted, from + sorted - value_bytes, order)) {
        sorted += value_bytes;
    }
    if (sorted >= bytes) return;
    char* to = static_cast<char*>(scratch.allocate(bytes));
    for (std::size_t run = value_bytes; run < bytes; run *= 2) {
        for (std::size_t begin = 0; begin < bytes; begin += 2 * run) {
            const std::size_t left = bytes - begin;
            const std::size_t middle = run < left ? run : left;
            const std::size_t end = 2 * run < left ? 2 * run : left;
            merge_halves(from + begin, to + begin, middle, end, value_bytes, less, order);
        }
        char* merged = to;
        to = from;
        from = merged;
    }
    if (from != values) std::memcpy(values, from, bytes);
}

template <class T, class Less>
bool is_before(const void* a, const void* b, const void* order) {
    return (*static_cast<const Less*>(order))(*static_cast<const T*>(a), *static_cast<const T*>(b));
}

// `less(a, b)`: a comes before b.
template <class T, class Less>
ALLOCSCOPE_INLINE void sort(T* values, std::size_t count, const Less& less, arena& scratch) {
    static_assert(__is_trivially_copyable(T), "values are moved by memcpy");
    sort_values(values, count, sizeof(T), &is_before<T, Less>, &less, scratch);
}

template <class T, class Less>
ALLOCSCOPE_INLINE void sort(list<T>& values, const Less& less) {
    if (values.size() > 1) sort(values.data(), values.size(), less, values.memory());
}

// Of values that are sorted by the number with which each begins: how many have one below `bound`.
ALLOCSCOPE_NOINLINE std::size_t count_below(const void* values, std::size_t count,
                                            std::size_t value_bytes, std::uint64_t bound) noexcept {
    std::size_t begin = 0;
    while (count > 0) {
        const std::size_t half = count / 2;
        std::uint64_t number = 0;
        std::memcpy(&number, static_cast<const char*>(values) + (begin + half) * value_bytes,
                    sizeof number);
        if (number < bound) {
            begin += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return begin;
}
template <class T>
ALLOCSCOPE_INLINE std::size_t count_below(const list<T>& sorted, std::uint64_t bound) noexcept {
    return count_below(sorted.data(), sorted.size(), sizeof(T), bound);
}

// Index of the first of `count` values for which `is_before` is false. It must be true for all
// values before that one and false for all after it.
template <class T, class IsBefore>
ALLOCSCOPE_INLINE std::size_t partition_point(const T* values, std::size_t count,
                                              const IsBefore& is_before) {
    std::size_t begin = 0;
    while (count > 0) {
        const std::size_t half = count / 2;
        if (is_before(values[begin + half])) {
            begin += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return begin;
}

// The same for questions whose answers are mostly close to the answer before, which is in `last`.
// It takes a few steps then, and otherwise twice as many as partition_point().
template <class T, class IsBefore>
ALLOCSCOPE_INLINE std::size_t partition_point_near(std::size_t& last, const T* values,
                                                   std::size_t count, const IsBefore& is_before) {
    std::size_t begin = last < count ? last : count;
    std::size_t end = begin;
    for (std::size_t step = 1; begin > 0 && !is_before(values[begin - 1]); step *= 2) {
        end = begin - 1;
        begin = step < end ? end - step : 0;
    }
    for (std::size_t step = 1; end < count && is_before(values[end]); step *= 2) {
        begin = end + 1;
        end = step < count - begin ? begin + step : count;
    }
    return last = begin + partition_point(values + begin, end - begin, is_before);
}

}  // namespace plain

ALLOCSCOPE_MILD_END

#endif  // ALLOCSCOPE_PLAIN_SORT_HPP
