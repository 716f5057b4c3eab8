// A distance backwards ends with ff, and so begins a jump to where a register (66 90) or a word
// (25) says. g++ does not describe the calls and jumps of these functions, as with -g1.
#if !defined(__clang__)
    #pragma GCC optimize("no-var-tracking")
#endif

#include "makers.hpp"

extern "C" __attribute__((noinline, used)) int before_distances() {
    return 3;
}

void* make_after_loop() {
    asm volatile("jmp 2f; 1: jmp 3f; 2: .byte 0xe9; .long 1b - 4f; 4: xchg %ax, %ax; 3:");
    return new short[16];
}
const int line_after_loop = __LINE__ - 2;

void* make_after_call() {
    asm volatile("jmp 1f; call before_distances; xchg %ax, %ax; 1:");
    return new short[17];
}
const int line_after_call = __LINE__ - 2;

void* make_after_mask() {
    asm volatile("jmp 1f; call before_distances; and $0x7ff, %eax; 1:");
    return new short[18];
}
const int line_after_mask = __LINE__ - 2;

void* make_after_stub() {
    asm volatile("jmp 1f; call getpid@plt; xchg %ax, %ax; 1:");
    return new short[19];
}
const int line_after_stub = __LINE__ - 2;

// The number -24 is e8 ff ff ff, which with the ff of the jump behind it looks like a call.
void* make_by_pointer_with_number(void* (*make)(int), bool is_asking) {
    if (is_asking) return make(-24);
    return new short[20];
}
