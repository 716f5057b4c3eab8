// compiler.hpp - what we ask of the compiler beyond the language.
//
// Room:     base (floor 0), malloc-safe
// Called:   by every room
// Threads:  any
// Memory:   none
//
// ALLOCSCOPE_FAST_PATH   always inlined: the few lines that every allocation runs through
// ALLOCSCOPE_INLINE      always inlined: a short function off that path, which compiles faster
//                        inside its callers than by itself (docs/decisions/0011)
// ALLOCSCOPE_SLOW_PATH   never inlined, placed away from the hot code, and compiled as RARE code
// ALLOCSCOPE_HIDDEN      not visible outside the module: state must not be shared by accident, and
//                        a unique symbol would keep a plugin from being unloaded
// ALLOCSCOPE_LIKELY      a branch hint; use it where a mispredicted layout was measured
//
// Seven grades of code replace ALLOCSCOPE_NAMESPACE_BEGIN and _END by a _BEGIN and _END of their
// own. The colder a grade, the less time its compilation takes (docs/decisions/0011). This holds
// only for our own code; templates of the standard library are compiled as everywhere else.
//
//     COLD   -O0; as COOL, see below      names, judges, reports
//     COOL   -Og; as COLD, clang++        the vocabulary, readers of files, the namer of stacks,
//                                         first uses of tables, their end, a fork
//     RARE   -Og; for size with clang++   windows and threads that begin and end, tables that grow
//     MILD   -Og; as RARE, clang++        loops over debug information and sources
//     WARM   -O1; as RARE, clang++        the inmost of these; sums of windows, details of events
//     HOT    -O as given, see below       what an allocation runs through
//     TIGHT  as HOT; -O1 at -O0, g++      the inmost of it: a step for each frame of a stack
//
// g++ does not track the variables of any of them for debuggers, which takes time and changes no
// code. In hot code it leaves out passes that take time and save next to no instruction.
//
// clang++ writes no debug information for any of them: a debugger shows the names of these
// functions, but not their lines. A function of a region is not declared outside it: clang++ 14
// crashes if it meets a call of the function before it learns that there is no debug information.
//
// With _FORTIFY_SOURCE (the default of some distributions) g++ compiles COLD as COOL: the C library
// then checks calls like open() in functions that compile only where constants are folded.
//
// ALLOCSCOPE_ON(X) tests a feature; a misspelt X does not compile.

#ifndef ALLOCSCOPE_BASE_COMPILER_HPP
#define ALLOCSCOPE_BASE_COMPILER_HPP

#include <allocscope/config.hpp>

#include <cstddef>  // __GLIBC__, as any standard header

#if !defined(__linux__) || !defined(__x86_64__)
    #error "allocscope runs on Linux x86_64 only"
#endif
#if !defined(__GLIBC__)
    #error "allocscope needs the GNU C library"
#endif
#if !defined(__GNUC__)
    #error "allocscope needs g++ or clang++"
#endif

#define ALLOCSCOPE_HIDDEN __attribute__((__visibility__("hidden")))
#define ALLOCSCOPE_FAST_PATH __attribute__((__always_inline__, __visibility__("hidden"))) inline
#if defined(__clang__)  // also optimises each such function by itself; for size takes less time
    #define ALLOCSCOPE_INLINE \
        __attribute__((__always_inline__, __minsize__, __visibility__("hidden"))) inline
#else
    #define ALLOCSCOPE_INLINE ALLOCSCOPE_FAST_PATH
#endif
#define ALLOCSCOPE_SLOW_PATH                                         \
    __attribute__((__noinline__, __cold__, __visibility__("hidden"), \
                   ALLOCSCOPE_PRIVATE_RARE)) inline
#define ALLOCSCOPE_NOINLINE __attribute__((__noinline__, __visibility__("hidden"))) inline
// Of a function that only reads. In `if (a && f())` g++ without optimisation writes the result of
// any other function into a variable first; there are hundreds of these in cold code.
#define ALLOCSCOPE_PURE __attribute__((__pure__))
#define ALLOCSCOPE_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define ALLOCSCOPE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// ALLOCSCOPE_CONSTANT_INITIALISED: an error if the variable would be initialised at run time.
#if defined(__clang__)
    #define ALLOCSCOPE_CONSTANT_INITIALISED __attribute__((__require_constant_initialization__))
#else
    #define ALLOCSCOPE_CONSTANT_INITIALISED __constinit
#endif

#if defined(__clang__)
    #define ALLOCSCOPE_PRIVATE_RARE minsize
    #define ALLOCSCOPE_HOT_BEGIN                                                                \
        _Pragma(                                                                                \
            "clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))") \
            ALLOCSCOPE_NAMESPACE_BEGIN
    #define ALLOCSCOPE_HOT_END ALLOCSCOPE_NAMESPACE_END _Pragma("clang attribute pop")
    #define ALLOCSCOPE_TIGHT_BEGIN ALLOCSCOPE_HOT_BEGIN
    #define ALLOCSCOPE_TIGHT_END ALLOCSCOPE_HOT_END
    #define ALLOCSCOPE_COLD_BEGIN _Pragma("clang optimize off") ALLOCSCOPE_HOT_BEGIN
    #define ALLOCSCOPE_COLD_END ALLOCSCOPE_HOT_END _Pragma("clang optimize on")
    #define ALLOCSCOPE_COOL_BEGIN ALLOCSCOPE_COLD_BEGIN
    #define ALLOCSCOPE_COOL_END ALLOCSCOPE_COLD_END
    #define ALLOCSCOPE_RARE_BEGIN                                                      \
        _Pragma("clang attribute push(__attribute__((minsize)), apply_to = function)") \
            ALLOCSCOPE_HOT_BEGIN
    #define ALLOCSCOPE_RARE_END ALLOCSCOPE_HOT_END _Pragma("clang attribute pop")
    #define ALLOCSCOPE_MILD_BEGIN ALLOCSCOPE_RARE_BEGIN
    #define ALLOCSCOPE_MILD_END ALLOCSCOPE_RARE_END
    #define ALLOCSCOPE_WARM_BEGIN ALLOCSCOPE_RARE_BEGIN
    #define ALLOCSCOPE_WARM_END ALLOCSCOPE_RARE_END
#else
    #define ALLOCSCOPE_PRIVATE_PRAGMA(...) _Pragma(#__VA_ARGS__)
    // The pragma comes last: g++ 16 forgets what follows it in the same macro.
    #define ALLOCSCOPE_PRIVATE_GRADE_BEGIN(...)                \
        ALLOCSCOPE_NAMESPACE_BEGIN _Pragma("GCC push_options") \
            ALLOCSCOPE_PRIVATE_PRAGMA(GCC optimize(__VA_ARGS__))
    #define ALLOCSCOPE_PRIVATE_GRADE_END ALLOCSCOPE_NAMESPACE_END _Pragma("GCC pop_options")
    #if defined(__OPTIMIZE__)
        #define ALLOCSCOPE_HOT_BEGIN                                                    \
            ALLOCSCOPE_PRIVATE_GRADE_BEGIN("no-var-tracking", "no-tree-vrp", "no-gcse", \
                                           "no-schedule-insns2", "no-tree-vectorize",   \
                                           "no-tree-slp-vectorize")
        #define ALLOCSCOPE_HOT_END ALLOCSCOPE_PRIVATE_GRADE_END
        #define ALLOCSCOPE_TIGHT_BEGIN ALLOCSCOPE_HOT_BEGIN
        #define ALLOCSCOPE_TIGHT_END ALLOCSCOPE_HOT_END
        #define ALLOCSCOPE_PRIVATE_MILD                                                  \
            "Og", "no-var-tracking", "no-guess-branch-probability", "no-reorder-blocks", \
                "no-compare-elim", "no-cprop-registers", "no-combine-stack-adjustments", \
                "no-forward-propagate", "no-tree-ccp", "no-tree-fre", "no-dce",          \
                "no-ipa-pure-const", "no-tree-dominator-opts"
        #define ALLOCSCOPE_PRIVATE_COOL ALLOCSCOPE_PRIVATE_MILD, "ira-algorithm=priority"
        #define ALLOCSCOPE_PRIVATE_RARE optimize(ALLOCSCOPE_PRIVATE_COOL)
        #define ALLOCSCOPE_COOL_BEGIN ALLOCSCOPE_PRIVATE_GRADE_BEGIN(ALLOCSCOPE_PRIVATE_COOL)
        #define ALLOCSCOPE_COOL_END ALLOCSCOPE_PRIVATE_GRADE_END
        #define ALLOCSCOPE_MILD_BEGIN ALLOCSCOPE_PRIVATE_GRADE_BEGIN(ALLOCSCOPE_PRIVATE_MILD)
        #define ALLOCSCOPE_MILD_END ALLOCSCOPE_PRIVATE_GRADE_END
        #if defined(_FORTIFY_SOURCE) && _FORTIFY_SOURCE > 0
            #define ALLOCSCOPE_COLD_BEGIN ALLOCSCOPE_COOL_BEGIN
        #else
            #define ALLOCSCOPE_COLD_BEGIN ALLOCSCOPE_PRIVATE_GRADE_BEGIN("O0", "omit-frame-pointer")
        #endif
        #define ALLOCSCOPE_COLD_END ALLOCSCOPE_PRIVATE_GRADE_END
        #define ALLOCSCOPE_WARM_BEGIN ALLOCSCOPE_PRIVATE_GRADE_BEGIN("O1", "no-var-tracking")
        #define ALLOCSCOPE_WARM_END ALLOCSCOPE_PRIVATE_GRADE_END
    #else
        #define ALLOCSCOPE_HOT_BEGIN ALLOCSCOPE_NAMESPACE_BEGIN
        #define ALLOCSCOPE_HOT_END ALLOCSCOPE_NAMESPACE_END
        #define ALLOCSCOPE_TIGHT_BEGIN ALLOCSCOPE_PRIVATE_GRADE_BEGIN("O1", "no-var-tracking")
        #define ALLOCSCOPE_TIGHT_END ALLOCSCOPE_PRIVATE_GRADE_END
        #define ALLOCSCOPE_PRIVATE_RARE
        #define ALLOCSCOPE_COLD_BEGIN ALLOCSCOPE_NAMESPACE_BEGIN
        #define ALLOCSCOPE_COLD_END ALLOCSCOPE_NAMESPACE_END
        #define ALLOCSCOPE_COOL_BEGIN ALLOCSCOPE_NAMESPACE_BEGIN
        #define ALLOCSCOPE_COOL_END ALLOCSCOPE_NAMESPACE_END
        #define ALLOCSCOPE_MILD_BEGIN ALLOCSCOPE_NAMESPACE_BEGIN
        #define ALLOCSCOPE_MILD_END ALLOCSCOPE_NAMESPACE_END
        #define ALLOCSCOPE_WARM_BEGIN ALLOCSCOPE_NAMESPACE_BEGIN
        #define ALLOCSCOPE_WARM_END ALLOCSCOPE_NAMESPACE_END
    #endif
    #define ALLOCSCOPE_RARE_BEGIN ALLOCSCOPE_COOL_BEGIN
    #define ALLOCSCOPE_RARE_END ALLOCSCOPE_COOL_END
#endif

#if defined(__SANITIZE_ADDRESS__)
    #define ALLOCSCOPE_PRIVATE_ADDRESS_SANITIZER() 1
#elif defined(__has_feature)
    #if __has_feature(address_sanitizer)
        #define ALLOCSCOPE_PRIVATE_ADDRESS_SANITIZER() 1
    #endif
#endif
#if defined(__SANITIZE_THREAD__)
    #define ALLOCSCOPE_PRIVATE_THREAD_SANITIZER() 1
#elif defined(__has_feature)
    #if __has_feature(thread_sanitizer)
        #define ALLOCSCOPE_PRIVATE_THREAD_SANITIZER() 1
    #endif
#endif
#ifndef ALLOCSCOPE_PRIVATE_THREAD_SANITIZER
    #define ALLOCSCOPE_PRIVATE_THREAD_SANITIZER() 0
#endif
#ifndef ALLOCSCOPE_PRIVATE_ADDRESS_SANITIZER
    #define ALLOCSCOPE_PRIVATE_ADDRESS_SANITIZER() 0
#endif
// The sanitizers that bring a malloc of their own.
#if ALLOCSCOPE_PRIVATE_ADDRESS_SANITIZER() || ALLOCSCOPE_PRIVATE_THREAD_SANITIZER() || \
    defined(__SANITIZE_HWADDRESS__)
    #define ALLOCSCOPE_PRIVATE_MALLOC_OF_SANITIZER() 1
#elif defined(__has_feature)
    #if __has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)
        #define ALLOCSCOPE_PRIVATE_MALLOC_OF_SANITIZER() 1
    #endif
#endif
#ifndef ALLOCSCOPE_PRIVATE_MALLOC_OF_SANITIZER
    #define ALLOCSCOPE_PRIVATE_MALLOC_OF_SANITIZER() 0
#endif
#define ALLOCSCOPE_ON(feature) ALLOCSCOPE_PRIVATE_##feature()

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// Keeps the compiler from moving memory accesses over this line. The processor may still move them.
// So it is for what this thread's own signal handlers see, and for this thread's side of
// membarrier(2).
ALLOCSCOPE_FAST_PATH void compiler_barrier() noexcept {
    __asm__ volatile("" : : : "memory");
}

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_BASE_COMPILER_HPP
