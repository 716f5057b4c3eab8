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
