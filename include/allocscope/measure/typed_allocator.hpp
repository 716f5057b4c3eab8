// typed_allocator.hpp - an allocator whose rows show the type, even without debug information.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by containers of the user
// Threads:  any
// Memory:   from operator new
//
//     std::vector<order, allocscope::allocator<order>> orders;      // rows show order
//
// It stands for std::allocator everywhere but in constant expressions. The difference is that its
// allocate() is a function of its own on the stack, a different one for each type. So rows show the
// type even where the caller was inlined. The memory comes from operator new and is counted there,
// once.

#ifndef ALLOCSCOPE_MEASURE_TYPED_ALLOCATOR_HPP
#define ALLOCSCOPE_MEASURE_TYPED_ALLOCATOR_HPP

#include <allocscope/config.hpp>

#include <cstddef>      // size_t
#include <new>          // operator new, align_val_t
#include <type_traits>  // true_type

ALLOCSCOPE_NAMESPACE_BEGIN

template <class T>
class allocator {
public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using is_always_equal = std::true_type;

    constexpr allocator() noexcept = default;
    template <class U>
    constexpr allocator(const allocator<U>&) noexcept {}

    // Throws what operator new throws; std::bad_alloc also for more bytes than there are addresses.
    [[nodiscard]] __attribute__((__noinline__)) T* allocate(std::size_t count) {
        // Two functions with equal code would be merged, and rows of one type would show another.
        __asm__ volatile("" : : "r"(__PRETTY_FUNCTION__));
        constexpr std::size_t most = ~std::size_t{0} / sizeof(T);
        const std::size_t bytes = count > most ? ~std::size_t{0} : count * sizeof(T);
        void* block;
        if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
            block = ::operator new (bytes, std::align_val_t{alignof(T)});
        } else {
            block = ::operator new(bytes);
        }
        __asm__ volatile("" : "+r"(block));  // prevents a tail call: allocate() stays on the stack
        return static_cast<T*>(block);
    }

    void deallocate(T* block, std::size_t count) noexcept {
        if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
            ::operator delete (block, std::align_val_t{alignof(T)});
        } else {
            ::operator delete(block);
        }
        static_cast<void>(count);
    }
};

template <class T, class U>
constexpr bool operator==(const allocator<T>&, const allocator<U>&) noexcept {
    return true;
}
template <class T, class U>
constexpr bool operator!=(const allocator<T>&, const allocator<U>&) noexcept {
    return false;
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_TYPED_ALLOCATOR_HPP
