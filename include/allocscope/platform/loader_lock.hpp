// loader_lock.hpp - whether a lock of the loader belongs to a thread that does not exist.
//
// Room:     platform (floor 1), malloc-safe
// Called:   before dl_iterate_phdr, by platform/loaded_modules.hpp and hooks/walks_and_forks.hpp
// Threads:  any; takes no lock
// Memory:   none
//
// dl_iterate_phdr takes a lock that dlopen and dlclose hold for a moment. If another thread holds
// it during a fork, it stays taken in the child, because glibc releases only another lock there.
// The child's first dl_iterate_phdr then waits for ever.
//
// The lock has no public name. But it is a recursive mutex in the data of the loader, and such a
// mutex has the number of the thread that holds it.

#ifndef ALLOCSCOPE_PLATFORM_LOADER_LOCK_HPP
#define ALLOCSCOPE_PLATFORM_LOADER_LOCK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/platform/thread_identity.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, uintptr_t

#include <link.h>     // _r_debug, Elf64_Ehdr, Elf64_Phdr
#include <pthread.h>  // pthread_mutex_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// Whether these words are a recursive mutex that is held by a thread which is gone. Memory that is
// no mutex does not look like one: all ten words of a mutex have few values.
inline bool is_held_by_nobody(const pthread_mutex_t& words) noexcept {
    const auto read = [](const auto& word) noexcept {
        return static_cast<std::int32_t>(__atomic_load_n(&word, __ATOMIC_RELAXED));
    };
    const auto& mutex = words.__data;
    if (read(mutex.__kind) != PTHREAD_MUTEX_RECURSIVE_NP || read(mutex.__nusers) != 1) return false;
    const std::int32_t lock = read(mutex.__lock);  // 2: with threads that wait
    const std::int32_t holder = read(mutex.__owner);
    return (lock == 1 || lock == 2) && read(mutex.__count) > 0 && holder > 0 &&
           mutex.__spins == 0 && mutex.__list.__prev == nullptr && mutex.__list.__next == nullptr &&
           is_thread_gone(holder);
}

// True in a child in which dl_iterate_phdr would wait for ever. No module is loaded or unloaded
// there any more, because dlopen and dlclose wait, too. In a static program always false.
ALLOCSCOPE_SLOW_PATH bool is_loader_lock_lost() noexcept {
    const std::uintptr_t loader = _r_debug.r_ldbase;
    if (loader == 0) return false;
    const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(loader);
    const auto* const segments = reinterpret_cast<const Elf64_Phdr*>(loader + header.e_phoff);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        if (segments[i].p_type != PT_LOAD || (segments[i].p_flags & PF_W) == 0) continue;
        constexpr std::uintptr_t step = alignof(pthread_mutex_t);
        const std::uintptr_t begin = loader + segments[i].p_vaddr;
        const std::uintptr_t end = begin + segments[i].p_memsz;
        for (std::uintptr_t at = (begin + step - 1) & ~(step - 1);
             at + sizeof(pthread_mutex_t) <= end; at += step) {
            if (is_held_by_nobody(*reinterpret_cast<const pthread_mutex_t*>(at))) return true;
        }
    }
    return false;
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLATFORM_LOADER_LOCK_HPP
