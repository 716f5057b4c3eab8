// signed_numbers.hpp - numbers of a difference, which may be negative.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by whatever compares, sums or shows the numbers of a difference
// Threads:  plain values
// Memory:   none
//
// The numbers of rows and stacks are unsigned; a difference stores two's complement in the same
// fields. To write such a number: plain/text_out.hpp, signed_decimal.

#ifndef ALLOCSCOPE_SNAPSHOT_SIGNED_NUMBERS_HPP
#define ALLOCSCOPE_SNAPSHOT_SIGNED_NUMBERS_HPP

#include <allocscope/config.hpp>

#include <cstdint>  // int64_t, uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Whether a number of a difference is negative.
constexpr bool is_negative(std::uint64_t number) noexcept {
    return static_cast<std::int64_t>(number) < 0;
}

// The size of a change without its sign; in a snapshot that is no difference, the number itself.
constexpr std::uint64_t size_of_change(std::uint64_t number, bool is_difference) noexcept {
    return is_difference && is_negative(number) ? std::uint64_t{0} - number : number;
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_SIGNED_NUMBERS_HPP
