// two_words.hpp - two words of memory that are read, compared and added up at once.
//
// Room:     base (floor 0), malloc-safe
// Called:   where a stack is compared with one that is known
// Threads:  any
// Memory:   none
//
// These are the compilers' own vectors, with their operators ^ | & + and ==. The functions below do
// what those operators cannot. <emmintrin.h> could, too, but including it takes a hundredth of the
// time that allocscope takes to compile.

#ifndef ALLOCSCOPE_BASE_TWO_WORDS_HPP
#define ALLOCSCOPE_BASE_TWO_WORDS_HPP

#include <allocscope/base/compiler.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_HOT_BEGIN

namespace detail {

using two_words = std::uint64_t __attribute__((__vector_size__(16)));
using four_halves = std::uint32_t __attribute__((__vector_size__(16)));

// Two words of any type: at a multiple of 16 bytes, or anywhere.
typedef std::uint64_t aligned_words __attribute__((__vector_size__(16), __may_alias__));
typedef std::uint64_t words_anywhere
    __attribute__((__vector_size__(16), __may_alias__, __aligned__(1)));
static_assert(alignof(aligned_words) == 16 && alignof(words_anywhere) == 1,
              "clang++ ignores aligned() in a using-declaration");

ALLOCSCOPE_FAST_PATH two_words load_two(const void* words) noexcept {
    return *static_cast<const words_anywhere*>(words);
}

// Both higher words.
ALLOCSCOPE_FAST_PATH two_words higher_words(two_words first, two_words second) noexcept {
#if defined(__clang__)
    return __builtin_shufflevector(first, second, 1, 3);
#else
    return __builtin_shuffle(first, second, two_words{1, 3});
#endif
}

// The products of the low 32 bits of each word.
ALLOCSCOPE_FAST_PATH two_words low_products(two_words first, two_words second) noexcept {
#if defined(__clang__)
    return (first & 0xffffffffU) * (second & 0xffffffffU);
#else
    using signed_words = long long __attribute__((__vector_size__(16)));
    using signed_halves = int __attribute__((__vector_size__(16)));
    const signed_words products = __builtin_ia32_pmuludq128(
        reinterpret_cast<signed_halves>(first), reinterpret_cast<signed_halves>(second));
    return reinterpret_cast<two_words>(products);
#endif
}

// The highest bit of each byte; 0xffff when all bits are set.
ALLOCSCOPE_FAST_PATH std::uint32_t byte_mask(two_words words) noexcept {
    using bytes = char __attribute__((__vector_size__(16)));
    return static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128(reinterpret_cast<bytes>(words)));
}

// All bits are set where 32 bits are the same in both.
ALLOCSCOPE_FAST_PATH two_words equal_halves(two_words first, two_words second) noexcept {
    const auto same = reinterpret_cast<four_halves>(first) == reinterpret_cast<four_halves>(second);
    return reinterpret_cast<two_words>(same);
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_BASE_TWO_WORDS_HPP
