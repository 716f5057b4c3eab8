// The operators as the language and the standard library call them.
#include "opaque.hpp"

#include <allocscope/allocscope.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <memory_resource>
#include <new>
#include <string>
#include <vector>

namespace {

template <std::size_t Alignment>
struct alignas(Alignment) with_destructor {
    char bytes[Alignment];
    ~with_destructor() { testing::opaque(this); }
};

template <std::size_t Alignment>
void check_aligned_new() {
    CAPTURE(Alignment);
    using element = with_destructor<Alignment>;
    allocscope::scope window;
    auto* single = testing::opaque(new element);
    auto* array = testing::opaque(new element[3]);
    auto* none = testing::opaque(new element[0]);
    CHECK(reinterpret_cast<std::uintptr_t>(single) % Alignment == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(array) % Alignment == 0);
    const allocscope::allocation_counts full = window.counts();
    delete single;
    delete[] array;
    delete[] none;
    const allocscope::allocation_counts drained = window.counts();
    CHECK(full.allocations == 3);
    // An array of objects with a destructor begins with its length, padded to the alignment.
    CHECK(full.bytes_allocated == Alignment + (3 * Alignment + Alignment) + Alignment);
    CHECK(drained.frees == 3);
    CHECK(drained.bytes_freed == full.bytes_allocated);
}

// Thrown by constructors here: an exception that owns no memory of operator new.
struct refusal {};

struct throws_when_made {
    throws_when_made() {
        testing::opaque(this);  // g++ 14 removes an allocation that only its own free looks at
        throw refusal{};
    }
    char bytes[48];
};

struct third_throws {
    inline static int made = 0;
    third_throws() {
        if (++made == 3) throw refusal{};
    }
    ~third_throws() { testing::opaque(this); }
    char bytes[40];
};

// A class with a pool of its own: blocks of ten, cut into pieces.
struct pooled {
    int value = 0;
    static void* operator new(std::size_t size) {
        if (pieces_left_ == 0) {
            pool_ = static_cast<char*>(::operator new(10 * size));
            pieces_left_ = 10;
        }
        return pool_ + size * static_cast<std::size_t>(--pieces_left_);
    }
    static void operator delete(void*) {}
    static void give_back() { ::operator delete(pool_); }

private:
    inline static char* pool_ = nullptr;
    inline static int pieces_left_ = 0;
};

struct base {
    virtual ~base() = default;
    int value = 0;
};

struct derived : base {
    char more[100] = {};
};

}  // namespace

TEST_CASE("new: over-aligned objects and arrays are aligned, and as many bytes die as were born") {
    check_aligned_new<32>();
    check_aligned_new<64>();
    check_aligned_new<256>();
    check_aligned_new<1024>();
    check_aligned_new<4096>();
}

TEST_CASE("new: an object whose constructor throws is freed and counted so") {
    allocscope::scope window;
    CHECK(testing::throws<refusal>([] { testing::opaque(new throws_when_made); }));
    CHECK(window.counts().allocations == 1);
    CHECK(window.counts().live_objects() == 0);
    CHECK(window.counts().bytes_freed == sizeof(throws_when_made));
}

TEST_CASE("new: an array whose third constructor throws is freed and counted so") {
    allocscope::scope window;
    third_throws::made = 0;
    CHECK(testing::throws<refusal>([] { testing::opaque(new third_throws[5]); }));
    CHECK(window.counts().allocations == 1);
    CHECK(window.counts().live_objects() == 0);
    CHECK(window.counts().bytes_freed == sizeof(std::size_t) + 5 * sizeof(third_throws));
}

TEST_CASE("new: a nothrow object whose constructor throws is freed by the nothrow delete") {
    allocscope::scope window;
    CHECK(testing::throws<refusal>([] { testing::opaque(new (std::nothrow) throws_when_made); }));
    CHECK(window.counts().allocations == 1);
    CHECK(window.counts().live_objects() == 0);
}

TEST_CASE("new: placement new is no allocation") {
    alignas(std::string) char place[sizeof(std::string)];
    allocscope::scope window;
    auto* text = testing::opaque(new (place) std::string("short"));
    text->~basic_string();
    CHECK(window.counts().allocations == 0);
    CHECK(window.counts().frees == 0);
}

TEST_CASE("new: a class with its own pool is counted by the blocks its pool asks for") {
    allocscope::scope window;
    for (int i = 0; i < 10; ++i) delete testing::opaque(new pooled);
    CHECK(window.counts().allocations == 1);
    CHECK(window.counts().bytes_allocated == 10 * sizeof(pooled));
    CHECK(window.counts().frees == 0);
    pooled::give_back();
    CHECK(window.counts().frees == 1);
}

TEST_CASE("new: deleting through the base class frees the bytes of the derived object") {
    allocscope::scope window;
    base* object = testing::opaque(static_cast<base*>(new derived));
    CHECK(window.counts().bytes_allocated == sizeof(derived));
    delete object;
    CHECK(window.counts().bytes_freed == sizeof(derived));
}

TEST_CASE("library: a pmr resource is counted by what it asks upstream for") {
    allocscope::scope window;
    {
        std::pmr::monotonic_buffer_resource arena(4096);
        std::pmr::vector<std::uint64_t> numbers(&arena);
        numbers.reserve(100);
        std::pmr::vector<std::uint64_t> more(&arena);
        more.reserve(100);
        CHECK(window.counts().allocations == 1);
        CHECK(window.counts().bytes_allocated >= 4096);
    }
    CHECK(window.counts().live_objects() == 0);
    CHECK(window.counts().frees == 1);
}

TEST_CASE("library: new_delete_resource allocates through the replaced operators") {
    allocscope::scope window;
    std::pmr::memory_resource* resource = std::pmr::new_delete_resource();
    void* plain = resource->allocate(100, 8);
    void* aligned = resource->allocate(1000, 512);
    CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 512 == 0);
    CHECK(window.counts().allocations == 2);
    CHECK(window.counts().bytes_allocated == 1100);
    resource->deallocate(plain, 100, 8);
    resource->deallocate(aligned, 1000, 512);
    CHECK(window.counts().frees == 2);
    CHECK(window.counts().bytes_freed == 1100);
}

TEST_CASE("library: what code inside libstdc++.so allocates is counted") {
    allocscope::scope window;
    std::string text;
    text.reserve(100);  // std::string::reserve is instantiated in the shared library
    CHECK(window.counts().allocations == 1);
    CHECK(window.counts().bytes_allocated == 101);
    text = std::string();
    text.shrink_to_fit();
    CHECK(window.counts().live_objects() == 0);
}

TEST_CASE("library: containers and smart pointers balance") {
    allocscope::scope window;
    {
        std::vector<std::shared_ptr<std::string>> kept;
        for (int i = 0; i < 1000; ++i) {
            kept.push_back(std::make_shared<std::string>(100, 'x'));
        }
        CHECK(window.counts().live_objects() == 2001);
    }
    CHECK(window.counts().live_objects() == 0);
    CHECK(window.counts().live_bytes() == 0);
}

TEST_CASE("library: malloc is not operator new") {
    allocscope::scope window;
    std::free(testing::opaque(std::malloc(100)));
    CHECK(window.counts().allocations == 0);
    CHECK(window.counts().frees == 0);
}
