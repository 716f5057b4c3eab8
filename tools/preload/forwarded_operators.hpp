// forwarded_operators.hpp - the operators that a program calls in place of those of its allocator.
//
// Called:   by every module, once led_operators.hpp has led its calls here
// Threads:  any, also in signal handlers, before main and after exit
// Memory:   the allocator's; for each recorded object, see tables/pool_object_map.hpp
//
// jemalloc, tcmalloc and mimalloc define operator new, and theirs takes memory from their heap
// without a call of malloc. Each operator here calls the allocator's with the program's arguments:
// a size that was raised would not fit the size that a delete of another module passes. So objects
// may lie 8 bytes apart, and their records are in the map of the pools, which goes by whole
// addresses. They are counted as the family `operator new`.
//
// Memory may change hands: a program may free() what operator new gave it, or delete what malloc
// did. Both work with these allocators, so each way back looks into the tables of both.
#ifndef ALLOCSCOPE_TOOLS_PRELOAD_FORWARDED_OPERATORS_HPP
#define ALLOCSCOPE_TOOLS_PRELOAD_FORWARDED_OPERATORS_HPP

#include <allocscope/hooks/intercepted_functions.hpp>
#include <allocscope/hooks/malloc_entry.hpp>
#include <allocscope/hooks/underlying_allocator.hpp>
#include <allocscope/record/enter_hook.hpp>
#include <allocscope/record/pool_recorder.hpp>
#include <allocscope/record/recorder.hpp>
#include <allocscope/state/process_state.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <malloc.h>

// ACTION(name, symbol, parameters, arguments)
#define ALLOCSCOPE_OPERATORS_NEW(ACTION)                                               \
    ACTION(new_object, "_Znwm", (std::size_t bytes), (bytes))                          \
    ACTION(new_array, "_Znam", (std::size_t bytes), (bytes))                           \
    ACTION(new_object_nothrow, "_ZnwmRKSt9nothrow_t",                                  \
           (std::size_t bytes, const std::nothrow_t& tag), (bytes, tag))               \
    ACTION(new_array_nothrow, "_ZnamRKSt9nothrow_t",                                   \
           (std::size_t bytes, const std::nothrow_t& tag), (bytes, tag))               \
    ACTION(new_object_aligned, "_ZnwmSt11align_val_t",                                 \
           (std::size_t bytes, std::align_val_t alignment), (bytes, alignment))        \
    ACTION(new_array_aligned, "_ZnamSt11align_val_t",                                  \
           (std::size_t bytes, std::align_val_t alignment), (bytes, alignment))        \
    ACTION(new_object_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t",           \
           (std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& tag), \
           (bytes, alignment, tag))                                                    \
    ACTION(new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t",            \
           (std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& tag), \
           (bytes, alignment, tag))

#define ALLOCSCOPE_OPERATORS_DELETE(ACTION)                                                        \
    ACTION(delete_object, "_ZdlPv", (void* block), (block))                                        \
    ACTION(delete_array, "_ZdaPv", (void* block), (block))                                         \
    ACTION(delete_object_sized, "_ZdlPvm", (void* block, std::size_t bytes), (block, bytes))       \
    ACTION(delete_array_sized, "_ZdaPvm", (void* block, std::size_t bytes), (block, bytes))        \
    ACTION(delete_object_nothrow, "_ZdlPvRKSt9nothrow_t",                                          \
           (void* block, const std::nothrow_t& tag), (block, tag))                                 \
    ACTION(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t", (void* block, const std::nothrow_t& tag), \
           (block, tag))                                                                           \
    ACTION(delete_object_aligned, "_ZdlPvSt11align_val_t",                                         \
           (void* block, std::align_val_t alignment), (block, alignment))                          \
    ACTION(delete_array_aligned, "_ZdaPvSt11align_val_t",                                          \
           (void* block, std::align_val_t alignment), (block, alignment))                          \
    ACTION(delete_object_sized_aligned, "_ZdlPvmSt11align_val_t",                                  \
           (void* block, std::size_t bytes, std::align_val_t alignment),                           \
           (block, bytes, alignment))                                                              \
    ACTION(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t",                                   \
           (void* block, std::size_t bytes, std::align_val_t alignment),                           \
           (block, bytes, alignment))                                                              \
    ACTION(delete_object_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t",                   \
           (void* block, std::align_val_t alignment, const std::nothrow_t& tag),                   \
           (block, alignment, tag))                                                                \
    ACTION(delete_array_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t",                    \
           (void* block, std::align_val_t alignment, const std::nothrow_t& tag),                   \
           (block, alignment, tag))

namespace allocscope {
namespace detail {

// In a followed child, a call of an operator may be the first event.
inline void begin_if_untouched() noexcept {
    void* volatile nothing = nullptr;  // the compiler would leave out a free of a constant
    if (process.entry.is_untouched()) std::free(nothing);
}

// --- the operator that runs ---

// The call of an operator new in which this thread is. If it was left by an exception or a jump,
// its frame is not there any more.
struct operator_call {
    std::uintptr_t frame;   // 0: in none
    std::uintptr_t caller;  // return address in the frame
};
inline thread_local operator_call own_call __attribute__((tls_model("initial-exec"))) = {0, 0};

// Returns the call around this one.
ALLOCSCOPE_FAST_PATH operator_call begin_call() noexcept {
    const operator_call outer = own_call;
    own_call = {hook_frame(), reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))};
    return outer;
}

// Whether a function with its frame at `frame` is part of the call. Only near frames are looked at:
// the call may have been left on another stack, which is not there any more.
inline bool is_under_way(const operator_call& call, std::uintptr_t frame) noexcept {
    constexpr std::uintptr_t most_stack = 16384;
    return call.frame > frame && call.frame - frame < most_stack &&
           read_stack_word(call.frame + sizeof(std::uintptr_t)) == call.caller;
}

// Where a module lies.
struct module_range {
    std::uintptr_t begin, end;
    bool has(const void* address) const noexcept {
        return reinterpret_cast<std::uintptr_t>(address) - begin < end - begin;
    }
};
inline module_range allocator_range = {0, 0};
inline module_range own_range = {0, 0};

// An operator new[] of the allocator may call operator new, or jump to it: then the caller is
// here. That is not another object. A new_handler, in another module, may allocate others.
inline bool is_part_of(const operator_call& outer, std::uintptr_t frame,
                       const void* caller) noexcept {
    return (allocator_range.has(caller) || own_range.has(caller)) && is_under_way(outer, frame);
}

// --- births ---

ALLOCSCOPE_NOINLINE void* record_operator_object(void* block, std::size_t bytes,
                                                 std::uintptr_t frame) noexcept {
    ALLOCSCOPE_KEEP_FRAME();
    begin_if_untouched();
    thread_state* const thread = enter(frame);
    if (thread == nullptr) return block;
    if (is_birth_recorded(*thread, bytes)) {
        put_pool_object(*thread, block, bytes, allocation_tags::operator_new, frame);
    }
    leave(*thread);
    return block;
}

ALLOCSCOPE_FAST_PATH void* born_by_operator(void* block, std::size_t bytes,
                                            const operator_call& outer) noexcept {
    own_call = outer;
    if (ALLOCSCOPE_UNLIKELY(outer.frame != 0) &&
        is_part_of(outer, hook_frame(), __builtin_return_address(0))) {
        return block;
    }
    if (block == nullptr || is_passing(process.entry.word(), bytes)) return block;
    return record_operator_object(block, bytes, hook_frame());
}

// --- deaths ---

// The caller has called enter(). Returns whether an operator new has made the object.
inline bool remove_operator_object(thread_state& thread, const void* block) noexcept {
    pool_cell* const dying = find_pool_object(thread, block, nullptr);
    if (dying != nullptr) remove_pool_object(thread, block, *dying);
    return dying != nullptr;
}

// The same for malloc. Its blocks begin at multiples of 16; operator new may have made others,
// before its calls led here.
inline void remove_malloc_object(thread_state& thread, const void* block) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    if (may_be_sample(block)) remove_sample(thread, block);
    if (address % 16 != 0 || !process.objects.is_ready()) return;
    live_object_map::slot* const slot = process.objects.existing_slot(address);
    if (slot != nullptr) remove_record(thread, slot);
}

ALLOCSCOPE_NOINLINE void record_delete(const void* block, std::uintptr_t frame) noexcept {
    begin_if_untouched();
    thread_state* const thread = enter(frame);
    if (thread == nullptr) return;
    if (!remove_operator_object(*thread, block)) remove_malloc_object(*thread, block);
    leave(*thread);
}

ALLOCSCOPE_FAST_PATH void dies_by_operator(const void* block) noexcept {
    if (block != nullptr && process.entry.word() != 0) record_delete(block, hook_frame());
}

// --- the operators ---

// `theirs` are the allocator's. Those that it does not define are never called.
#define ALLOCSCOPE_PRIVATE_NEW(name, symbol, parameters, arguments) \
    inline void*(*their_##name)parameters = nullptr;                \
    ALLOCSCOPE_NOINLINE void* our_##name parameters {               \
        const operator_call outer = begin_call();                   \
        void* const block = (*their_##name)arguments;               \
        return born_by_operator(block, bytes, outer);               \
    }
ALLOCSCOPE_OPERATORS_NEW(ALLOCSCOPE_PRIVATE_NEW)
#undef ALLOCSCOPE_PRIVATE_NEW

#define ALLOCSCOPE_PRIVATE_DELETE(name, symbol, parameters, arguments) \
    inline void(*their_##name) parameters = nullptr;                   \
    ALLOCSCOPE_NOINLINE void our_##name parameters {                   \
        dies_by_operator(block);                                       \
        (*their_##name) arguments;                                     \
    }
ALLOCSCOPE_OPERATORS_DELETE(ALLOCSCOPE_PRIVATE_DELETE)
#undef ALLOCSCOPE_PRIVATE_DELETE

// --- malloc and its family, called by the allocator itself ---

// jemalloc's operators for aligned objects call aligned_alloc. That is not another object, and the
// size must stay as it is. Other calls come to the hooks, as those of any module.
#define ALLOCSCOPE_PRIVATE_OWN(result, name, parameters, arguments) \
    ALLOCSCOPE_NOINLINE result own_##name parameters noexcept {     \
        if (is_under_way(own_call, hook_frame()))                   \
            return function_in(next_definitions.name) arguments;    \
        return ::name arguments;                                    \
    }
ALLOCSCOPE_UNDERLYING_FUNCTIONS(ALLOCSCOPE_PRIVATE_OWN)
#undef ALLOCSCOPE_PRIVATE_OWN

// --- free and realloc of what operator new has made ---

// What the hooks of malloc called before.
inline void (*free_behind_operators)(void*) noexcept = nullptr;
inline void* (*realloc_behind_operators)(void*, std::size_t) noexcept = nullptr;

ALLOCSCOPE_NOINLINE void free_beside_operators(void* block) noexcept {
    if (block != nullptr && process.entry.word() != 0) {
        if (thread_state* const thread = enter(hook_frame())) {
            remove_operator_object(*thread, block);
            leave(*thread);
        }
    }
    free_behind_operators(block);
}

// What the map of the pools had about an object.
struct taken_object {
    std::uint64_t bytes = 0;
    std::uint32_t cohort = no_cohort;  // no_cohort: nothing
    std::uint32_t session = 0;
    std::uint32_t tables = 0;
};

// Takes the record away without counting a death.
inline taken_object take_operator_object(const void* block, std::uintptr_t frame) noexcept {
    taken_object taken;
    if (block == nullptr || process.entry.word() == 0) return taken;
    thread_state* const thread = enter(frame);
    if (thread == nullptr) return taken;
    if (pool_cell* const found = find_pool_object(*thread, block, nullptr)) {
        const taken_object seen{found->bytes.load(memory_order::relaxed), found->cohort(),
                                thread->session, thread->tables};
        if (found->forget(reinterpret_cast<std::uintptr_t>(block), seen.session)) taken = seen;
    }
    leave(*thread);
    return taken;
}

// Counts the death, or puts the record back if the object is still there.
inline void settle_taken(const taken_object& taken, const void* block, bool is_alive,
                         std::uintptr_t frame) noexcept {
    thread_state* const thread = enter(frame);
    if (thread == nullptr) return;
    if (taken.session != thread->session || taken.tables != thread->tables) {
        leave(*thread);
        return;
    }
    cohort& born = *process.cohorts.by_id(taken.cohort);
    if (is_alive) {
        const auto address = reinterpret_cast<std::uintptr_t>(block);
        if (!process.pools.put(process.arena, address, taken.session, taken.cohort,
                               allocation_tags::operator_new, 0, taken.bytes)) {
            thread->lose(loss_reason::no_memory_for_record);
        }
    } else if (is_sampled(born)) {
        count_sample_death(*thread, taken.cohort, taken.bytes);
    } else {
        count_death(*thread, born, taken.cohort, taken.bytes, nullptr);
    }
    leave(*thread);
}

ALLOCSCOPE_NOINLINE void* realloc_beside_operators(void* old, std::size_t bytes) noexcept {
    const taken_object taken = take_operator_object(old, hook_frame());
    void* const block = realloc_behind_operators(old, bytes);
    if (taken.cohort != no_cohort) {
        settle_taken(taken, old, block == nullptr && bytes != 0, hook_frame());
    }
    return block;
}

// Called when the allocator behind our malloc is known, before the first operator is led here.
inline void look_for_operator_objects() noexcept {
    free_behind_operators = function_in(underlying.free);
    realloc_behind_operators = function_in(underlying.realloc);
    use(underlying.free, &free_beside_operators);
    use(underlying.realloc, &realloc_beside_operators);
}

}  // namespace detail
}  // namespace allocscope

#endif  // ALLOCSCOPE_TOOLS_PRELOAD_FORWARDED_OPERATORS_HPP
