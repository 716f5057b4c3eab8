// atomic.hpp - a variable that threads share, without a header of the standard library.
//
// Room:     base (floor 0), malloc-safe
// Called:   wherever threads share a word
// Threads:  any
// Memory:   that of the value
//
// It does what std::atomic does, with the same names and meanings, for types of 1, 2, 4 or 8 bytes.
// Each call is one builtin of the compiler. In std::atomic a call is three functions and two
// checks, which an unoptimised program has at each of some 900 places. Compiling them took a tenth
// of the time of the once-per-program header (docs/decisions/0011).

#ifndef ALLOCSCOPE_BASE_ATOMIC_HPP
#define ALLOCSCOPE_BASE_ATOMIC_HPP

#include <allocscope/base/compiler.hpp>

ALLOCSCOPE_HOT_BEGIN

namespace detail {

enum class memory_order : int {
    relaxed = __ATOMIC_RELAXED,
    acquire = __ATOMIC_ACQUIRE,
    release = __ATOMIC_RELEASE,
    acq_rel = __ATOMIC_ACQ_REL,
    seq_cst = __ATOMIC_SEQ_CST
};

// Whether the builtins take the value itself. They take enumerations and doubles by address.
template <class T>
inline constexpr bool is_number_or_pointer = !__is_enum(T);
template <>
inline constexpr bool is_number_or_pointer<double> = false;

template <class T>
class atomic {
public:
    atomic() noexcept = default;  // as std::atomic in C++17: the value is not defined
    ALLOCSCOPE_FAST_PATH constexpr atomic(T value) noexcept : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    ALLOCSCOPE_FAST_PATH T load(memory_order order = memory_order::seq_cst) const noexcept {
        if constexpr (is_number_or_pointer<T>) {
            return __atomic_load_n(&value_, static_cast<int>(order));
        } else {
            T value;
            __atomic_load(&value_, &value, static_cast<int>(order));
            return value;
        }
    }
    ALLOCSCOPE_FAST_PATH operator T() const noexcept { return load(); }

    ALLOCSCOPE_FAST_PATH void store(T value, memory_order order = memory_order::seq_cst) noexcept {
        if constexpr (is_number_or_pointer<T>) {
            __atomic_store_n(&value_, value, static_cast<int>(order));
        } else {
            __atomic_store(&value_, &value, static_cast<int>(order));
        }
    }

    ALLOCSCOPE_FAST_PATH T operator=(T value) noexcept {
        store(value);
        return value;
    }

    ALLOCSCOPE_FAST_PATH T exchange(T value, memory_order order = memory_order::seq_cst) noexcept {
        return __atomic_exchange_n(&value_, value, static_cast<int>(order));
    }

    // x86_64 has one instruction for both forms.
    ALLOCSCOPE_FAST_PATH bool compare_exchange_strong(
        T& expected, T wanted, memory_order order = memory_order::seq_cst) noexcept {
        return __atomic_compare_exchange(&value_, &expected, &wanted, false,
                                         static_cast<int>(order), order_of_failure(order));
    }
    ALLOCSCOPE_FAST_PATH bool compare_exchange_weak(
        T& expected, T wanted, memory_order order = memory_order::seq_cst) noexcept {
        return compare_exchange_strong(expected, wanted, order);
    }

    ALLOCSCOPE_FAST_PATH T fetch_add(T step, memory_order order = memory_order::seq_cst) noexcept {
        return __atomic_fetch_add(&value_, step, static_cast<int>(order));
    }
    ALLOCSCOPE_FAST_PATH T fetch_sub(T step, memory_order order = memory_order::seq_cst) noexcept {
        return __atomic_fetch_sub(&value_, step, static_cast<int>(order));
    }

private:
    // The order that applies when nothing is stored.
    ALLOCSCOPE_FAST_PATH static constexpr int order_of_failure(memory_order order) noexcept {
        return order == memory_order::acq_rel   ? __ATOMIC_ACQUIRE
               : order == memory_order::release ? __ATOMIC_RELAXED
                                                : static_cast<int>(order);
    }

    static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0, "a machine word or less");

    alignas(sizeof(T)) T value_;
};

#if !defined(__clang__) && __GNUC__ >= 11
    #pragma GCC diagnostic push
    #pragma GCC diagnostic ignored "-Wtsan"  // the sanitizer does not see fences
#endif
ALLOCSCOPE_FAST_PATH void atomic_thread_fence(memory_order order) noexcept {
    __atomic_thread_fence(static_cast<int>(order));
}
#if !defined(__clang__) && __GNUC__ >= 11
    #pragma GCC diagnostic pop
#endif

}  // namespace detail

ALLOCSCOPE_HOT_END

#endif  // ALLOCSCOPE_BASE_ATOMIC_HPP
