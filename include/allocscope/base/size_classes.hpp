// size_classes.hpp - puts the sizes of objects into classes: powers of two.
//
// Room:     base (floor 0), malloc-safe
// Called:   for each allocation of a window with options::details, and by reports
// Threads:  plain functions
// Memory:   none
//
//     class       0      1       2           14            15
//     bytes     0..8   9..16   17..32 ...  65537..131072   more

#ifndef ALLOCSCOPE_BASE_SIZE_CLASSES_HPP
#define ALLOCSCOPE_BASE_SIZE_CLASSES_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

constexpr std::size_t size_class_count = 16;

// The most bytes of an object in a class; the last class has no limit.
constexpr std::uint64_t most_bytes_of_class(std::size_t number) noexcept {
    return number + 1 < size_class_count ? std::uint64_t{8} << number : ~std::uint64_t{0};
}

constexpr std::size_t size_class_of(std::uint64_t bytes) noexcept {
    if (bytes <= 8) return 0;
    const std::size_t number = 61U - static_cast<std::size_t>(__builtin_clzll(bytes - 1));
    return number < size_class_count ? number : size_class_count - 1;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_SIZE_CLASSES_HPP
