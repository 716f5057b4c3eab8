// pool_reports.hpp - your own pools report what they hand out and get back.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by the user's pools, in any module of the process
// Threads:  any, also in signal handlers; an object may be reported as freed by another thread
// Memory:   none here
//
//     void* pool::allocate(std::size_t bytes) {
//         void* block = carve(bytes);
//         allocscope::report_allocation(block, bytes, "pool");     // after it is there
//         return block;
//     }
//     void pool::free(void* block) {
//         allocscope::report_free(block, "pool");                  // before it is given out again
//         ...
//     }
//
// While no window is open, a report is two loads and two tests: about a nanosecond. It takes about
// 20 ns in a process without the hooks, and where the hooks are in a library that may be unloaded.

#ifndef ALLOCSCOPE_MEASURE_POOL_REPORTS_HPP
#define ALLOCSCOPE_MEASURE_POOL_REPORTS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/link/engine.hpp>
#include <allocscope/link/pool_words.hpp>

#include <atomic>   // atomic
#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

// Reports that an object of a pool was born. `pool` names its family in the head of a report; its
// first 63 characters count. Objects of several pools may have the same address, for example a
// chunk and the first object in it. No effect for a null pointer.
inline void report_allocation(const void* pointer, std::size_t bytes, const char* pool) noexcept;

// Does the same, and rows show T. If T is what a container of the standard library wraps around an
// element, they show the element.
template <class T>
inline void report_allocation(const void* pointer, std::size_t bytes, const char* pool) noexcept;

// Reports that the object died. Without a pool name, this is the newest object that begins there:
// if one object contains the other, the inner one. No effect for an object that was not recorded.
inline void report_free(const void* pointer) noexcept;
inline void report_free(const void* pointer, const char* pool) noexcept;

// Reports that the object has another size now. This counts as a death and a birth at the same
// address. An object that has moved must be reported as freed and allocated instead. Without a pool
// name, an object that was born before the windows becomes one of "other pools".
inline void report_resize(const void* pointer, std::size_t bytes) noexcept;
inline void report_resize(const void* pointer, std::size_t bytes, const char* pool) noexcept;

// Why reports of this module are never recorded, whatever windows are open; "" if windows record
// them.
inline const char* reports_refusal() noexcept;

// definitions

namespace detail {

// The engine's word and the engine, once they are found. Each module has its own.
ALLOCSCOPE_HIDDEN inline std::atomic<const std::uint64_t*> known_gate{nullptr};
ALLOCSCOPE_HIDDEN inline std::atomic<const engine*> known_engine{nullptr};
ALLOCSCOPE_HIDDEN inline std::atomic<std::uint64_t> asked_at{0};

// False: no window is open.
ALLOCSCOPE_FAST_PATH bool is_report_wanted() noexcept {
    const std::uint64_t* const gate = known_gate.load(std::memory_order_relaxed);
    return gate == nullptr || __atomic_load_n(gate, __ATOMIC_RELAXED) != 0;
}

// Returns null when there is no engine that this module can use. If operator new is not ours,
// asking costs a block, so a module that got no answer asks again only after about a tenth of a
// second.
ALLOCSCOPE_SLOW_PATH const engine* engine_of_pools() noexcept {
    const engine* found = known_engine.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    constexpr std::uint64_t patience_cycles = std::uint64_t{1} << 28U;
    const std::uint64_t asked = asked_at.load(std::memory_order_relaxed);
    const std::uint64_t now = __builtin_ia32_rdtsc();
    if (asked != 0 && now - asked < patience_cycles) return nullptr;
    found = find_engine();
    if (engine_refusal(found)[0] != '\0') {
        asked_at.store(now, std::memory_order_relaxed);
        return nullptr;
    }
    if (const std::uint64_t* gate = found->gate_to_keep()) {
        known_engine.store(found, std::memory_order_release);
        known_gate.store(gate, std::memory_order_release);
    }
    return found;
}

// Keeps the call before it from being a tail call, which would take its function off the stack.
ALLOCSCOPE_FAST_PATH void stay_on_stack() noexcept {
    __asm__ volatile("");
}

// The compiler's name for a type, without a zero byte at its end.
struct spelled_type {
    const char* text;
    std::size_t length;
};

template <class T>
constexpr spelled_type spell_type() noexcept {
    const char* const whole = __PRETTY_FUNCTION__;  // "... spell_type() [with T = int]"
    std::size_t begin = 0;
    while (whole[begin] != '[' || (whole[begin + 1] != 'w' && whole[begin + 1] != 'T')) ++begin;
    while (whole[begin] != '=') ++begin;
    begin += 2;
    std::size_t end = begin;
    while (whole[end] != '\0') ++end;
    return {whole + begin, end - 1 - begin};
}

ALLOCSCOPE_FAST_PATH void report_birth(const void* pointer, std::size_t bytes,
                                       const pool_words& words) noexcept {
    if (ALLOCSCOPE_LIKELY(!is_report_wanted())) return;
    if (const engine* to = engine_of_pools()) to->report_birth(pointer, bytes, words);
    stay_on_stack();
}

ALLOCSCOPE_FAST_PATH void report_death(const void* pointer, const char* pool) noexcept {
    if (ALLOCSCOPE_LIKELY(!is_report_wanted())) return;
    if (const engine* to = engine_of_pools()) to->report_death(pointer, pool);
}

ALLOCSCOPE_FAST_PATH void report_new_size(const void* pointer, std::size_t bytes,
                                          const char* pool) noexcept {
    if (ALLOCSCOPE_LIKELY(!is_report_wanted())) return;
    if (const engine* to = engine_of_pools()) to->report_resize(pointer, bytes, {pool, "", 0});
    stay_on_stack();
}

}  // namespace detail

// Always inlined, so that a stack begins with the caller, however few frames are kept.

ALLOCSCOPE_FAST_PATH void report_allocation(const void* pointer, std::size_t bytes,
                                            const char* pool) noexcept {
    detail::report_birth(pointer, bytes, {pool, "", 0});
}

template <class T>
ALLOCSCOPE_FAST_PATH void report_allocation(const void* pointer, std::size_t bytes,
                                            const char* pool) noexcept {
    constexpr detail::spelled_type type = detail::spell_type<T>();
    detail::report_birth(pointer, bytes, {pool, type.text, type.length});
}

inline void report_free(const void* pointer) noexcept {
    detail::report_death(pointer, nullptr);
}
inline void report_free(const void* pointer, const char* pool) noexcept {
    detail::report_death(pointer, pool);
}

ALLOCSCOPE_FAST_PATH void report_resize(const void* pointer, std::size_t bytes) noexcept {
    detail::report_new_size(pointer, bytes, nullptr);
}
ALLOCSCOPE_FAST_PATH void report_resize(const void* pointer, std::size_t bytes,
                                        const char* pool) noexcept {
    detail::report_new_size(pointer, bytes, pool);
}

inline const char* reports_refusal() noexcept {
    return detail::engine_refusal(detail::find_engine());
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_POOL_REPORTS_HPP
