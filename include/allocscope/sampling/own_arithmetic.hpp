// own_arithmetic.hpp - fractions that are computed in a call of the program, and unnoticed by it.
//
// Room:     sampling (floor 2), malloc-safe
// Called:   around each calculation with doubles inside a hook
// Threads:  any
// Memory:   none
//
// A program may round up, ask whether a calculation of its own was exact (fetestexcept), or want to
// be ended by a signal when one was not (feenableexcept). malloc changes none of this. So these
// calculations have the usual state of the processor, and leave the program's as it was.

#ifndef ALLOCSCOPE_SAMPLING_OWN_ARITHMETIC_HPP
#define ALLOCSCOPE_SAMPLING_OWN_ARITHMETIC_HPP

#include <allocscope/base/compiler.hpp>

#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class own_arithmetic {
public:
    ALLOCSCOPE_INLINE own_arithmetic() noexcept {
        const std::uint32_t usual = 0x1f80;  // nearest, no signals, nothing noted
        __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=m"(of_program_) : "m"(usual) : "memory");
    }
    ALLOCSCOPE_INLINE ~own_arithmetic() {
        __asm__ volatile("ldmxcsr %0" : : "m"(of_program_) : "memory");
    }
    own_arithmetic(const own_arithmetic&) = delete;
    own_arithmetic& operator=(const own_arithmetic&) = delete;

    // For numbers that come from outside, or leave: the compiler calculates with them only between
    // the two. What is in memory need not be named.
    ALLOCSCOPE_INLINE std::uint64_t within(std::uint64_t number) const noexcept {
        __asm__ volatile("" : "+r"(number));
        return number;
    }

private:
    std::uint32_t of_program_;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SAMPLING_OWN_ARITHMETIC_HPP
