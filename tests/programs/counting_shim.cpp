// counting_shim.cpp - a second judge beside Valgrind: what a process asks malloc's family for.
//
// A preload library of nothing but counters, which knows no line of allocscope. It adds up
// allocations, frees and bytes as Valgrind's "total heap usage" does: realloc is an allocation of
// the new size and a free of the old block, free(nullptr) is nothing. The counters stand in the
// file that COUNTING_SHIM_FILE names, mapped shared, so that they are read when the process is
// dead, whichever way it died. The first process that finds the file counts, neither its children
// nor what it execs. Room for events behind the counters is filled with one word for each call.
//
// operator new is here, too: libstdc++ asks malloc for more than it was asked for itself, 1 byte
// instead of 0 and whole multiples of an alignment.
//
// Compiled by judges.py: g++ -O2 -shared -fPIC -nodefaultlibs -lc. Forwards to __libc_malloc and
// its like; only for programs whose malloc is glibc's. With -DALLOCSCOPE_SHIM_PASSES_ON, for
// same_run.py, it passes each call on to the library loaded behind it, and leaves operator new to
// libstdc++, which calls malloc.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

// How the functions below call those behind them.
#if defined(ALLOCSCOPE_SHIM_PASSES_ON)

    #define ALLOCSCOPE_SHIM_BEHIND(RESULT, NAME, PARAMETERS, ARGUMENTS)            \
        extern "C" RESULT NAME PARAMETERS;                                         \
        static RESULT behind_##NAME PARAMETERS {                                   \
            static decltype(&NAME) next = nullptr;                                 \
            if (next == nullptr)                                                   \
                next = reinterpret_cast<decltype(&NAME)>(dlsym(RTLD_NEXT, #NAME)); \
            return next ARGUMENTS;                                                 \
        }

#else

    #define ALLOCSCOPE_SHIM_BEHIND(RESULT, NAME, PARAMETERS, ARGUMENTS) \
        extern "C" RESULT __libc_##NAME PARAMETERS;                     \
        static RESULT behind_##NAME PARAMETERS {                        \
            return __libc_##NAME ARGUMENTS;                             \
        }

#endif

ALLOCSCOPE_SHIM_BEHIND(void*, malloc, (std::size_t bytes), (bytes))
ALLOCSCOPE_SHIM_BEHIND(void, free, (void* pointer), (pointer))
ALLOCSCOPE_SHIM_BEHIND(void*, calloc, (std::size_t count, std::size_t bytes), (count, bytes))
ALLOCSCOPE_SHIM_BEHIND(void*, realloc, (void* pointer, std::size_t bytes), (pointer, bytes))
ALLOCSCOPE_SHIM_BEHIND(void*, memalign, (std::size_t alignment, std::size_t bytes),
                       (alignment, bytes))
ALLOCSCOPE_SHIM_BEHIND(void*, valloc, (std::size_t bytes), (bytes))
ALLOCSCOPE_SHIM_BEHIND(void*, pvalloc, (std::size_t bytes), (bytes))

namespace {

constexpr std::uint64_t kind_free = std::uint64_t{1} << 62;
constexpr std::uint64_t kind_realloc = std::uint64_t{1} << 61;

// What judges.py reads: eight words, then one for each event.
struct counters {
    std::uint64_t owner;  // process id of the one that counts
    std::uint64_t allocations;
    std::uint64_t frees;
    std::uint64_t bytes_allocated;
    std::uint64_t events;
    std::uint64_t event_capacity;
    std::uint64_t is_complete;  // 0: counted elsewhere, the file could not be mapped
    std::uint64_t rounded;      // bytes that operator new asked malloc for beyond its own
    std::uint64_t event[1];
};

// The page with this pointer is emptied in every child of fork and clone: a child counts nothing.
struct alive_page {
    counters* shared;
    std::uint64_t is_owner;
};
alive_page* page = nullptr;
bool is_settled = false;  // the file was looked for
counters early = {};      // before the environment can be read

void add(std::uint64_t* word, std::uint64_t amount) {
    __atomic_fetch_add(word, amount, __ATOMIC_RELAXED);
}

void* map(std::size_t bytes, int flags, int file) {
    const long where = ::syscall(SYS_mmap, 0L, bytes, PROT_READ | PROT_WRITE, flags, file, 0L);
    return where == -1 ? nullptr : reinterpret_cast<void*>(where);
}

const char* file_name() {
    static constexpr char name[] = "COUNTING_SHIM_FILE=";
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        if (std::strncmp(*each, name, sizeof name - 1) == 0) return *each + sizeof name - 1;
    }
    return nullptr;
}

counters* map_file(const char* name) {
    const int file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC));
    if (file < 0) return nullptr;
    struct stat status = {};
    counters* mapped = nullptr;
    if (::fstat(file, &status) == 0 && status.st_size >= 4096) {
        mapped =
            static_cast<counters*>(map(static_cast<std::size_t>(status.st_size), MAP_SHARED, file));
    }
    ::syscall(SYS_close, file);
    if (mapped == nullptr) return nullptr;
    std::uint64_t nobody = 0;
    const auto self = static_cast<std::uint64_t>(::syscall(SYS_getpid));
    if (!__atomic_compare_exchange_n(&mapped->owner, &nobody, self, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)) {
        ::syscall(SYS_munmap, mapped, static_cast<std::size_t>(status.st_size));
        return nullptr;
    }
    mapped->event_capacity =
        (static_cast<std::uint64_t>(status.st_size) - offsetof(counters, event)) / 8;
    mapped->is_complete = 1;
    return mapped;
}

// Runs in the first call after the environment is there, or before main, while there is one thread.
void settle() {
    is_settled = true;
    const int kept = errno;
    const char* name = file_name();
    counters* shared = name != nullptr ? map_file(name) : nullptr;
    auto* fresh = shared != nullptr
                      ? static_cast<alive_page*>(map(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1))
                      : nullptr;
    if (fresh != nullptr && ::syscall(SYS_madvise, fresh, 4096L, MADV_WIPEONFORK) == 0) {
        add(&shared->allocations, early.allocations);
        add(&shared->frees, early.frees);
        add(&shared->bytes_allocated, early.bytes_allocated);
        add(&shared->rounded, early.rounded);
        fresh->shared = shared;
        page = fresh;
    } else if (shared != nullptr) {
        shared->is_complete = 0;
    }
    errno = kept;
}

// A program may start its first child before it allocates: the child must not be the first to come.
__attribute__((constructor)) void settle_before_main() {
    if (!is_settled) settle();
}

// Nullptr: nobody asked, or this is a child.
counters* current() {
    if (!is_settled) {
        if (environ == nullptr) return &early;
        settle();
    }
    return page != nullptr ? page->shared : nullptr;
}

void note(counters* where, std::uint64_t word) {
    if (where->event_capacity == 0) return;
    const std::uint64_t index = __atomic_fetch_add(&where->events, 1, __ATOMIC_RELAXED);
    if (index < where->event_capacity) where->event[index] = word;
}

void* born(void* pointer, std::size_t bytes) {
    counters* where = pointer != nullptr ? current() : nullptr;
    if (where != nullptr) {
        add(&where->allocations, 1);
        add(&where->bytes_allocated, bytes);
        note(where, bytes);
    }
    return pointer;
}

}  // namespace

#define ALLOCSCOPE_SHIM_EXPORTED extern "C" __attribute__((visibility("default")))

ALLOCSCOPE_SHIM_EXPORTED void* malloc(std::size_t bytes) {
    return born(behind_malloc(bytes), bytes);
}

ALLOCSCOPE_SHIM_EXPORTED void* calloc(std::size_t count, std::size_t bytes) {
    return born(behind_calloc(count, bytes), count * bytes);
}

ALLOCSCOPE_SHIM_EXPORTED void free(void* pointer) {
    counters* where = pointer != nullptr ? current() : nullptr;
    if (where != nullptr) {
        add(&where->frees, 1);
        note(where, kind_free);
    }
    behind_free(pointer);
}

ALLOCSCOPE_SHIM_EXPORTED void* realloc(void* pointer, std::size_t bytes) {
    if (pointer == nullptr) return malloc(bytes);
    void* moved = behind_realloc(pointer, bytes);
    counters* where = moved != nullptr || bytes == 0 ? current() : nullptr;
    if (where != nullptr) {
        add(&where->frees, 1);
        if (moved != nullptr) {
            add(&where->allocations, 1);
            add(&where->bytes_allocated, bytes);
        }
        note(where, moved != nullptr ? kind_realloc | bytes : kind_free);
    }
    return moved;
}

ALLOCSCOPE_SHIM_EXPORTED void* reallocarray(void* pointer, std::size_t count, std::size_t bytes) {
    std::size_t product = 0;
    if (__builtin_mul_overflow(count, bytes, &product)) {
        errno = ENOMEM;
        return nullptr;
    }
    return realloc(pointer, product);
}

ALLOCSCOPE_SHIM_EXPORTED void* memalign(std::size_t alignment, std::size_t bytes) {
    return born(behind_memalign(alignment, bytes), bytes);
}

ALLOCSCOPE_SHIM_EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return memalign(alignment, bytes);
}

ALLOCSCOPE_SHIM_EXPORTED int posix_memalign(void** result, std::size_t alignment,
                                            std::size_t bytes) {
    const bool is_power = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!is_power || alignment % sizeof(void*) != 0) return EINVAL;
    void* pointer = memalign(alignment, bytes);
    if (pointer == nullptr) return ENOMEM;
    *result = pointer;
    return 0;
}

ALLOCSCOPE_SHIM_EXPORTED void* valloc(std::size_t bytes) {
    return born(behind_valloc(bytes), bytes);
}

ALLOCSCOPE_SHIM_EXPORTED void* pvalloc(std::size_t bytes) {
    return born(behind_pvalloc(bytes), bytes);
}

#if !defined(ALLOCSCOPE_SHIM_PASSES_ON)

namespace {

// What operator new of libstdc++ asks malloc for.
std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
    const std::size_t some = bytes == 0 ? 1 : bytes;
    return (some + alignment - 1) & ~(alignment - 1);
}

void* born_by_operator(void* pointer, std::size_t bytes, std::size_t alignment) {
    counters* where = current();
    if (where != nullptr) add(&where->rounded, rounded_up(bytes, alignment) - bytes);
    return born(pointer, bytes);
}

}  // namespace

    // When there is no memory: what the C++ library does, which calls malloc once more in vain.
    #define ALLOCSCOPE_SHIM_OPERATOR_NEW(NAME, PARAMETERS, ARGUMENTS, ALIGNMENT, ATTEMPT)   \
        ALLOCSCOPE_SHIM_EXPORTED void* NAME PARAMETERS {                                    \
            if (void* found = ATTEMPT) return born_by_operator(found, bytes, ALIGNMENT);    \
            return reinterpret_cast<void*(*)PARAMETERS>(dlsym(RTLD_NEXT, #NAME)) ARGUMENTS; \
        }
    #define ALLOCSCOPE_SHIM_PLAIN_NEW(NAME, PARAMETERS, ARGUMENTS)   \
        ALLOCSCOPE_SHIM_OPERATOR_NEW(NAME, PARAMETERS, ARGUMENTS, 1, \
                                     behind_malloc(rounded_up(bytes, 1)))
    #define ALLOCSCOPE_SHIM_ALIGNED_NEW(NAME, PARAMETERS, ARGUMENTS)         \
        ALLOCSCOPE_SHIM_OPERATOR_NEW(NAME, PARAMETERS, ARGUMENTS, alignment, \
                                     behind_memalign(alignment, rounded_up(bytes, alignment)))

ALLOCSCOPE_SHIM_PLAIN_NEW(_Znwm, (std::size_t bytes), (bytes))
ALLOCSCOPE_SHIM_PLAIN_NEW(_Znam, (std::size_t bytes), (bytes))
ALLOCSCOPE_SHIM_PLAIN_NEW(_ZnwmRKSt9nothrow_t, (std::size_t bytes, void* nothrow), (bytes, nothrow))
ALLOCSCOPE_SHIM_PLAIN_NEW(_ZnamRKSt9nothrow_t, (std::size_t bytes, void* nothrow), (bytes, nothrow))
ALLOCSCOPE_SHIM_ALIGNED_NEW(_ZnwmSt11align_val_t, (std::size_t bytes, std::size_t alignment),
                            (bytes, alignment))
ALLOCSCOPE_SHIM_ALIGNED_NEW(_ZnamSt11align_val_t, (std::size_t bytes, std::size_t alignment),
                            (bytes, alignment))
ALLOCSCOPE_SHIM_ALIGNED_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t,
                            (std::size_t bytes, std::size_t alignment, void* nothrow),
                            (bytes, alignment, nothrow))
ALLOCSCOPE_SHIM_ALIGNED_NEW(_ZnamSt11align_val_tRKSt9nothrow_t,
                            (std::size_t bytes, std::size_t alignment, void* nothrow),
                            (bytes, alignment, nothrow))

#endif
