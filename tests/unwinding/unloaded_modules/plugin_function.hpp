// One function in three modules that differ in nothing but the size of its frame: the same return
// address, another way to the caller. Each calls `work(argument)`.

#ifndef ALLOCSCOPE_TESTS_UNWINDING_PLUGIN_FUNCTION_HPP
#define ALLOCSCOPE_TESTS_UNWINDING_PLUGIN_FUNCTION_HPP

using work_function = void (*)(void*);
using plugin_function = void (*)(work_function work, void* argument);

// The frame is filled with the caller's return address: whoever follows another module's rule finds
// something that looks right.
#define ALLOCSCOPE_TEST_PLUGIN(BYTES, CFA) \
    __asm__(                               \
        ".text\n"                          \
        ".globl plugin_call\n"             \
        ".type plugin_call, @function\n"   \
        "plugin_call:\n"                   \
        "  .cfi_startproc\n"               \
        "  mov (%rsp), %rdx\n"             \
        "  sub $" #BYTES                   \
        ", %rsp\n"                         \
        "  .cfi_def_cfa_offset " #CFA      \
        "\n"                               \
        "  lea " #BYTES                    \
        "(%rsp), %rcx\n"                   \
        "0:\n"                             \
        "  sub $8, %rcx\n"                 \
        "  mov %rdx, (%rcx)\n"             \
        "  cmp %rsp, %rcx\n"               \
        "  jne 0b\n"                       \
        "  mov %rdi, %rax\n"               \
        "  mov %rsi, %rdi\n"               \
        "  call *%rax\n"                   \
        "  add $" #BYTES                   \
        ", %rsp\n"                         \
        "  .cfi_def_cfa_offset 8\n"        \
        "  ret\n"                          \
        "  .cfi_endproc\n"                 \
        ".size plugin_call, .-plugin_call\n")

#endif  // ALLOCSCOPE_TESTS_UNWINDING_PLUGIN_FUNCTION_HPP
