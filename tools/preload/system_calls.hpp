// system_calls.hpp - the system calls of this library, which go to the kernel and nowhere else.
//
// Called:   by everything in this library, under the names of the C library
// Threads:  any
// Memory:   none
//
// These names are not reserved: a C program may call a function or a variable of its own `open` or
// `stat`. The C library never notices, because it calls its own functions by other names. But calls
// from a preloaded library would arrive in the program. So the functions are in this library and
// hidden. They are no cancellation points either, as those of the C library are: malloc is none.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_SYSTEM_CALLS_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_SYSTEM_CALLS_HPP

#include <cerrno>

#include <fcntl.h>
#include <sys/syscall.h>

namespace allocscope_tools {

inline long system_call(long number, long a, long b, long c, long d, long e, long f) noexcept {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result = number;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    constexpr long most_errors = 4095;
    if (result >= 0 || result < -most_errors) return result;
    errno = static_cast<int>(-result);
    return -1;
}

}  // namespace allocscope_tools

// A call with fewer arguments than six passes what is in the registers, as in the C library.
#define ALLOCSCOPE_PRIVATE_CALL(name, parameters, ...)                 \
    extern "C" long preload_##name parameters noexcept __asm__(#name); \
    extern "C" long preload_##name parameters noexcept {               \
        return allocscope_tools::system_call(__VA_ARGS__);             \
    }
#define ALLOCSCOPE_PRIVATE_SAME_CALL(name, number)                                                \
    ALLOCSCOPE_PRIVATE_CALL(name, (long a, long b, long c, long d, long e, long f), number, a, b, \
                            c, d, e, f)
ALLOCSCOPE_PRIVATE_SAME_CALL(access, SYS_access)
ALLOCSCOPE_PRIVATE_SAME_CALL(close, SYS_close)
ALLOCSCOPE_PRIVATE_SAME_CALL(execve, SYS_execve)
ALLOCSCOPE_PRIVATE_SAME_CALL(getpid, SYS_getpid)
ALLOCSCOPE_PRIVATE_SAME_CALL(madvise, SYS_madvise)
ALLOCSCOPE_PRIVATE_SAME_CALL(mmap, SYS_mmap)
ALLOCSCOPE_PRIVATE_SAME_CALL(mprotect, SYS_mprotect)
ALLOCSCOPE_PRIVATE_SAME_CALL(mremap, SYS_mremap)
ALLOCSCOPE_PRIVATE_SAME_CALL(munmap, SYS_munmap)
ALLOCSCOPE_PRIVATE_SAME_CALL(prctl, SYS_prctl)
ALLOCSCOPE_PRIVATE_SAME_CALL(pread, SYS_pread64)
ALLOCSCOPE_PRIVATE_SAME_CALL(process_vm_readv, SYS_process_vm_readv)
ALLOCSCOPE_PRIVATE_SAME_CALL(read, SYS_read)
ALLOCSCOPE_PRIVATE_SAME_CALL(readlink, SYS_readlink)
ALLOCSCOPE_PRIVATE_SAME_CALL(sched_yield, SYS_sched_yield)
ALLOCSCOPE_PRIVATE_SAME_CALL(sigaltstack, SYS_sigaltstack)
ALLOCSCOPE_PRIVATE_SAME_CALL(write, SYS_write)
// As glibc makes them.
ALLOCSCOPE_PRIVATE_CALL(open, (long path, long flags), SYS_openat, AT_FDCWD, path, flags, 0, 0, 0)
ALLOCSCOPE_PRIVATE_CALL(stat, (long path, long out), SYS_newfstatat, AT_FDCWD, path, out, 0, 0, 0)
ALLOCSCOPE_PRIVATE_CALL(fstat, (long file, long out), SYS_newfstatat, file,
                        reinterpret_cast<long>(""), out, AT_EMPTY_PATH, 0, 0)
ALLOCSCOPE_PRIVATE_CALL(getrlimit, (long which, long out), SYS_prlimit64, 0, which, 0, out, 0, 0)
ALLOCSCOPE_PRIVATE_CALL(syscall, (long number, long a, long b, long c, long d, long e, long f),
                        number, a, b, c, d, e, f)
#undef ALLOCSCOPE_PRIVATE_SAME_CALL
#undef ALLOCSCOPE_PRIVATE_CALL

extern "C" {
unsigned long __getauxval(unsigned long type) noexcept;
unsigned long preload_getauxval(unsigned long type) noexcept __asm__("getauxval");
unsigned long preload_getauxval(unsigned long type) noexcept {
    return __getauxval(type);
}
}

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_SYSTEM_CALLS_HPP
