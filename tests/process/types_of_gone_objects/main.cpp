// Danger: a type that only the size of the objects proves, or refutes, is not known when all are
// freed, or when their memory cannot be read.
// about: stacks

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <sys/mman.h>

#include "reader.hpp"
#include "shape.hpp"

using namespace allocscope_test;

namespace shop {

reader::reader(long first) : numbers{first, 2, 3, 4, 5} {}

__attribute__((noinline)) void parser::start(long first) {
    reader_.reset(new reader_type(first));
}

}  // namespace shop

struct atlas {
    char pages[1 << 20];
};

struct leaf {
    char pages[1 << 20];
};

// g++ places the new leaf at the `new tree` that calls this.
struct tree {
    explicit tree(leaf* first = new leaf) : first_leaf(first) {}
    leaf* first_leaf;
    char pages[2 << 20];
};

namespace {

#define ALLOCSCOPE_KEPT(type) static_cast<type*>(kept(new type))
#define ALLOCSCOPE_KEPT_ATLAS() ALLOCSCOPE_KEPT(atlas)
// Nobody knows what another macro in it allocates, so only the size shows that it is a shape.
#define ALLOCSCOPE_KEPT_SHAPE() static_cast<shop::shape*>(ALLOCSCOPE_KEPT_BY(new shop::shape))
#define ALLOCSCOPE_KEPT_BY(object) kept(object)

__attribute__((noinline)) void* kept(void* made) {
    return opaque(made);
}

// What objects of a program that has ended are like.
void let_nobody_read(void* object, bool nobody) {
    const auto page = reinterpret_cast<std::uintptr_t>(object) / 4096 * 4096;
    ALLOCSCOPE_EXPECT_EQUAL(::mprotect(reinterpret_cast<void*>(page), 4096,
                                       nobody ? PROT_NONE : PROT_READ | PROT_WRITE),
                            0);
}

std::uint64_t allocations_of(const allocscope::snapshot& seen, const char* type) {
    std::uint64_t count = 0;
    for (const allocscope::snapshot::stack& stack : seen.stacks()) {
        std::printf("%s:%d:%s\n", stack.file, stack.line, stack.type);
        if (std::strcmp(stack.type, type) == 0) count += stack.allocations;
    }
    return count;
}

}  // namespace

int main() {
    watchdog();
    const allocscope::scope window{"gone"};
    shop::parser all;
    for (long first = 0; first < 3; ++first) all.start(first);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of(window.stats(), "shop::reader"), 3);
    all.stop();
    const allocscope::scope another{"gone"};
    all.start(4);
    all.stop();
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of(another.stats(), "shop::reader"), 1);
    const allocscope::scope third{"unreadable"};
    atlas* const hidden = ALLOCSCOPE_KEPT_ATLAS();
    let_nobody_read(hidden, true);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of(third.stats(), "atlas"), 1);
    let_nobody_read(hidden, false);
    delete hidden;
    const allocscope::scope unread{"unreadable, of two sizes"};
    tree* const grown = static_cast<tree*>(kept(new tree));
    leaf* const first = grown->first_leaf;
    let_nobody_read(first, true);
    let_nobody_read(grown, true);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of(unread.stats(), "leaf"), 1);
    let_nobody_read(grown, false);
    let_nobody_read(first, false);
    const allocscope::scope cut{"gone, of two sizes"};
    delete grown;
    delete first;
    tree* const next = static_cast<tree*>(kept(new tree));
    delete next->first_leaf;
    delete next;
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of(cut.stats(), "leaf"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of(cut.stats(), "tree"), 1);
    const allocscope::scope fourth{"declared"};
    delete ALLOCSCOPE_KEPT_SHAPE();
    ALLOCSCOPE_EXPECT_EQUAL(allocations_of(fourth.stats(), "shop::shape"), 1);
    return verdict();
}
