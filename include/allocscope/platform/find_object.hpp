// find_object.hpp - asks the C library which module holds an address, without a lock.
//
// Room:     platform (floor 1), malloc-safe
// Called:   by unwind/, hooks/attached_hooks.hpp and naming/stack_modules.hpp
// Threads:  any, lock-free
// Memory:   none
//
// glibc has _dl_find_object since 2.35. A program that was compiled with older headers may run with
// such a glibc, so the structure is declared here for them. The function is weak, because one that
// was compiled with newer headers may run with an older glibc.

#ifndef ALLOCSCOPE_PLATFORM_FIND_OBJECT_HPP
#define ALLOCSCOPE_PLATFORM_FIND_OBJECT_HPP

#include <allocscope/base/compiler.hpp>

#include <dlfcn.h>  // dl_find_object

#if !defined(DLFO_STRUCT_HAS_EH_DBASE)
struct link_map;
struct dl_find_object {  // of x86_64
    unsigned long long dlfo_flags;
    void* dlfo_map_start;
    void* dlfo_map_end;
    struct link_map* dlfo_link_map;
    void* dlfo_eh_frame;  // .eh_frame_hdr
    unsigned long long reserved[7];
};
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"  // newer headers have declared it, not as weak
extern "C" int _dl_find_object(void* address, struct dl_find_object* result) noexcept
    __attribute__((__weak__));
#pragma GCC diagnostic pop

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Whether any module can be found without a lock. Otherwise only those that were loaded with the
// program can: see unwind/holding_module.hpp.
ALLOCSCOPE_INLINE bool can_tell_modules() noexcept {
    return &_dl_find_object != nullptr;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_FIND_OBJECT_HPP
