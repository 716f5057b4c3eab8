// g++ does not describe the calls and jumps of these functions, as with -g1.
#if !defined(__clang__)
    #pragma GCC optimize("no-var-tracking")
#endif

#include "makers.hpp"

__attribute__((cold, noinline)) static void note() {
    asm volatile("");
}

void* make_by_pointer(void* (*make)(), bool is_asking) {
    if (is_asking) return make();
    return new short[11];
}

// g++ moves the rare part away from the rest.
void* make_checked(int kind) {
    if (kind > 7) {
        note();
        __builtin_trap();
    }
    return new short[12];
}
const int line_of_checked = __LINE__ - 2;

void* make_rarely(int kind) {
    if (kind > 7) {
        note();
        return new short[13];
    }
    return new short[14];
}

// The jump of a `switch` stays in its function, wherever its table says.
void* make_after_switch(int kind) {
    switch (kind) {
        case 0:
            asm volatile("nop # 0");
            break;
        case 1:
            asm volatile("nop # 1");
            break;
        case 2:
            asm volatile("nop # 2");
            break;
        case 3:
            asm volatile("nop # 3");
            break;
        case 4:
            asm volatile("nop # 4");
            break;
        case 5:
            asm volatile("nop # 5");
            break;
        default:
            break;
    }
    for (volatile int i = 0; i < kind;) i = i + 1;  // g++ repeats shorter code in each case
    return new short[15];
}
const int line_behind_switch = __LINE__ - 2;
