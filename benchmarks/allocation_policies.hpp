// allocation_policies.hpp - the ways a benchmark loop can get its memory.
//
// All live in one program, so one run compares them on the same heap, the same libraries and the
// same addresses; the loops are templates over the policy and come out with the same shape.
//
//     hooked       call operator new  ->  what allocscope adds  ->  malloc
//     bare         call malloc
//     library_new  call the operator new of the standard library, which ours has replaced
//     glibc        call what malloc calls in a program whose malloc is ours

#ifndef ALLOCSCOPE_BENCHMARKS_ALLOCATION_POLICIES_HPP
#define ALLOCSCOPE_BENCHMARKS_ALLOCATION_POLICIES_HPP

#include <dlfcn.h>  // dlsym

#include <cstddef>  // size_t
#include <cstdlib>  // malloc, free, abort
#include <new>      // operator new, operator delete

// A function that stays one real frame: never inlined, cloned, or merged with an equal one.
#if defined(__clang__)
    #define ALLOCSCOPE_BENCHMARK_FRAME __attribute__((noinline))
#else
    #define ALLOCSCOPE_BENCHMARK_FRAME __attribute__((noipa))
#endif

namespace benchmarks {

struct bare {
    static void* allocate(std::size_t size) { return std::malloc(size); }
    static void release(void* block) { std::free(block); }
};

struct hooked {
    static void* allocate(std::size_t size) { return ::operator new(size); }
    static void release(void* block) { ::operator delete(block); }
};

// In a program that includes malloc_family.hpp, `bare` is hooked, and this is bare.
extern "C" void* __libc_malloc(std::size_t size) noexcept;
extern "C" void __libc_free(void* block) noexcept;
struct glibc {
    static void* allocate(std::size_t size) { return __libc_malloc(size); }
    static void release(void* block) { __libc_free(block); }
};

// Found by name behind our own operator. In a program without the hooks, `hooked` calls it, too.
struct library_new {
    static void* allocate(std::size_t size) { return operator_new(size); }
    static void release(void* block) { operator_delete(block); }

private:
    template <class Function>
    static Function find(const char* name) {
        void* found = dlsym(RTLD_NEXT, name);
        if (found == nullptr) std::abort();
        return reinterpret_cast<Function>(found);
    }
    static inline void* (*const operator_new)(std::size_t) = find<void* (*)(std::size_t)>("_Znwm");
    static inline void (*const operator_delete)(void*) = find<void (*)(void*)>("_ZdlPv");
};

// Distinct places that allocate. The empty statement after the call keeps it from being a jump,
// which would take this frame off the stack.
template <class Policy, int Place>
ALLOCSCOPE_BENCHMARK_FRAME void* allocate_here(std::size_t size) {
    void* block = Policy::allocate(size);
    __asm__ volatile("" : "+r"(block) : "i"(Place));
    return block;
}

// The same for containers: a standard allocator over a policy.
template <class T, class Policy>
struct policy_allocator {
    using value_type = T;
    template <class Other>
    struct rebind {
        using other = policy_allocator<Other, Policy>;
    };

    policy_allocator() = default;
    template <class Other>
    policy_allocator(const policy_allocator<Other, Policy>&) noexcept {}

    T* allocate(std::size_t count) { return static_cast<T*>(Policy::allocate(count * sizeof(T))); }
    void deallocate(T* block, std::size_t) noexcept { Policy::release(block); }

    friend bool operator==(const policy_allocator&, const policy_allocator&) { return true; }
    friend bool operator!=(const policy_allocator&, const policy_allocator&) { return false; }
};

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_ALLOCATION_POLICIES_HPP
