"""Which functions without a name `allocscope run` passes over: those whose machine code behind a
call of malloc does nothing but return the block. Each form of code is a function of its own.

usage: nameless_wrappers_test.py PROGRAM COMPILER
"""
import subprocess
import sys
import tempfile

from recorded_programs import WITHOUT_CXX, Recorder, compiled

RETURN = "add $8, %rsp; pop %r12; pop %rbx; ret;"
# rbx is 0, so what is behind 7 is not run, but read.
OTHER_WAY = f"test %rbx, %rbx; jne 7f; {RETURN} 7:"
NULL = f"9: xor %eax, %eax; {RETURN}"

PASSED_OVER = {
    "it returns": RETURN,
    "no memory: jump": f"test %rax, %rax; je 9f; {RETURN} 9: ud2",
    "no memory: null": f"test %rax, %rax; je 9f; {RETURN} {NULL}",
    "memory: jump": f"test %rax, %rax; jne 8f; ud2; 8: {RETURN}",
    "memory: jump over null": f"test %rax, %rax; jne 8f; {NULL} 8: {RETURN}",
    "a long jump": f".byte 0xe9; .long 8f - . - 4; ud2; 8: {RETURN}",
    "a short jump": f"jmp 8f; ud2; 8: {RETURN}",
    "a long jump to null": f"test %rax, %rax; .byte 0x0f, 0x84; .long 9f - . - 4; {RETURN} {NULL}",
    "a long jump over null": f"test %rax, %rax; .byte 0x0f, 0x85; .long 8f - . - 4; {NULL} 8: "
                             f"{RETURN}",
    "kept in a register": f"mov %rax, %r12; test %r12, %r12; je 9f; mov %r12, %rax; {RETURN} "
                          f"{NULL}",
    "the other form of mov": f".byte 0x4c, 0x8b, 0xe0; xor %eax, %eax; .byte 0x49, 0x8b, 0xc4; "
                             f"{RETURN}",
    "moved after the test": f"test %rax, %rax; mov %rax, %r12; nop; je 9f; {RETURN} {NULL}",
    "or with the block": f"or %rax, %rbx; je 9f; {RETURN} {NULL}",
    "or with something": f"mov %rax, %r12; or %rbx, %r12; je 9f; {RETURN} {NULL}",
    "both ways return it": f"{OTHER_WAY} {RETURN}",
    "a prefix of ret": "add $8, %rsp; pop %r12; pop %rbx; repz ret",
    "add with four bytes": ".byte 0x48, 0x81, 0xc4, 8, 0, 0, 0; pop %r12; pop %rbx; ret",
    "leave": f"{OTHER_WAY} leave; ret",
    "the end of the frame": f"{OTHER_WAY} lea -16(%rbp), %rsp; pop %r12; pop %rbx; ret",
    "the frame": f"{OTHER_WAY} mov %rbp, %rsp; pop %rbp; ret",
    "short nops": f".byte 0x0f, 0x1f, 0x40, 0; .byte 0x0f, 0x1f, 0; nop; xchg %ax, %ax; {RETURN}",
    "zero": f"xor %ebx, %ebx; .byte 0x33, 0xdb; {RETURN}",
    "long nops": ".byte 0x0f, 0x1f, 0x44, 0, 0; .byte 0x66, 0x0f, 0x1f, 0x44, 0, 0; "
                 ".byte 0x0f, 0x1f, 0x80, 0, 0, 0, 0; .byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0; "
                 ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0; "
                 f".byte 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0; {RETURN}",
    "the frame is checked": f"{OTHER_WAY} mov 24(%rsp), %rdx; sub %fs:0x28, %rdx; jne 9f; {RETURN} "
                            "9: ud2",
    "the frame is checked by xor": f"{OTHER_WAY} mov (%rsp), %r8; xor %fs:0x28, %r8; je 8f; {NULL} "
                                   f"8: {RETURN}",
    "a large frame is checked": f"{OTHER_WAY} mov 240(%rsp), %rcx; sub %fs:0x28, %rcx; jne 9f; "
                                f"{RETURN} {NULL}",
    "moved from the frame after the test": f"test %rax, %rax; mov (%rsp), %rdx; je 9f; {RETURN} "
                                           f"{NULL}",
    "registers are restored by mov": f"{OTHER_WAY} mov -8(%rbp), %rbx; mov -240(%rbp), %r12; "
                                     "mov (%rsp), %edx; leave; ret",
    "a nop without a displacement": f".byte 0x0f, 0x1f, 0x04, 0; {RETURN}",
}
KEPT = {
    "half of the block is tested": f"test %eax, %eax; je 9f; {RETURN} {NULL}",
    "something else is tested": f"test %rbx, %rbx; je 9f; {RETURN} {NULL}",
    "two registers are tested": f"test %rbx, %rax; je 9f; {RETURN} {NULL}",
    "flags of something else": f"test %rax, %rax; xor %r12d, %r12d; je 9f; {RETURN} {NULL}",
    "flags of the stack's pointer": f"test %rax, %rax; add $8, %rsp; je 9f; pop %r12; pop %rbx; "
                                    f"ret; 9: xor %eax, %eax; pop %r12; pop %rbx; ret",
    "another condition": f"test %rax, %rax; js 9f; {RETURN} {NULL}",
    "another condition of the way": f"test %rax, %rax; jns 8f; {NULL} 8: {RETURN}",
    "half of the block is moved": f"mov %rax, %r12; mov %r12d, %eax; {RETURN}",
    "half in the other form": f".byte 0x44, 0x8b, 0xe0; .byte 0x49, 0x8b, 0xc4; {RETURN}",
    "the register is restored": f"mov %rax, %r12; add $8, %rsp; pop %r12; pop %rbx; "
                                f"mov %r12, %rax; ret",
    "another is restored": "mov %rax, %rbx; add $8, %rsp; pop %r12; pop %rbx; mov %rbx, %rax; ret",
    "half of an or": f"or %eax, %ebx; je 9f; {RETURN} {NULL}",
    "or of others": f"or %rbx, %r12; je 9f; {RETURN} {NULL}",
    "or into the block": f"mov %rax, %r12; or %rbx, %r12; mov %r12, %rax; {RETURN}",
    "or with a number": f"or $-1, %rax; {RETURN}",
    "the block and more": f"add $16, %rax; {RETURN}",
    "half of the stack's pointer": f"{OTHER_WAY} add $8, %esp; pop %r12; pop %rbx; ret",
    "room on the stack": f"sub $16, %rsp; add $16, %rsp; {RETURN}",
    "null": f"xor %eax, %eax; {RETURN}",
    "null in the other form": f".byte 0x33, 0xc0; {RETURN}",
    "another address": f"xor %rbx, %rax; {RETURN}",
    "something is computed": f"xor %rbx, %r12; {RETURN}",
    "flags of the call": f"je 9f; {RETURN} {NULL}",
    "what is in the frame": f"{OTHER_WAY} mov -16(%rbp), %rsp; ret",
    "a nop of a register": f".byte 0x0f, 0x1f, 0xc0; xor %eax, %eax; nop; nop; {RETURN}",
    "an empty stack": f"{OTHER_WAY} xor %esp, %esp; ret",
    "or with the stack's pointer": f"{OTHER_WAY} or %rax, %rsp; ret",
    "leave takes the register": f"{OTHER_WAY} mov %rax, %rbp; leave; mov %rbp, %rax; ret",
    "a part of the frame": f"{OTHER_WAY} lea -16(%rbp), %rax; ret",
    "the end of something": f"{OTHER_WAY} lea -16(%rbx), %rsp; ret",
    "half of the frame's end": f"{OTHER_WAY} lea -16(%rbp), %esp; ret",
    "a frame that is none": f"{OTHER_WAY} mov %rbx, %rsp; ret",
    "only one way returns it": f"{OTHER_WAY} xor %eax, %eax; {RETURN}",
    "a circle": f"{OTHER_WAY} 8: jmp 8b",
    "the check takes the register": f"{OTHER_WAY} mov %rax, %r8; sub %fs:0x28, %r8; jne 9f; "
                                    f"mov %r8, %rax; {RETURN} 9: ud2",
    "another word is checked": f"{OTHER_WAY} mov 24(%rsp), %rdx; sub %fs:0x30, %rdx; jne 9f; "
                               f"{RETURN} {NULL}",
    "another operand of the check": f"{OTHER_WAY} mov 24(%rsp), %rdx; .byte 0x64, 0x48, 0x2b, "
                                    "0x94, 0x25, 0x28, 0, 0, 0;"  # %fs:0x28(%rbp,%riz)
                                    f"jne 9f; {RETURN} {NULL}",
    "half of the check": f"{OTHER_WAY} mov 24(%rsp), %r8; sub %fs:0x28, %r8d; jne 9f; {RETURN} "
                         f"{NULL}",
    "another operation with the word": f"{OTHER_WAY} mov 24(%rsp), %rdx; add %fs:0x28, %rdx; "
                                       f"jne 9f; {RETURN} {NULL}",
    "if the frame is not as it was": f"{OTHER_WAY} mov 24(%rsp), %rdx; sub %fs:0x28, %rdx; je 9f; "
                                     f"{RETURN} {NULL}",
    "the block is restored": f"{OTHER_WAY} mov 8(%rsp), %rax; {RETURN}",
    "something is read": f"{OTHER_WAY} mov 8(%rbx), %rdx; {RETURN}",
    "pop in an operand": f"{OTHER_WAY} .byte 0x48, 0x8b, 0x5b, 0x90; {RETURN}",  # -112(%rbx), %rbx
    "nop in an operand": f"{OTHER_WAY} .byte 0x48, 0x8b, 0x15, 0x90, 0x90, 0x90, 0x90; {RETURN}",
    "something behind the frame": f"{OTHER_WAY} mov 8(%rsp,%rbx), %rdx; {RETURN}",
    "something at another index": f"{OTHER_WAY} mov 8(%rsp,%r12), %rdx; {RETURN}",
    "into the frame": f"{OTHER_WAY} mov %rdx, 8(%rsp); {RETURN}",
    "the stack's pointer is read": f"{OTHER_WAY} mov 8(%rsp), %rsp; {RETURN}",
    "it writes": f"movq $1, (%rax); {RETURN}",
    "it counts": f"incq calls(%rip); {RETURN}",
}
FORMS = [(name, code, True) for name, code in PASSED_OVER.items()]
FORMS += [(name, code, False) for name, code in KEPT.items()]
LEAST = 1000  # bytes: the form's number is added


def source():
    functions = "".join(rf"""
form_{number}:
    .cfi_startproc
    push %rbx
    .cfi_adjust_cfa_offset 8
    push %r12
    .cfi_adjust_cfa_offset 8
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    xor %ebx, %ebx
    xor %r12d, %r12d
    call malloc@PLT
    {code}
    .cfi_endproc
""" for number, (_, code, _) in enumerate(FORMS))
    declared = "".join(
        f'extern "C" __attribute__((visibility("hidden"))) void* form_{number}(unsigned long);\n'
        for number in range(len(FORMS)))
    calls = "".join(f"    kept = form_{number}({LEAST + number});\n"
                    for number in range(len(FORMS)))
    return f'''
asm(R"(
    .data
calls: .quad 0
    .text
{functions}
)");
{declared}
static void* volatile kept;
__attribute__((noinline)) static void call_all() {{
{calls}
    asm volatile("" ::: "memory");
}}
int main() {{
    call_all();
    return 0;
}}
'''


def main():
    program, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        forms = compiled(folder, "forms", source(), compiler, "-O2", *WITHOUT_CXX)
        listed = subprocess.run(["nm", forms], capture_output=True, text=True, check=True)
        begin = {int(line.split()[0], 16): line.split()[2] for line in listed.stdout.splitlines()
                 if " form_" in line or "call_all" in line}
        subprocess.run(["strip", "--strip-all", forms], check=True)
        rows = Recorder(program, folder).report([forms])["rows"]
    found = {}
    for row in rows:
        function = begin[int(row["function"].removeprefix("forms+0x"), 16)]
        found[row["bytes"] - LEAST] = function
    assert len(found) == len(FORMS), found
    for number, (name, _, is_passed_over) in enumerate(FORMS):
        is_kept = found[number] == f"form_{number}"
        assert is_kept or "call_all" in found[number], (name, found[number])
        assert is_kept != is_passed_over, name


if __name__ == "__main__":
    main()
