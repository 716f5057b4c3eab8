// unoptimised_code.hpp - tells from its first instructions whether a function was optimised.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   once for each return address with a frame pointer that is new to the caches
// Threads:  any
// Memory:   none
//
// Without optimisation g++ and clang++ first of all write the arguments of a function to its frame:
//
//     push %rbp; mov %rsp,%rbp; sub $32,%rsp; mov %rdi,-24(%rbp)
//
// An optimised function hardly ever begins so, even if it has a frame pointer: of the functions of
// libstdc++'s templates in a program, 98% begin so with g++ -O0, 96% with clang++ -O0, and none of
// 453 at -O2 -fno-omit-frame-pointer. A function without arguments passes for optimised.

#ifndef ALLOCSCOPE_UNWIND_UNOPTIMISED_CODE_HPP
#define ALLOCSCOPE_UNWIND_UNOPTIMISED_CODE_HPP

#include <allocscope/base/byte_view.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/eh_frame.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint8_t, uint64_t
#include <cstring>  // memcmp

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Whether the function that begins at this address in the code keeps its first argument in its
// frame.
inline bool is_unoptimised(const mapped_bytes& code, std::uint64_t begin) noexcept {
    constexpr std::size_t longest = 48;  // of what is looked at
    if (!code.holds(begin) || !code.holds(begin + longest)) return false;
    const std::uint8_t* at = code.bytes.data + (begin - code.address);
    const auto skip = [&at](const char* bytes, std::size_t count) {
        if (std::memcmp(at, bytes, count) != 0) return false;
        at += count;
        return true;
    };
    skip("\xf3\x0f\x1e\xfa", 4);                     // endbr64
    if (!skip("\x55\x48\x89\xe5", 4)) return false;  // push %rbp; mov %rsp,%rbp
    for (int i = 0; i < 3; ++i) {  // push %r12; push %rbx: optimised code mostly saves more
        const bool is_extended = *at == 0x41 && (at[1] & 0xfcU) == 0x54;
        if (is_extended || *at == 0x53) at += is_extended ? 2 : 1;
    }
    if (skip("\x48\x83\xec", 3)) at += 1;  // sub $8,%rsp
    if (skip("\x48\x81\xec", 3)) at += 4;  // sub $1024,%rsp
    skip("\x48\x89\xf8", 3);               // mov %rdi,%rax: where the result goes
    // mov %rdi,-24(%rbp), or %edi, or movss %xmm0,-24(%rbp)
    if (!skip("\xf3\x0f\x11", 3) && !skip("\xf2\x0f\x11", 3) && !skip("\x48\x89", 2) &&
        !skip("\x89", 1)) {
        return false;
    }
    const unsigned operands = *at & 0xc7U;
    return operands == 0x45 || operands == 0x85;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_UNWIND_UNOPTIMISED_CODE_HPP
