// Danger: memory for what a pointer points to is `?`, because the pointer is in a union without a
// name, because it points to an array, or because it is in one.
// about: stacks

#include "../../support/process_test.hpp"
#include "../../support/rows_by_type.hpp"

#include <allocscope/allocscope.hpp>

#include <new>

using namespace allocscope_test;

namespace shop {

struct part {
    long numbers[3];
};

struct label {
    char text[40];
};

struct shelf {
    long key;
    union {
        part* parts;
        long number;
    };
    int (*grid)[4];
    label* labels[3];
};

}  // namespace shop

__attribute__((noinline)) static void fill(shop::shelf& shelf) {
    shelf.parts = static_cast<shop::part*>(::operator new(5 * sizeof(*shelf.parts)));
    shelf.grid = static_cast<int(*)[4]>(::operator new(7 * sizeof(shelf.grid[0])));
    shop::part*(*pairs)[2];
    pairs = static_cast<decltype(pairs)>(::operator new(3 * sizeof *pairs));
    shelf.key = reinterpret_cast<long>(pairs);
    shelf.labels[1] = static_cast<shop::label*>(::operator new(4 * sizeof *shelf.labels[1]));
    shop::label row[2];
    shop::label one;
    shelf.labels[0] = static_cast<shop::label*>(::operator new(2 * sizeof one));
    shelf.labels[2] = static_cast<shop::label*>(::operator new(6 * sizeof(row[0])));
}

int main() {
    watchdog();
    const allocscope::scope window{"types"};
    shop::shelf shelf{};
    fill(shelf);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::part"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "int"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::part*"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::label"), 3);
    return verdict();
}
