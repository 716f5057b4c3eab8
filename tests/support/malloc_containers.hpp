// malloc_containers.hpp - containers that never call operator new.
//
// Room:     tests/support
// Called:   by models and by tests that keep records while a window is open
// Threads:  as the standard containers
// Memory:   malloc
//
// What a test writes down must not show up in what it measures.

#ifndef ALLOCSCOPE_TESTS_SUPPORT_MALLOC_CONTAINERS_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_MALLOC_CONTAINERS_HPP

#include <cstddef>     // size_t
#include <cstdlib>     // malloc, free, abort
#include <functional>  // less
#include <map>         // map
#include <utility>     // pair
#include <vector>      // vector

namespace allocscope_test {

template <class Value>
struct malloc_allocator {
    using value_type = Value;

    malloc_allocator() = default;
    template <class Other>
    malloc_allocator(const malloc_allocator<Other>&) {}

    Value* allocate(std::size_t count) {
        void* memory = std::malloc(count * sizeof(Value));
        if (memory == nullptr) std::abort();
        return static_cast<Value*>(memory);
    }
    void deallocate(Value* memory, std::size_t) { std::free(memory); }

    template <class Other>
    bool operator==(const malloc_allocator<Other>&) const {
        return true;
    }
    template <class Other>
    bool operator!=(const malloc_allocator<Other>&) const {
        return false;
    }
};

template <class Value>
using malloc_vector = std::vector<Value, malloc_allocator<Value>>;

template <class Key, class Value>
using malloc_map =
    std::map<Key, Value, std::less<Key>, malloc_allocator<std::pair<const Key, Value>>>;

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_MALLOC_CONTAINERS_HPP
