// underlying_allocator.hpp - the allocator behind the hooks: glibc's, or another malloc.
//
// Room:     hooks (floor 6), malloc-safe
// Called:   by every hook, in place of the function that it replaces
// Threads:  any; the first caller looks for the functions, and so may several threads at once
// Memory:   none
//
// The underlying allocator is the one that the program would call without our symbols: the next
// definition in the loader's search order. If another malloc is linked or preloaded, it is that
// one. The lookups need no memory (hooks/early_blocks.hpp), because they ask only for names that
// every glibc has.
//
//     malloc() -> hooked_malloc -> underlying.malloc -> first_malloc      before the choice
//                                                    -> glibc's own       usually
//                                                    -> chained_malloc -> another one's
//
// glibc's blocks lie at least 32 bytes apart for every size, as the live object map requires. So
// nothing is added to a request, and malloc_usable_size() returns what it would return without us.

#ifndef ALLOCSCOPE_HOOKS_UNDERLYING_ALLOCATOR_HPP
#define ALLOCSCOPE_HOOKS_UNDERLYING_ALLOCATOR_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/hooks/chained_allocator.hpp>
#include <allocscope/hooks/early_blocks.hpp>
#include <allocscope/hooks/intercepted_functions.hpp>
#include <allocscope/hooks/unready_blocks.hpp>
#include <allocscope/state/process_state.hpp>

#include <cstddef>  // size_t
#include <cstring>  // memcpy

#include <dlfcn.h>  // dlsym, dlvsym, dladdr, dladdr1
#include <elf.h>    // Elf64_Sym, SHN_UNDEF

ALLOCSCOPE_HOT_BEGIN

namespace detail {

// Called by the first call of each function, and by every call while the choice is made.
#define ALLOCSCOPE_PRIVATE_FIRST(result, name, parameters, arguments) \
    result first_##name parameters noexcept;
ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_PRIVATE_FIRST)
#undef ALLOCSCOPE_PRIVATE_FIRST

// The functions that the hooks call.
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline allocator_functions underlying{
#define ALLOCSCOPE_PRIVATE_FIRST(result, name, parameters, arguments) {&first_##name},
    ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_PRIVATE_FIRST)
#undef ALLOCSCOPE_PRIVATE_FIRST
};

// Whether these are the functions of glibc's malloc itself.
ALLOCSCOPE_HIDDEN ALLOCSCOPE_CONSTANT_INITIALISED inline atomic<bool> is_glibc_underlying{false};

// True while this thread looks for the functions. What it allocates meanwhile is for the lookup.
ALLOCSCOPE_HIDDEN inline thread_local bool is_choosing
    __attribute__((__tls_model__("initial-exec"))) = false;

// --- the choice ---

// Makes the compiler call the loader's functions without the call table. The first allocation may
// come while that table is still being filled, from the resolver of an indirect function in a
// library.
template <class Function>
ALLOCSCOPE_FAST_PATH Function* past_the_table(Function* function) noexcept {
    __asm__("" : "+r"(function));
    return function;
}

// Like strstr, which is an indirect function and so may not be ready either.
inline const char* find_text(const char* text, const char* part) noexcept {
    for (; *text != '\0'; ++text) {
        std::size_t same = 0;
        while (part[same] != '\0' && text[same] == part[same]) ++same;
        if (part[same] == '\0') return text;
    }
    return nullptr;
}

struct module_of {
    template <class Function>
    explicit module_of(Function function) noexcept {
        const void* address = nullptr;
        std::memcpy(&address, &function, sizeof(address));
        Dl_info found = {};
        if (past_the_table(&::dladdr)(address, &found) == 0) return;
        begin = found.dli_fbase;
        file = found.dli_fname;
    }

    const void* begin = nullptr;
    const char* file = "";
};

// Whether no function is defined there. If a program that is linked to a fixed place takes the
// address of a function, it gets the address of a jump in the program itself.
inline bool is_only_a_jump(const void* address) noexcept {
    Dl_info found = {};
    void* entry = nullptr;
    if (past_the_table(&::dladdr1)(address, &found, &entry, RTLD_DL_SYMENT) == 0) return true;
    return entry == nullptr || static_cast<const Elf64_Sym*>(entry)->st_shndx == SHN_UNDEF;
}

// Whether the program finds our definition. Another library may come before ours.
inline bool is_ours(const char* name) noexcept {
    void* const first = past_the_table(&::dlsym)(RTLD_DEFAULT, name);
    return module_of{first}.begin == module_of{&is_ours}.begin || is_only_a_jump(first);
}

// True when another malloc comes before ours and calls it: a tool that counts, and passes calls on.
// A malloc with a heap of its own never does that.
ALLOCSCOPE_HIDDEN inline bool is_passed_on = false;

// True when another malloc comes before ours, and our first call was of a function that it lacks.
// It may be a tool that passes calls on: so it is never called from here.
ALLOCSCOPE_HIDDEN inline bool is_standing_in = false;

inline void look_who_calls(const void* caller) noexcept {
    void* const first = past_the_table(&::dlsym)(RTLD_DEFAULT, "malloc");
    is_passed_on = !is_ours("malloc") && module_of{caller}.begin == module_of{first}.begin;
}

// What the program would find without us, or what we have to call for a tool before us. A module
// before us that has the name, but no malloc, calls its function for itself alone. The functions of
// libc_malloc_debug.so are only for the program itself, which asks for a version; dlsym passes over
// them and finds those of libc.so.
template <class Function>
inline Function next_definition(const char* name) noexcept {
    const bool is_next = is_ours(name) || is_ours("malloc") || is_passed_on || is_standing_in;
    void* const scope = is_next ? RTLD_NEXT : RTLD_DEFAULT;
    const bool is_younger = find_text(name, "aligned_alloc") != nullptr;
    void* found = past_the_table(&::dlsym)(scope, name);
    void* const of_version =
        past_the_table(&::dlvsym)(scope, name, is_younger ? "GLIBC_2.16" : "GLIBC_2.2.5");
    if (find_text(module_of{of_version}.file, "/libc_malloc_debug.so") != nullptr &&
        find_text(module_of{found}.file, "/libc.so") != nullptr) {
        found = of_version;
    }
    Function function = nullptr;
    static_assert(sizeof(function) == sizeof(found), "POSIX says so");
    std::memcpy(&function, &found, sizeof(found));
    return function;
}

// glibc's malloc is in libc.so, or in its own library when GLIBC_TUNABLES asks for checks of
// malloc.
inline bool is_of_glibc(const module_of& module) noexcept {
    const module_of libc{next_definition<const char* (*)()>("gnu_get_libc_version")};
    return module.begin == libc.begin || find_text(module.file, "/libc_malloc_debug.so") != nullptr;
}

template <class Function>
inline void use(atomic<Function>& place, Function function) noexcept {
    // Release: a thread that calls the function finds next_definitions filled.
    place.store(function, memory_order::release);
}

// `other` is the module of the other malloc.
inline void chain_to(const module_of& other) noexcept {
    is_other_preparing.store(true, memory_order::relaxed);
    const auto is_theirs = [&other](auto& place) {
        return module_of{function_in(place)}.begin == other.begin;
    };
    const allocator_functions& next = next_definitions;
    use(underlying.aligned_alloc,
        is_theirs(next.aligned_alloc) ? &chained_aligned_alloc : &replaced_aligned_alloc);
    use(underlying.memalign, is_theirs(next.memalign) ? &chained_memalign : &replaced_memalign);
    use(underlying.valloc, is_theirs(next.valloc) ? &chained_valloc : &replaced_valloc);
    use(underlying.pvalloc, is_theirs(next.pvalloc) ? &chained_pvalloc : &replaced_pvalloc);
    use(underlying.malloc_usable_size, is_theirs(next.malloc_usable_size)
                                           ? &chained_malloc_usable_size
                                           : &replaced_malloc_usable_size);
    use(underlying.posix_memalign, &chained_posix_memalign);
    use(underlying.calloc, &chained_calloc);
    use(underlying.realloc, &chained_realloc);
    use(underlying.free, &chained_free);
    use(underlying.malloc, &chained_malloc);
}

// Blocks from before the library was ready stay where they are; no allocator handed them out.
inline void beside_unready_free(void* block) noexcept {
    if (!unready.contains(block)) chained_free(block);
}
inline void* beside_unready_realloc(void* block, std::size_t bytes) noexcept {
    if (!unready.contains(block)) return chained_realloc(block, bytes);
    if (bytes == 0) return nullptr;
    void* moved = chained_malloc(bytes);
    const std::size_t old = unready_blocks::bytes_of(block);
    if (moved != nullptr) std::memcpy(moved, block, old < bytes ? old : bytes);
    return moved;
}
inline std::size_t beside_unready_malloc_usable_size(void* block) noexcept {
    return unready.contains(block) ? unready_blocks::bytes_of(block)
                                   : chained_malloc_usable_size(block);
}

inline void call_beside_unready() noexcept {
    if (unready.count() == 0) return;
    use(underlying.realloc, &beside_unready_realloc);
    use(underlying.malloc_usable_size, &beside_unready_malloc_usable_size);
    use(underlying.free, &beside_unready_free);
}

inline void call_glibc() noexcept {
    is_glibc_underlying.store(true, memory_order::relaxed);
#define ALLOCSCOPE_PRIVATE_USE(result, name, parameters, arguments) \
    use(underlying.name, function_in(next_definitions.name));
    ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_PRIVATE_USE)
#undef ALLOCSCOPE_PRIVATE_USE
}

ALLOCSCOPE_SLOW_PATH void choose_underlying() noexcept {
    process.tags.note_malloc_family();
    is_choosing = true;
#define ALLOCSCOPE_PRIVATE_FIND(result, name, parameters, arguments) \
    use(next_definitions.name, next_definition<result(*) parameters noexcept>(#name));
    ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_PRIVATE_FIND)
#undef ALLOCSCOPE_PRIVATE_FIND
    const module_of next{function_in(next_definitions.malloc)};
    if (is_of_glibc(next)) {
        call_glibc();
    } else {
        chain_to(next);
    }
    call_beside_unready();
    is_choosing = false;
}

#define ALLOCSCOPE_PRIVATE_FIRST(result, name, parameters, arguments) \
    inline result first_##name parameters noexcept {                  \
        if (is_choosing) return early_##name arguments;               \
        choose_underlying();                                          \
        return function_in(underlying.name) arguments;                \
    }
ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_PRIVATE_FIRST)
#undef ALLOCSCOPE_PRIVATE_FIRST

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_UNDERLYING_ALLOCATOR_HPP
