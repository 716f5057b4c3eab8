#include "makers.hpp"

// The number that it tests is written like a short jump to the next function, 74 xx.
item* make_beside() {
    asm volatile(".byte 0x66, 0xa9, 0x74\n\t.byte allocscope_test_neighbour - . - 1" : : : "cc");
    return make_item();
}
extern "C" __attribute__((noinline)) void allocscope_test_neighbour() {}

// Two jumps, of which only the code of the last one says where it leads.
void* make_last(void* (*make)(int), bool is_asking) {
    if (__builtin_expect(is_asking, 1)) return make(-25);
    return new short[22];
}
