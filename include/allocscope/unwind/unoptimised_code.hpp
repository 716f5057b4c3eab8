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
#include <cstring>  // memcpy

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The first bytes of an instruction; its first byte is the lowest.
inline std::uint64_t bytes_at(const std::uint8_t* code, unsigned count) noexcept {
    std::uint64_t bytes;
    std::memcpy(&bytes, code, sizeof bytes);
    return bytes & ((std::uint64_t{1} << 8 * count) - 1);
}

// Whether the function that begins at this address in the code keeps its first argument in its
// frame.
inline bool is_unoptimised(const mapped_bytes& code, std::uint64_t begin) noexcept {
    constexpr std::size_t longest = 48;  // of what is looked at
    if (!code.holds(begin) || !code.holds(begin + longest)) return false;
    const std::uint8_t* at = code.bytes.data + (begin - code.address);
    if (bytes_at(at, 4) == 0xfa1e0ff3) at += 4;       // endbr64
    if (bytes_at(at, 4) != 0xe5894855) return false;  // push %rbp; mov %rsp,%rbp
    at += 4;
    for (int i = 0; i < 3; ++i) {  // push %r12; push %rbx: optimised code mostly saves more
        const bool is_extended = (bytes_at(at, 2) & 0xfcffU) == 0x5441;
        if (is_extended || *at == 0x53) at += is_extended ? 2 : 1;
    }
    const std::uint64_t next = bytes_at(at, 3);
    if (next == 0xec8348) at += 4;             // sub $8,%rsp
    if (next == 0xec8148) at += 7;             // sub $1024,%rsp
    if (bytes_at(at, 3) == 0xf88948) at += 3;  // mov %rdi,%rax: where the result goes
    // mov %rdi,-24(%rbp), or %edi, or movss %xmm0,-24(%rbp)
    if (*at == 0x48) ++at;
    if (*at == 0xf2 || *at == 0xf3) at += bytes_at(at + 1, 2) == 0x110f ? 2 : 0;
    if (*at != 0x89 && *at != 0x11) return false;
    const unsigned operands = at[1] & 0xc7U;
    return operands == 0x45 || operands == 0x85;
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_UNWIND_UNOPTIMISED_CODE_HPP
