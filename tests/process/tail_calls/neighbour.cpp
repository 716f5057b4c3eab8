#include "makers.hpp"

// The number that it tests is written like a short jump to the next function, 74 xx.
item* make_beside() {
    asm volatile(".byte 0x66, 0xa9, 0x74\n\t.byte allocscope_test_neighbour - . - 1" : : : "cc");
    return make_item();
}
extern "C" __attribute__((noinline)) void allocscope_test_neighbour() {}
