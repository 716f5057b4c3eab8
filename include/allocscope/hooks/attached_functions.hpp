// attached_functions.hpp - what other modules call in place of malloc after attach_hooks().
//
// Room:     hooks (floor 6), malloc-safe, but for dlsym and dlvsym
// Called:   by every module whose words attach_hooks() has changed
// Threads:  any, also in signal handlers; also after detach_hooks(), by code that kept an address
// Memory:   the underlying allocator's
//
// Each function does what malloc_family.hpp defines under the name of the C library.
//
// dlsym and dlvsym are replaced for another reason: code that has loaded a library asks next for
// its functions. That is the moment to change the words of the library, and no lock is held then
// that the loader would not take itself. The call is passed on by a tail call, so that the C
// library sees the address of the caller, which RTLD_NEXT depends on.

#ifndef ALLOCSCOPE_HOOKS_ATTACHED_FUNCTIONS_HPP
#define ALLOCSCOPE_HOOKS_ATTACHED_FUNCTIONS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/hooks/intercepted_functions.hpp>
#include <allocscope/hooks/malloc_entry.hpp>
#include <allocscope/hooks/operator_calls.hpp>
#include <allocscope/hooks/underlying_allocator.hpp>
#include <allocscope/state/process_state.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uintptr_t
#include <cstring>  // memcpy

#include <dlfcn.h>  // dlsym, RTLD_DEFAULT

// With any compiler options these functions end with a tail call, which reuses their frame. They
// are not noexcept, because clang would keep a frame for that.
#if defined(__clang__)
    #define ALLOCSCOPE_PRIVATE_PASSES_ON ALLOCSCOPE_NOINLINE
    #define ALLOCSCOPE_PRIVATE_LAST_ACT __attribute__((__musttail__)) return
#else
    #define ALLOCSCOPE_PRIVATE_PASSES_ON \
        __attribute__((__optimize__("O2", "optimize-sibling-calls"))) ALLOCSCOPE_NOINLINE
    #define ALLOCSCOPE_PRIVATE_LAST_ACT return
#endif

ALLOCSCOPE_HOT_BEGIN

namespace detail {

#define ALLOCSCOPE_PRIVATE_DEFINE(result, name, parameters, arguments) \
    ALLOCSCOPE_NOINLINE result attached_##name parameters noexcept {   \
        return hooked_##name arguments;                                \
    }
ALLOCSCOPE_INTERCEPTED_FUNCTIONS(ALLOCSCOPE_PRIVATE_DEFINE)
#undef ALLOCSCOPE_PRIVATE_DEFINE

// The C library's functions. They are not read from our own tables, which lead to the functions
// below.
ALLOCSCOPE_HIDDEN inline void* (*next_dlsym)(void*, const char*) noexcept = nullptr;
ALLOCSCOPE_HIDDEN inline void* (*next_dlvsym)(void*, const char*, const char*) noexcept = nullptr;

ALLOCSCOPE_HIDDEN inline std::uintptr_t address_in_libc = 0;

ALLOCSCOPE_NOINLINE void look_before_lookup() noexcept {
    if (auto look = process.look_for_modules.load(memory_order::acquire)) look();
}

ALLOCSCOPE_PRIVATE_PASSES_ON void* attached_dlsym(void* library, const char* name) {
    look_before_lookup();
    ALLOCSCOPE_PRIVATE_LAST_ACT next_dlsym(library, name);
}
ALLOCSCOPE_PRIVATE_PASSES_ON void* attached_dlvsym(void* library, const char* name,
                                                   const char* version) {
    look_before_lookup();
    ALLOCSCOPE_PRIVATE_LAST_ACT next_dlvsym(library, name, version);
}

#undef ALLOCSCOPE_PRIVATE_PASSES_ON
#undef ALLOCSCOPE_PRIVATE_LAST_ACT

struct attached_function {
    const char* name;
    std::uintptr_t hook;
    std::uintptr_t next;  // what the loader writes for the name; 0: there is no such function
};

#define ALLOCSCOPE_PRIVATE_COUNT(result, name, parameters, arguments) +1
constexpr std::uint32_t attached_function_count =
    2 ALLOCSCOPE_INTERCEPTED_FUNCTIONS(ALLOCSCOPE_PRIVATE_COUNT);
#undef ALLOCSCOPE_PRIVATE_COUNT

ALLOCSCOPE_HIDDEN inline attached_function attached_functions[attached_function_count] = {};

template <class Function>
inline std::uintptr_t address_of_function(Function function) noexcept {
    std::uintptr_t address = 0;
    static_assert(sizeof(function) == sizeof(address), "POSIX says so");
    std::memcpy(&address, &function, sizeof(address));
    return address;
}

// In a program that is linked with -no-pie the address of malloc can be that of a jump through the
// program's own table. By that the operators would come to the hooks, and be counted twice.
inline void call_past_jumps() noexcept {
    calls_of_operators.obtain.store(function_in(next_definitions.malloc), memory_order::relaxed);
    calls_of_operators.obtain_aligned.store(function_in(next_definitions.posix_memalign),
                                            memory_order::relaxed);
    calls_of_operators.release.store(function_in(next_definitions.free), memory_order::relaxed);
}

// Fills the table above and chooses the underlying allocator. Called before the first word is
// changed, and not while the loader's lock is held.
inline void find_attached_functions() noexcept {
    std::uint32_t count = 0;
    const auto add = [&count](const char* name, std::uintptr_t hook, std::uintptr_t next) {
        attached_functions[count++] = {name, hook, next};
    };
    choose_underlying();
    call_past_jumps();
#define ALLOCSCOPE_PRIVATE_ADD(result, name, parameters, arguments) \
    add(#name, address_of_function(&attached_##name),               \
        address_of_function(function_in(next_definitions.name)));
    ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_PRIVATE_ADD)
#undef ALLOCSCOPE_PRIVATE_ADD
#define ALLOCSCOPE_PRIVATE_ADD(result, name, parameters, arguments) \
    add(#name, address_of_function(&attached_##name),               \
        address_of_function(past_the_table (&::dlsym)(RTLD_DEFAULT, #name)));
    ALLOCSCOPE_DERIVED_FUNCTIONS(ALLOCSCOPE_PRIVATE_ADD)
#undef ALLOCSCOPE_PRIVATE_ADD
    address_in_libc =
        address_of_function(next_definition<const char* (*)()>("gnu_get_libc_version"));
    next_dlsym = next_definition<decltype(next_dlsym)>("dlsym");
    next_dlvsym = next_definition<decltype(next_dlvsym)>("dlvsym");
    add("dlsym", address_of_function(&attached_dlsym), address_of_function(next_dlsym));
    add("dlvsym", address_of_function(&attached_dlvsym), address_of_function(next_dlvsym));
}

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_ATTACHED_FUNCTIONS_HPP
