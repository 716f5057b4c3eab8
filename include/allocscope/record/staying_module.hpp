// staying_module.hpp - keeps a library that records loaded when somebody closes it.
//
// Room:     record (floor 5), malloc-safe
// Called:   by windows/window_control.hpp, before the first window or pause
// Threads:  any, without our locks: the loader's is taken
// Memory:   a handle of the loader, which is never closed
//
// The operators may lie in a plugin. A thread that has allocated through them calls into the plugin
// when it ends, and a handler of fork does so, too: such a plugin must not go. One with operators
// that nobody uses opens no window of its own, and can be unloaded.

#ifndef ALLOCSCOPE_RECORD_STAYING_MODULE_HPP
#define ALLOCSCOPE_RECORD_STAYING_MODULE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/unwind/module_identity.hpp>

#include <cstdint>  // uintptr_t

#include <dlfcn.h>  // dlopen

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Code that is not compiled for a library is a part of the executable.
#if defined(__PIC__) && !defined(__PIE__)

// `code` is what others will call.
inline void stay_loaded(std::uintptr_t code) noexcept {
    const module_identity own = identify_module(code);
    if (own.start == 0 || own.life == module_life::permanent) return;
    ::dlopen(own.loaded->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

#else

inline void stay_loaded(std::uintptr_t) noexcept {}

#endif

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_RECORD_STAYING_MODULE_HPP
