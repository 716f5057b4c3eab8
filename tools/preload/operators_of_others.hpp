// operators_of_others.hpp - notes that objects of operator new are missing in the recording.
//
// Called:   when this library is loaded and unloaded: the loader has prepared all libraries then
// Threads:  any
// Memory:   none
//
// operator new of libstdc++ calls malloc, which is ours. But jemalloc, tcmalloc and mimalloc also
// define operator new, and theirs takes memory from their heap directly. This library does not
// replace the operators: it would come before those of libraries that are opened later, and could
// not pass calls on to them.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_OPERATORS_OF_OTHERS_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_OPERATORS_OF_OTHERS_HPP

#include "begin_recording.hpp"

#include <allocscope/hooks/module_slots.hpp>
#include <allocscope/hooks/underlying_allocator.hpp>

#include <cstddef>
#include <cstdint>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

// The one that the program finds; null in a program without operators.
extern "C" __attribute__((weak)) void* operator_new_of_program(std::size_t bytes) __asm__("_Znwm");

namespace allocscope {
namespace detail {

inline const void* address_of_operator_new() noexcept {
    const auto address = reinterpret_cast<const void*>(&operator_new_of_program);
    if (address == nullptr || !is_only_a_jump(address)) return address;
    return ::dlsym(RTLD_NEXT, "_Znwm");
}

// The allocator behind ours, if it also defines the operator new that the program finds. Otherwise
// `begin` is null.
inline module_of allocator_with_operators() noexcept {
    const module_of allocator{function_in(next_definitions.malloc)};
    const module_of found{address_of_operator_new()};
    return found.begin == allocator.begin ? allocator : module_of{static_cast<void*>(nullptr)};
}

inline bool is_operator_new(const module_slot& slot) noexcept {
    for (const char* name :
         {"_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_t",
          "_ZnamSt11align_val_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
          "_ZnamSt11align_val_tRKSt9nothrow_t"}) {
        if (is_named(slot, name)) return true;
    }
    return false;
}

// For dl_iterate_phdr. The allocator and the C++ library define the operators, and call them
// through such words, too. A program in C has both, if the allocator needs the C++ library.
inline int look_for_calls(dl_phdr_info* info, std::size_t, void* are_found) noexcept {
    const loaded_segments segments{*info};
    if (segments.holder_of(reinterpret_cast<std::uintptr_t>(&process), 1) != nullptr) return 0;
    bool& is_found = *static_cast<bool*>(are_found);
    slots_of_module{segments}.for_each([&is_found](const module_slot& slot) {
        is_found = is_found || (slot.own == 0 && is_operator_new(slot));
    });
    return is_found ? 1 : 0;
}

inline bool is_operator_new_called() noexcept {
    bool is_found = false;
    ::dl_iterate_phdr(&look_for_calls, &is_found);
    return is_found;
}

inline void note_operators_of_others() noexcept {
    if (allocator_not_seen != nullptr || own_recording == nullptr) return;
    if (is_glibc_underlying.load(memory_order::relaxed)) return;
    if (own_recording->process_id != ::getpid()) return;
    const module_of allocator = allocator_with_operators();
    if (allocator.begin == nullptr || !is_operator_new_called()) return;
    allocator_not_seen = allocator.file;
    say_what_is_not_seen(*own_recording);
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_OPERATORS_OF_OTHERS_HPP
