// operator_pairs.hpp - all 8 replaceable forms of new and all 12 of delete, as tables of functions.
//
// Calling through a table keeps the calls: a compiler removes only a pair that it can see.

#ifndef ALLOCSCOPE_TESTS_OPERATORS_OPERATOR_PAIRS_HPP
#define ALLOCSCOPE_TESTS_OPERATORS_OPERATOR_PAIRS_HPP

#include <cstddef>
#include <new>

#ifndef __cpp_sized_deallocation
// clang 14 declares the sized forms with -fsized-deallocation only. They exist all the same.
void operator delete(void* block, std::size_t size) noexcept;
void operator delete[](void* block, std::size_t size) noexcept;
void operator delete(void* block, std::size_t size, std::align_val_t alignment) noexcept;
void operator delete[](void* block, std::size_t size, std::align_val_t alignment) noexcept;
#endif

namespace testing {

enum class family { single, array, aligned_single, aligned_array };

struct allocating_form {
    const char* name;
    family kind;
    void* (*allocate)(std::size_t size, std::align_val_t alignment);
};

struct freeing_form {
    const char* name;
    family kind;
    void (*free)(void* block, std::size_t size, std::align_val_t alignment);
};

inline constexpr allocating_form allocating_forms[] = {
    {"new(size)", family::single,
     [](std::size_t size, std::align_val_t) { return ::operator new(size); }},
    {"new[](size)", family::array,
     [](std::size_t size, std::align_val_t) { return ::operator new[](size); }},
    {"new(size, nothrow)", family::single,
     [](std::size_t size, std::align_val_t) { return ::operator new(size, std::nothrow); }},
    {"new[](size, nothrow)", family::array,
     [](std::size_t size, std::align_val_t) { return ::operator new[](size, std::nothrow); }},
    {"new(size, alignment)", family::aligned_single,
     [](std::size_t size, std::align_val_t align) { return ::operator new(size, align); }},
    {"new[](size, alignment)", family::aligned_array,
     [](std::size_t size, std::align_val_t align) { return ::operator new[](size, align); }},
    {"new(size, alignment, nothrow)", family::aligned_single,
     [](std::size_t size, std::align_val_t align) {
         return ::operator new(size, align, std::nothrow);
     }},
    {"new[](size, alignment, nothrow)", family::aligned_array,
     [](std::size_t size, std::align_val_t align) {
         return ::operator new[](size, align, std::nothrow);
     }},
};

inline constexpr freeing_form freeing_forms[] = {
    {"delete(block)", family::single,
     [](void* block, std::size_t, std::align_val_t) { ::operator delete(block); }},
    {"delete[](block)", family::array,
     [](void* block, std::size_t, std::align_val_t) { ::operator delete[](block); }},
    {"delete(block, nothrow)", family::single,
     [](void* block, std::size_t, std::align_val_t) { ::operator delete(block, std::nothrow); }},
    {"delete[](block, nothrow)", family::array,
     [](void* block, std::size_t, std::align_val_t) { ::operator delete[](block, std::nothrow); }},
    {"delete(block, size)", family::single,
     [](void* block, std::size_t size, std::align_val_t) { ::operator delete(block, size); }},
    {"delete[](block, size)", family::array,
     [](void* block, std::size_t size, std::align_val_t) { ::operator delete[](block, size); }},
    {"delete(block, alignment)", family::aligned_single,
     [](void* block, std::size_t, std::align_val_t align) { ::operator delete(block, align); }},
    {"delete[](block, alignment)", family::aligned_array,
     [](void* block, std::size_t, std::align_val_t align) { ::operator delete[](block, align); }},
    {"delete(block, alignment, nothrow)", family::aligned_single,
     [](void* block, std::size_t, std::align_val_t align) {
         ::operator delete(block, align, std::nothrow);
     }},
    {"delete[](block, alignment, nothrow)", family::aligned_array,
     [](void* block, std::size_t, std::align_val_t align) {
         ::operator delete[](block, align, std::nothrow);
     }},
    {"delete(block, size, alignment)", family::aligned_single,
     [](void* block, std::size_t size, std::align_val_t align) {
         ::operator delete(block, size, align);
     }},
    {"delete[](block, size, alignment)", family::aligned_array,
     [](void* block, std::size_t size, std::align_val_t align) {
         ::operator delete[](block, size, align);
     }},
};

inline bool is_aligned_form(family kind) {
    return kind == family::aligned_single || kind == family::aligned_array;
}

}  // namespace testing

#endif  // ALLOCSCOPE_TESTS_OPERATORS_OPERATOR_PAIRS_HPP
