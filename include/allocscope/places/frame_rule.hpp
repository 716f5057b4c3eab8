// frame_rule.hpp - distinguishes the user's frames from the library's, for the line of a row.
//
// Room:     places (floor 9), not malloc-safe
// Called:   by naming/ and verdict/, for each stack they name; add() by the user's library_frames()
// Threads:  any number of readers beside any number of callers of add()
// Memory:   16 KiB inside the object: it never allocates, so one may be a constant-initialised
//           global
//
// A row belongs to the innermost frame that is not library code. Only the function's own qualified
// name decides whose code it is, never its return type, template arguments or parameters: a user's
// `f<std::vector<int>>` is the user's, and `std::sort<..., user::less>` is not. If the library
// calls a lambda or functor of the user, that has its own frame and is the user's.
//
//     rule.add("mylib::");                        // a namespace or class
//     rule.add("xml*");                           // every function whose name starts with xml
//     rule.add("/usr/include/mylib/");            // files below a folder
//     rule.add("!third_party/mine/");             // but these are the user's
//     user_frame(scratch, frames, rule);          // index of the frame, frames.size() if none

#ifndef ALLOCSCOPE_PLACES_FRAME_RULE_HPP
#define ALLOCSCOPE_PLACES_FRAME_RULE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/open_mutex.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t
#include <cstring>  // memcpy

#include <pthread.h>  // pthread_mutex_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// True for functions that no row should name: those of the C++ runtime and the allocating functions
// of the C library, which stand between the user's code and the allocation.
inline bool is_runtime_function(text name) noexcept {
    if (name.starts_with("operator ")) {
        name.remove_prefix(9);
        return name.starts_with("new") || name.starts_with("delete");
    }
    constexpr text starts =
        "__cxa_ __gxx_ _Unwind_ _dl_ __libc_ __GI_ _IO_ __gthread_ __interceptor_";
    constexpr text names =
        "malloc calloc realloc reallocarray free cfree memalign aligned_alloc valloc pvalloc "
        "strdup strndup __strdup __strndup wcsdup posix_memalign __libcpp_operator_new";
    return is_listed(name, names) || !listed_start(name, starts).empty();
}

// Functions that C programs put around malloc, mostly to end the program if it fails. They have
// the same names in many programs. A row should name their caller.
inline bool is_allocation_wrapper(const text& name) noexcept {
    constexpr text names =
        "xmalloc xcalloc xrealloc xzalloc xstrdup xstrndup xmemdup xmemdup0 xnmalloc xnrealloc "
        "xcharalloc ximalloc xicalloc xizalloc xirealloc xinmalloc ximemdup ximemdup0 x2malloc "
        "x2realloc x2nrealloc xpalloc xmallocarray xreallocarray xasprintf xvasprintf xpstrdup "
        "ireallocarray icalloc "
        "safe_malloc safe_calloc safe_realloc emalloc ecalloc erealloc estrdup "
        "g_malloc g_malloc0 g_malloc_n g_malloc0_n g_realloc g_realloc_n g_try_malloc "
        "g_try_malloc0 g_try_malloc_n g_try_malloc0_n g_try_realloc g_try_realloc_n "
        "g_slice_alloc g_slice_alloc0 g_slice_copy g_strdup g_strndup g_memdup g_memdup2 "
        "CRYPTO_malloc CRYPTO_zalloc CRYPTO_realloc CRYPTO_strdup CRYPTO_strndup CRYPTO_memdup "
        "sqlite3MemMalloc sqlite3MemRealloc sqlite3Malloc sqlite3Realloc sqlite3_malloc "
        "sqlite3_malloc64 sqlite3_realloc sqlite3_realloc64 sqlite3DbMallocRaw "
        "sqlite3DbMallocRawNN sqlite3DbMallocZero sqlite3DbStrDup "
        "PyMem_Malloc PyMem_Calloc PyMem_Realloc PyMem_RawMalloc PyMem_RawCalloc "
        "PyMem_RawRealloc PyObject_Malloc PyObject_Calloc PyObject_Realloc _PyMem_RawStrdup "
        "Perl_safesysmalloc Perl_safesyscalloc Perl_safesysrealloc Perl_savepv Perl_savepvn "
        "ruby_xmalloc ruby_xmalloc2 ruby_xcalloc ruby_xrealloc ruby_xrealloc2 "
        "av_malloc av_mallocz av_calloc av_realloc xmlMalloc apr_palloc "
        "gmalloc gcalloc grealloc agalloc lt__malloc lt__zalloc lt__realloc lt__strdup "
        "png_malloc png_malloc_base png_malloc_warn png_calloc fz_malloc fz_calloc fz_realloc "
        "fz_strdup AcquireMagickMemory AcquireQuantumMemory AcquireAlignedMemory "
        "AcquireCriticalMemory PL_malloc PL_malloc_atomic PL_realloc bfd_malloc bfd_zmalloc "
        "bfd_realloc uv__malloc uv__calloc uv__realloc uv__strdup R_chk_calloc R_chk_realloc "
        "Tcl_Alloc TclpAlloc TclpRealloc zmalloc zcalloc zrealloc zstrdup zmalloc_usable "
        "zcalloc_usable zrealloc_usable ztrymalloc_usable ztrycalloc_usable ztryrealloc_usable "
        "my_malloc ngx_alloc ngx_calloc objc_malloc objc_calloc objc_realloc caml_stat_alloc "
        "caml_stat_alloc_noexc caml_stat_resize caml_stat_strdup _PyObject_Malloc "
        "debug_xalloc debug_xcalloc debug_xrealloc pa_xmalloc pa_xmalloc0 pa_xrealloc pa_xstrdup "
        "lsx_realloc xmlStrdup xmlStrndup ruby_strdup dbus_malloc dbus_malloc0 dbus_realloc "
        "_dbus_strdup lt__memdup e_malloc zalloc zshcalloc ztrdup "
        "monoeg_malloc monoeg_malloc0 monoeg_realloc monoeg_g_calloc monoeg_g_memdup "
        "monoeg_try_malloc monoeg_try_realloc erts_sys_alloc erts_sys_realloc "
        "erts_sys_aligned_alloc successful_malloc caml_stat_alloc_aligned_noexc "
        "caml_stat_calloc_noexc caml_stat_resize_noexc caml_stat_strdup_noexc caml_alloc_for_heap "
        "stgMallocBytes stgReallocBytes stgCallocBytes libc_malloc SysStorage_ALLOCATE "
        "Storage_ALLOCATE SLmalloc SLcalloc SLrealloc MikMod_malloc MikMod_calloc MikMod_realloc "
        "MikMod_strdup av_strdup av_strndup av_memdup av_malloc_array av_realloc_array "
        "aom_malloc aom_memalign aom_calloc vpx_malloc vpx_memalign vpx_calloc SDL_malloc "
        "SDL_calloc SDL_realloc SDL_strdup CPLMalloc CPLCalloc CPLRealloc CPLStrdup VSIMalloc "
        "VSICalloc VSIRealloc VSIMallocVerbose VSIMalloc2Verbose _TIFFmalloc _TIFFcalloc "
        "_TIFFrealloc PR_Malloc PR_Calloc PR_Realloc gcry_malloc gcry_xmalloc jv_mem_alloc "
        "jv_mem_calloc jv_mem_realloc XtMalloc XtCalloc XtRealloc safe_zalloc mcxAlloc mcxRealloc "
        "mcxNAlloc mcxNRealloc ajMemCalloc ajMemCalloc0 ajMemCallocZero ajMemResize "
        "ajMemResizeZero gmt_memory_func coq_stat_alloc sq_vm_malloc sq_vm_realloc stredup "
        "VSICallocVerbose VSIReallocVerbose VSIStrdup CRYPTO_clear_realloc BlastMemDup "
        "ber_memalloc_x ber_memcalloc_x ber_memrealloc_x ber_strdup_x ck_malloc ck_calloc "
        "ck_realloc_u32 pari_malloc pari_calloc pari_realloc pari_strdup rmalloc rcalloc rrealloc "
        "rstrdup rstrndup safe_strdup sqlite3MallocZero sqlite3DbStrNDup xmlCharStrdup "
        "usal_smalloc scm_malloc scm_calloc scm_realloc scm_strdup ngx_memalign my_strdup "
        "my_strndup prvTidytmbstrdup prvTidytmbstrndup Jim_Alloc Jim_StrDup Jim_StrDupLen "
        "greedy_realloc";
    return is_listed(name, names);
}

// Whether a function without a file belongs to the C and C++ implementation, because its global
// name is reserved or known. A function of the user, or an inlined member, may be called `clone`.
// The functions in which compilers initialise a user's global variables are the user's. So is a
// linker name that is too long to demangle, unless it begins with a namespace of the library.
inline bool is_reserved_function(const text& name) noexcept {
    constexpr text names =
        "_start _init _fini start_thread clone clone3 dl_main call_init exit "
        "execute_native_thread_routine";
    if (is_listed(name, names)) return true;
    if (name.size() < 2 || name[0] != '_') return false;
    if (name[1] == 'Z') {
        constexpr text starts = "_ZSt _ZNSt _ZNKSt _ZNSa _ZNSs _ZN9__gnu_cxx _ZNK9__gnu_cxx";
        return !listed_start(name, starts).empty();
    }
    if (!listed_start(name, "_GLOBAL__ __cxx_global_ __static_init").empty()) return false;
    return name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z');
}

inline bool is_library_namespace(const text& name) noexcept {
    return is_listed(name,
                     "std __gnu_cxx __cxxabiv1 allocscope __gnu_debug __gnu_parallel __pstl "
                     "__gnu_internal __sanitizer");
}

class frame_rule {
public:
    constexpr frame_rule() noexcept = default;
    frame_rule(const frame_rule&) = delete;
    frame_rule& operator=(const frame_rule&) = delete;

    // Declares more library code. Returns "", or why the pattern was refused. A pattern that
    //   contains '/'     means files: from the root if it begins with '/', otherwise that part of
    //                    any path
    //   ends with '*'    means all functions whose qualified names start with the rest
    //   begins with '!'  makes what follows the user's, whatever other patterns say
    // Any other pattern is a namespace, class or function, with or without "::" at its end. Adding
    // the same pattern again changes nothing.
    const char* add(const char* pattern) noexcept {
        if (pattern == nullptr) return "the pattern is a null pointer";
        const text added{pattern};
        const text named = added.substr(added.starts_with("!") ? 1 : 0);
        if (named.empty()) return "the pattern is empty: it would fit every frame";
        const text bare = named.substr(named.starts_with("::") ? 2 : 0);
        if (bare.empty() || is_listed(bare, "* / ::")) {
            return "the pattern fits every frame: name a namespace or a folder";
        }
        if (has_star_inside(bare)) {
            return "a '*' is only allowed at the end of a function's name; "
                   "write a folder as \"parts/\"";
        }
        if (added.size() >= pattern_size) {
            return "the pattern is over 255 characters";
        }
        pthread_mutex_lock(&adding_);
        const bool has_room = add_once(added);
        pthread_mutex_unlock(&adding_);
        return has_room ? "" : "there are 64 patterns already";
    }

    // Changes whenever a pattern is added, because that may change earlier decisions.
    std::size_t version() const noexcept { return __atomic_load_n(&count_, __ATOMIC_ACQUIRE); }

    // True if no row should be named after this frame. That includes a frame about which nothing
    // is known.
    bool is_library(arena& scratch, const code_frame& frame) const {
        if (frame.function.empty() && frame.file.empty()) return true;
        if (version() == 0 && is_standard_header(frame.file)) return true;
        const borrowed_memory meanwhile{scratch};
        const function_name name = parse_function_name(scratch, frame.function);
        const text plain = plain_name(scratch, name);
        if (is_added(plain, frame.file, true)) return false;
        if (is_standard_header(frame.file) || is_added(plain, frame.file, false)) return true;
        if (!name.is_known()) return false;
        if (is_runtime_function(plain) || is_allocation_wrapper(plain)) return true;
        if (name.components.size() > 1) return is_library_namespace(name.components[0].name);
        return frame.file.empty() && is_reserved_function(plain);
    }

    // Whether a pattern says that the frame is the user's.
    bool is_declared_own(arena& scratch, const code_frame& frame) const {
        if (version() == 0) return false;
        const borrowed_memory meanwhile{scratch};
        const function_name name = parse_function_name(scratch, frame.function);
        return is_added(plain_name(scratch, name), frame.file, true);
    }

private:
    // Returns false if there is no room for another pattern.
    bool add_once(const text& added) noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            if (added == patterns_[i]) return true;
        }
        if (count_ == max_patterns) return false;
        std::memcpy(patterns_[count_], added.data(), added.size());  // the rest is zero
        // Pairs with the acquire in version(): a thread that sees the count also sees the text.
        __atomic_store_n(&count_, count_ + 1, __ATOMIC_RELEASE);
        return true;
    }

    bool is_added(const text& plain, const text& file, bool as_own) const noexcept {
        const std::size_t count = version();
        for (std::size_t i = 0; i < count; ++i) {
            text pattern{patterns_[i]};
            if (pattern.starts_with("!") != as_own) continue;
            if (as_own) pattern.remove_prefix(1);
            const bool fits =
                pattern.contains("/") ? fits_file(pattern, file) : fits_name(pattern, plain);
            if (fits) return true;
        }
        return false;
    }

    // Whether there is a '*' that neither ends a function's name nor is an operator's: it would be
    // part of the name, and the pattern would fit nothing.
    static bool has_star_inside(text pattern) noexcept {
        const std::size_t star = pattern.find('*');
        if (star == no_position) return false;
        if (star == 0 || pattern.contains("/")) return true;
        return star + 1 != pattern.size() && !pattern.substr(0, star).ends_with("operator");
    }

    static bool fits_file(text pattern, const text& file) noexcept {
        while (pattern.size() > 1 && pattern.back() == '/') pattern.remove_suffix(1);
        const bool from_root = pattern.front() == '/';
        for (std::size_t at = file.find(pattern); at != no_position;
             at = file.find(pattern, at + 1)) {
            const std::size_t behind = at + pattern.size();
            const bool ends = behind == file.size() || file[behind] == '/';
            const bool begins = at == 0 || (!from_root && file[at - 1] == '/');
            if (begins && ends) return true;
            if (from_root) return false;
        }
        return false;
    }

    static bool fits_name(text pattern, const text& plain) noexcept {
        if (pattern.starts_with("::")) pattern.remove_prefix(2);
        if (pattern.back() == '*') {
            pattern.remove_suffix(1);
            return plain.starts_with(pattern);
        }
        if (pattern.ends_with("::")) pattern.remove_suffix(2);
        if (pattern.empty() || !plain.starts_with(pattern)) return false;
        return plain.size() == pattern.size() || plain.substr(pattern.size()).starts_with("::");
    }

    static constexpr std::size_t max_patterns = 64;
    static constexpr std::size_t pattern_size = 256;

    pthread_mutex_t adding_ = detail::open_mutex;
    std::size_t count_ = 0;  // others read it while add() runs
    char patterns_[max_patterns][pattern_size] = {};
};

// Index of the frame that gives a stack its file and line: the innermost frame that is the user's.
// If there is none: the innermost one with file and line, or else the innermost one with a name, or
// else frames.size(). `frames` are the logical frames of the whole stack, innermost first.
inline std::size_t user_frame(arena& scratch, const list<code_frame>& frames,
                              const frame_rule& rule) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!rule.is_library(scratch, frames[i])) return i;
    }
    std::size_t named = frames.size();
    for (std::size_t i = frames.size(); i > 0; --i) {
        if (!frames[i - 1].function.empty()) named = i - 1;
    }
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const code_frame& frame = frames[i];
        if (!frame.file.empty() && frame.line > 0) return i;
    }
    return named;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_PLACES_FRAME_RULE_HPP
