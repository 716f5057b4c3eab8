// attach_hooks.hpp - starts and stops recording the malloc calls of all modules.
//
// Room:     hooks (floor 6), malloc-safe, but not for use inside a hook: takes the loader's lock
// Called:   by the user, in the module that includes operator_new_delete.hpp
// Threads:  any, several at once; not in signal handlers
// Memory:   hooks/changed_slots.hpp, until detach_hooks()
//
//     #include <allocscope/hooks.hpp>
//
//     allocscope::attach_hooks();
//     allocscope::scope window{"with C libraries"};
//     ...
//     allocscope::detach_hooks();

#ifndef ALLOCSCOPE_HOOKS_ATTACH_HOOKS_HPP
#define ALLOCSCOPE_HOOKS_ATTACH_HOOKS_HPP

#include <allocscope/base/atomic.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/base/options.hpp>
#include <allocscope/hooks/attached_hooks.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/link/pause_recording.hpp>
#include <allocscope/state/process_state.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t

#include <dlfcn.h>  // dlsym
#include <link.h>   // dl_iterate_phdr

ALLOCSCOPE_HOT_BEGIN

// What attach_hooks() did. A word is memory through which a module calls one of the functions, or a
// variable whose initial value is the address of one.
struct attached_hooks {
    bool is_attached = false;
    const char* refusal = "";         // why hooks are not attached; "" when they are
    std::size_t words = 0;            // lead to allocscope now
    std::size_t words_of_others = 0;  // hold what the loader did not write; left alone
    std::size_t words_refused = 0;    // not made writable, or no memory to remember them
};

// From now on windows see the calls of malloc and its family that the program, its libraries and
// the C library make. An allocation by an operator stays one event, the operator's. This function
// is only for programs that include operator_new_delete.hpp. It has no effect, and `refusal` says
// why, where malloc is already replaced, in a plugin whose program has the operators, under a
// sanitizer, and where the operators are in a library that may be unloaded.
//
// Libraries that are loaded later are found at the next dlsym() or dlvsym() of any module, when a
// window opens, at stats(), and when attach_hooks() is called again. Calls that they make earlier
// are not seen, and neither are calls through addresses that a program copied before attaching.
//
// Throws nothing. Costs about a millisecond, or microseconds when no library was loaded or unloaded
// since the last call.
inline attached_hooks attach_hooks() noexcept;

// Restores the earlier value of each word that still leads to allocscope. Returns whether hooks
// were attached. Blocks that were allocated while hooks were attached may be freed afterwards, and
// the other way round. Other threads may be inside the hooks meanwhile.
inline bool detach_hooks() noexcept;

// definitions

namespace detail {

// Set before attach_hooks() chooses the underlying allocator.
ALLOCSCOPE_HIDDEN inline atomic<bool> is_chosen_for_attaching{false};

// Whether both addresses lie in one module.
inline bool are_in_one_module(const void* first, const void* second) noexcept {
    struct question {
        std::uintptr_t first, second;
        bool is_one;
    } asked{reinterpret_cast<std::uintptr_t>(first), reinterpret_cast<std::uintptr_t>(second),
            false};
    const walk_permit walk;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* given) noexcept {
            auto& question_of = *static_cast<question*>(given);
            const loaded_segments segments{*info};
            if (segments.holder_of(question_of.first, 1) == nullptr) return 0;
            question_of.is_one = segments.holder_of(question_of.second, 1) != nullptr;
            return 1;
        },
        &asked);
    return asked.is_one;
}

inline const char* malloc_refusal() noexcept {
    const bool is_chosen =
        function_in(underlying.malloc) != &first_malloc || process.tags.has_malloc_family();
    if (is_chosen && !is_chosen_for_attaching.load(detail::memory_order::acquire)) {
        return "malloc is replaced already: the program includes"
               " <allocscope/define_once/malloc_family.hpp>, which sees all calls";
    }
    if (ALLOCSCOPE_ON(MALLOC_OF_SANITIZER) ||
        past_the_table(&::dlsym)(RTLD_DEFAULT, "__sanitizer_get_heap_size") != nullptr) {
        return "malloc is a sanitizer's, which must not be replaced";
    }
    const module_of library{past_the_table(&::dlsym)(RTLD_DEFAULT, "malloc")};
    if (library.begin == nullptr) {
        return "malloc cannot be found: the program is linked with -static";
    }
    if (find_text(library.file, "/liballocscope_preload.so") != nullptr) {
        return "malloc is replaced already: the program was started by `allocscope run`";
    }
    return "";
}

inline const char* attaching_refusal(const engine* found) noexcept {
    if (engine_refusal(found)[0] != '\0') return engine_refusal(found);
    prepare_walks_for_forks();
    if (!walk_permit{}.is_granted()) {
        return "a lock of the loader belongs to a thread of the parent: this process was forked"
               " while that thread was in dlopen() or dlclose(), or, by other means than fork(),"
               " while it attached or detached hooks";
    }
    if (!are_in_one_module(found, &process)) {
        return "the operators are in another module: call attach_hooks() in the module that"
               " includes <allocscope/define_once/operator_new_delete.hpp>";
    }
    if (found->gate_to_keep() == nullptr) {
        return "the operators are in a library that may be unloaded: hooks have to stay";
    }
    return malloc_refusal();
}

}  // namespace detail

inline attached_hooks attach_hooks() noexcept {
    using purpose = detail::walk_request::purpose;
    attached_hooks result;
    const detail::engine* const found = detail::find_engine();
    // What the C library allocates meanwhile is charged to no window. If hooks are attached
    // already, they see it.
    const pause_recording quietly;
    result.refusal = detail::attaching_refusal(found);
    if (result.refusal[0] != '\0') return result;
    detail::is_chosen_for_attaching.store(true, detail::memory_order::release);
    detail::find_attached_functions();
    // Earlier views do not know that malloc is hooked: a boundary makes each thread refresh its
    // view.
    if (detail::process.entry.word() != 0) {
        options numbers;
        numbers.record = recording::counters;
        found->close_window(found->open_window("attach_hooks", numbers));
    }
    detail::walk_modules(purpose::attach);
    detail::process.look_for_modules.store(&detail::look_for_modules_now,
                                           detail::memory_order::release);
    // Repeated until the loader's lookups that were under way have written what they found.
    detail::walk_request last = detail::walk_modules(purpose::look);
    for (int rounds = 0; last.has_walked && rounds < 4; ++rounds) {
        last = detail::walk_modules(purpose::look);
    }
    result.is_attached = true;
    result.words = last.changed;
    result.words_of_others = last.of_others;
    result.words_refused = last.not_written;
    return result;
}

inline bool detach_hooks() noexcept {
    using purpose = detail::walk_request::purpose;
    detail::process.look_for_modules.store(nullptr, detail::memory_order::release);
    const bool was_attached = detail::walk_modules(purpose::detach).is_detached;
    detail::walk_modules(purpose::forget);
    return was_attached;
}

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_HOOKS_ATTACH_HOOKS_HPP
