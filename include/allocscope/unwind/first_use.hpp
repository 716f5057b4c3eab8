// first_use.hpp - recognises allocations made while a function-local static was initialised.
//
// Room:     unwind (floor 3), malloc-safe
// Called:   by verdict/expected_leaks.hpp, for the stacks that a failing check would name
// Threads:  any; the modules must not be unloaded meanwhile
// Memory:   none
//
// `static const table t = make_table();` in a function allocates at its first use and keeps what it
// allocated, so the test that happens to come first seems to leak it. Compilers put the
// initialisation between two calls of the C++ runtime (Itanium C++ ABI, 3.3.3 "One-time
// Construction API"):
//
//     call __cxa_guard_acquire
//     ...                                <- return addresses of the initialisation
//     call __cxa_guard_release
//
// So the code of each function on a stack is searched for calls of these two around its return
// address. A call goes straight to the function, or through a stub of the linker that jumps to the
// address in a word of memory, or (-fno-plt) through that word itself.

#ifndef ALLOCSCOPE_UNWIND_FIRST_USE_HPP
#define ALLOCSCOPE_UNWIND_FIRST_USE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/eh_frame.hpp>
#include <allocscope/binary/eh_frame_index.hpp>
#include <allocscope/unwind/cfi_to_rule.hpp>
#include <allocscope/unwind/module_segments.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, uint8_t, uint64_t, uintptr_t
#include <cstring>  // memcmp, memcpy

#include <elf.h>  // PF_R, PF_X

// They have names of our own, because the types in the declarations of <cxxabi.h> differ between
// C++ runtimes. Their types here are those that g++ itself gives them: with -flto it compares. They
// are weak, because a program without function-local statics may lack them.
extern "C" __attribute__((__weak__)) int allocscope_guard_acquire(long long*) noexcept
    __asm__("__cxa_guard_acquire");
extern "C" __attribute__((__weak__)) void allocscope_guard_release(long long*) noexcept
    __asm__("__cxa_guard_release");

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// The code of one function, and the module it lies in.
struct function_code {
    module_segments module;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;  // 0: not known
};

inline function_code function_around(std::uintptr_t address) noexcept {
    function_code found;
    eh_frame_image image;
    frame_description about;
    const holding_module holder = find_holding_module(address);
    if (!cfi_to_rule_detail::find_live_image(holder, address, image) ||
        !find_module_segments(holder.start, found.module) ||
        find_frame_description(image, address, about) != fde_search::found) {
        return found;
    }
    const Elf64_Phdr* segment = found.module.holder_of(about.begin, PF_R | PF_X);
    if (segment == nullptr ||
        about.end > found.module.base + segment->p_vaddr + segment->p_filesz) {
        return found;
    }
    found.begin = about.begin;
    found.end = about.end;
    return found;
}

// The address that an operand of four bytes names. The operand is the end of its instruction.
inline std::uintptr_t relative_address_at(std::uintptr_t operand) noexcept {
    std::int32_t distance = 0;
    std::memcpy(&distance, reinterpret_cast<const void*>(operand), sizeof distance);
    return operand + 4 + static_cast<std::uintptr_t>(std::intptr_t{distance});
}

inline bool has_bytes(std::uintptr_t address, const char* bytes, std::size_t count) noexcept {
    return std::memcmp(reinterpret_cast<const void*>(address), bytes, count) == 0;
}

// The contents of the word of memory that an operand names.
inline std::uintptr_t word_named_at(const module_segments& module,
                                    std::uintptr_t operand) noexcept {
    const std::uintptr_t word = relative_address_at(operand);
    std::uintptr_t value = 0;
    if (module.holder_of(word, PF_R) == nullptr) return 0;
    std::memcpy(&value, reinterpret_cast<const void*>(word), sizeof value);
    return value;
}

// Where a jump to `target` arrives in the end, past a stub of the linker.
inline std::uintptr_t behind_stub(const module_segments& module, std::uintptr_t target) noexcept {
    constexpr std::size_t longest_stub = 16;
    if (module.holder_of(target, PF_R | PF_X) == nullptr ||
        module.holder_of(target + longest_stub, PF_R | PF_X) == nullptr) {
        return target;
    }
    std::uintptr_t at = target;
    if (has_bytes(at, "\xf3\x0f\x1e\xfa", 4)) at += 4;  // endbr64
    if (has_bytes(at, "\xf2", 1)) at += 1;              // bnd
    return has_bytes(at, "\xff\x25", 2) ? word_named_at(module, at + 2) : target;
}

// Where the call at `address` goes; 0 when there is none. The address may be that of any byte.
inline std::uintptr_t callee_at(const function_code& in, std::uintptr_t address) noexcept {
    if (address + 5 <= in.end && has_bytes(address, "\xe8", 1)) {
        return behind_stub(in.module, relative_address_at(address + 1));
    }
    if (address + 6 <= in.end && has_bytes(address, "\xff\x15", 2)) {
        return word_named_at(in.module, address + 2);
    }
    return 0;
}

// The address of a function of another module, in the form that callee_at() gives.
inline std::uintptr_t entry_of(std::uintptr_t address) noexcept {
    module_segments module;
    if (address == 0 || !find_module_segments(find_holding_module(address).start, module)) {
        return address;
    }
    return behind_stub(module, address);
}

// Where the initialisation begins, if its __cxa_guard_acquire returns to `behind`. Compilers check
// at once whether there is anything to do (test eax, eax). g++ then jumps to the initialisation,
// which often lies far from the function's other code.
inline std::uintptr_t initialisation_behind(const function_code& in,
                                            std::uintptr_t behind) noexcept {
    constexpr std::uintptr_t farthest = 12;
    std::uintptr_t at = behind;
    while (at < behind + farthest && at + 10 < in.end && !has_bytes(at, "\x85\xc0", 2)) ++at;
    for (at += 2; at < behind + farthest && at + 6 < in.end; ++at) {
        if (has_bytes(at, "\x75", 1)) {  // jne, one byte
            signed char distance = 0;
            std::memcpy(&distance, reinterpret_cast<const void*>(at + 1), 1);
            return at + 2 + static_cast<std::uintptr_t>(std::intptr_t{distance});
        }
        if (has_bytes(at, "\x0f\x85", 2)) return relative_address_at(at + 2);  // jne, four bytes
        if (has_bytes(at, "\x74", 1) || has_bytes(at, "\x0f\x84", 2)) break;   // je: goes on here
    }
    return behind;
}

// The nearest place before `limit` where an initialisation begins or ends; `at` is 0 if there is
// none.
struct initialisation_mark {
    std::uintptr_t at;
    bool is_begin;
};

inline initialisation_mark last_mark_before(const function_code& in, std::uintptr_t limit,
                                            std::uintptr_t acquire,
                                            std::uintptr_t release) noexcept {
    initialisation_mark last{0, false};
    for (std::uintptr_t at = in.begin; at < in.end; ++at) {
        const std::uintptr_t callee = callee_at(in, at);
        if (callee == release && at < limit && at > last.at) last = {at, false};
        if (callee != acquire) continue;
        const std::uintptr_t begin =
            initialisation_behind(in, at + (has_bytes(at, "\xe8", 1) ? 5U : 6U));
        if (begin < limit && begin > last.at) last = {begin, true};
    }
    return last;
}

// Where the innermost initialisation of a static begins to which the call that returns to
// `return_address` belongs; 0: to none.
inline std::uintptr_t initialisation_around(std::uintptr_t return_address) noexcept {
    const function_code function = function_around(return_address - 1);
    if (function.end == 0) return 0;
    const std::uintptr_t acquire =
        entry_of(reinterpret_cast<std::uintptr_t>(&allocscope_guard_acquire));
    const std::uintptr_t release =
        entry_of(reinterpret_cast<std::uintptr_t>(&allocscope_guard_release));
    if (acquire == 0 || release == 0) return 0;
    bool ends = false;
    for (std::uintptr_t at = return_address; at < function.end && !ends; ++at) {
        ends = callee_at(function, at) == release;
    }
    if (!ends) return 0;
    // Back from the call: an initialisation that has ended before it is passed with its begin.
    std::uintptr_t limit = return_address;
    for (std::uint32_t ended = 0;;) {
        const initialisation_mark mark = last_mark_before(function, limit, acquire, release);
        if (mark.at == 0) return 0;
        if (mark.is_begin && ended == 0) return mark.at;
        mark.is_begin ? --ended : ++ended;
        limit = mark.at;
    }
}

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_UNWIND_FIRST_USE_HPP
