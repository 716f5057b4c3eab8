// Danger: a class's own operator new, or an allocator of the user's, is where operator new is
// called. All that it ever handed out would be one row, at a line that answers nothing.
// not with: tsan (it sees nothing where there is one thread)

#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstring>
#include <memory>
#include <memory_resource>
#include <new>
#include <vector>

using namespace allocscope_test;

namespace {

struct widget {
    int numbers[4] = {};
    static void* operator new(std::size_t size) { return ::operator new(size); }
    static void operator delete(void* block) { ::operator delete(block); }
};

struct derived : widget {
    int more = 0;
};

struct chunked {
    int number = 0;
    static void* operator new(std::size_t) {
        static char* const chunk = static_cast<char*>(::operator new(4096));
        return chunk;
    }
    static void operator delete(void*) {}
};

template <class T>
struct plain_allocator {
    using value_type = T;
    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T))); }
    void deallocate(T* block, std::size_t) { ::operator delete(block); }
    friend bool operator==(const plain_allocator&, const plain_allocator&) { return true; }
    friend bool operator!=(const plain_allocator&, const plain_allocator&) { return false; }
};

struct plain_resource : std::pmr::memory_resource {
    void* do_allocate(std::size_t size, std::size_t) override { return ::operator new(size); }
    void do_deallocate(void* block, std::size_t, std::size_t) override { ::operator delete(block); }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
};

// The memory begins with a size.
struct sizing_resource : plain_resource {
    void* do_allocate(std::size_t size, std::size_t) override {
        size += 16;
        return static_cast<char*>(::operator new(size)) + 16;
    }
    void do_deallocate(void* block, std::size_t, std::size_t) override {
        ::operator delete(static_cast<char*>(block) - 16);
    }
};

template <class T>
__attribute__((noinline)) T* kept(T* object) {
    __asm__ volatile("" : "+r"(object) : : "memory");
    return object;
}

// The only row of the line; null: there is none, or there are several.
const allocscope::snapshot::row* row_at(const allocscope::snapshot& seen, int line) {
    const allocscope::snapshot::row* found = nullptr;
    for (const allocscope::snapshot::row& row : seen) {
        if (row.line != line) continue;
        if (found != nullptr) return nullptr;
        found = &row;
    }
    return found;
}

void expect_row(const allocscope::snapshot& seen, int line, const char* type) {
    const allocscope::snapshot::row* row = row_at(seen, line);
    if (!ALLOCSCOPE_EXPECT(row != nullptr)) return;
    if (!ALLOCSCOPE_EXPECT(std::strcmp(row->type, type) == 0)) {
        say(row->type, static_cast<int>(std::strlen(row->type)));
    }
}

}  // namespace

int main() {
    watchdog();
    const allocscope::scope window{"requests"};
    const int first = __LINE__ + 1;
    const std::unique_ptr<widget> a{kept(new widget)};
    const std::unique_ptr<derived> b{kept(new derived)};
    const std::unique_ptr<widget> c = std::make_unique<widget>();
    const std::unique_ptr<chunked> d{kept(new chunked)};
    const std::vector<int, plain_allocator<int>> e(30);
    plain_resource resource;
    const std::pmr::vector<int> f(20, kept(&resource));
    sizing_resource sizing;
    std::pmr::vector<int> g(kept(&sizing));
    g.reserve(20);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(seen.size(), 7);
    expect_row(seen, first, "widget");
    expect_row(seen, first + 1, "derived");
    const allocscope::snapshot::row* made = row_at(seen, first + 2);
    ALLOCSCOPE_EXPECT(made != nullptr && std::strstr(made->type, "widget") != nullptr);
    expect_row(seen, first + 3, "?");  // a chunk is no object of the class
    ALLOCSCOPE_EXPECT(row_at(seen, first + 4) != nullptr);
    expect_row(seen, first + 6, "int");
    expect_row(seen, first + 9, "?");
    return verdict();
}
