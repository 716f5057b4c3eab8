// Danger: an arena, a struct whose first member has virtual functions, or what is left of a derived
// object is called by the class whose vtable its first word points to.
// not with: tsan (it sees nothing where there is one thread)

#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdio>
#include <cstring>
#include <new>

using namespace allocscope_test;

namespace {

void* volatile sink;

struct shape {
    virtual ~shape() { sink = this; }
    long numbers[2] = {};
};

struct round_shape : shape {
    long more[3] = {};
};

struct holder {
    shape first;
    long more = 0;
};

// Of its own size: nothing but its first member tells it.
struct wrapper {
    shape first;
};

template <class T>
void keep(T* object) {
    sink = object;
}

// What is made in a block is said behind the allocation: the source tells only for what it is.
__attribute__((noinline)) void shape_alone() {
    void* memory = ::operator new(sizeof(shape));
    keep(::new (memory) shape);
}
__attribute__((noinline)) void shape_in_arena() {
    void* arena = ::operator new(4096);
    keep(::new (arena) shape);
}
__attribute__((noinline)) void shape_as_member() {
    void* memory = ::operator new(sizeof(holder));
    keep(::new (memory) holder);
}
__attribute__((noinline)) void shape_in_wrapper() {
    keep(new wrapper);
}
__attribute__((noinline)) void shape_that_was_more() {
    void* memory = ::operator new(sizeof(round_shape));
    auto* object = ::new (memory) round_shape;
    object->~round_shape();
    keep(object);
}
// One call for objects of two classes of the same size.
struct other_shape {
    virtual ~other_shape() = default;
    long numbers[2] = {};
};
__attribute__((noinline)) void shapes_by_one_call() {
    static volatile bool is_other[] = {false, true};
    static volatile int count = 2;
    for (int i = 0; i < count; ++i) {
        void* memory = ::operator new(sizeof(shape));
        if (!is_other[i]) {
            keep(::new (memory) shape);
        } else {
            keep(::new (memory) other_shape);
        }
    }
}

void expect_type(const allocscope::snapshot& seen, const char* function, const char* type) {
    const char* found = "no row";
    for (const allocscope::snapshot::row& row : seen) {
        if (std::strstr(row.function, function) != nullptr) found = row.type;
    }
    char text[200];
    std::snprintf(text, sizeof text, "%s makes %s: it is %s", function, type, found);
    expect(std::strcmp(found, type) == 0, text, __FILE__, __LINE__);
}

}  // namespace

int main() {
    watchdog();
    const allocscope::scope window{"blocks"};
    shape_alone();
    shape_in_arena();
    shape_as_member();
    shape_in_wrapper();
    shape_that_was_more();
    shapes_by_one_call();
    const allocscope::snapshot seen = window.stats();
    const char* shape_name = "shape";
    expect_type(seen, "shape_alone", shape_name);
    expect_type(seen, "shape_in_arena", "?");
    expect_type(seen, "shape_as_member", "holder");
    expect_type(seen, "shape_in_wrapper", "wrapper");
    expect_type(seen, "shape_that_was_more", "round_shape");
    expect_type(seen, "shapes_by_one_call", "?");
    return verdict();
}
