// return_address_check.hpp - whether a number could be a return address.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   for each frame of a stack that has to be walked anew
// Threads:  any, lock-free
// Memory:   none
//
// In code compiled without frame pointers, the frame pointer register may hold anything, and a
// chain through it may meet numbers that look like frames. A return address follows a call
// instruction in executable code of a loaded module. A stack is cut at anything else.
// rule_cache.hpp keeps the answers.
//
// Before glibc 2.35 only modules that were loaded with the program are known, and every other
// address in the lower half of the address space is accepted.

#ifndef ALLOCSCOPE_UNWIND_RETURN_ADDRESS_CHECK_HPP
#define ALLOCSCOPE_UNWIND_RETURN_ADDRESS_CHECK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/unwind/holding_module.hpp>
#include <allocscope/unwind/module_segments.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t
#include <cstring>  // memcmp

#include <elf.h>   // Elf64_Ehdr
#include <link.h>  // ElfW

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Whether the bytes before `address` are a call: E8 rel32, or FF /2 with any operand. `start` is
// the lowest address that may be read.
inline bool follows_call(std::uintptr_t address, std::uintptr_t start) noexcept {
    const auto* code = reinterpret_cast<const unsigned char*>(address);
    const std::uintptr_t before = address - start;
    if (before >= 5 && code[-5] == 0xe8) return true;
    for (std::uintptr_t length = 2; length <= 7 && length <= before; ++length) {
        const unsigned char* at = code - length;
        if (at[0] != 0xff || (at[1] & 0x38U) != 0x10) continue;
        const unsigned mode = at[1] >> 6U;
        const unsigned base = at[1] & 7U;
        std::uintptr_t expected = 2;
        if (mode != 3 && base == 4) expected += 1;  // an index byte follows
        if (mode == 1) expected += 1;
        if (mode == 2 || (mode == 0 && base == 5)) expected += 4;
        if (mode == 0 && base == 4 && length >= 3 && (at[2] & 7U) == 5) expected += 4;
        if (expected == length) return true;
    }
    return false;
}

// mov $15, %rax; syscall: the code to which a signal handler returns.
inline bool is_signal_return(std::uintptr_t address, std::uintptr_t end) noexcept {
    constexpr unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    return end - address >= sizeof(code) &&
           std::memcmp(reinterpret_cast<const void*>(address), code, sizeof(code)) == 0;
}

// Looks into the module that holds the address.
inline bool is_return_address(std::uintptr_t address) noexcept {
    constexpr std::uintptr_t lowest = 4096;
    constexpr std::uintptr_t highest = std::uintptr_t{1} << 47U;
    if (address < lowest || address >= highest) return false;
    const holding_module module = find_holding_module(address);
    if (module.start == 0) return !can_tell_modules();
    module_segments segments;
    if (!find_module_segments(module.start, segments)) return false;
    const ElfW(Phdr)* code = segments.holder_of(address - 1, PF_R | PF_X);
    if (code == nullptr) return false;
    const std::uintptr_t low = segments.base + code->p_vaddr;
    return follows_call(address, low) || is_signal_return(address, low + code->p_filesz);
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_UNWIND_RETURN_ADDRESS_CHECK_HPP
