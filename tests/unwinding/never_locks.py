"""never_locks.py NM OBJDUMP OBJECT

OBJECT is the walk with everything it calls (walk_alone.cpp). It asks nothing of the C library but
to copy and compare memory, to find a module without a lock and to read the kernel's table of the
process (getauxval), and has no locked instruction and no system call.
"""
import re
import subprocess
import sys

ALLOWED = {"_dl_find_object", "_r_debug", "__ehdr_start", "_GLOBAL_OFFSET_TABLE_",
           "memchr", "memcmp", "bcmp", "memcpy", "memmove", "memset", "getauxval"}
FORBIDDEN = re.compile(r"\t(lock\b|mfence|xchg\s.*\(|syscall|int\s|sysenter)")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    nm, objdump, path = sys.argv[1:]
    asked = {line.split()[-1] for line in output_of(nm, "-u", path).splitlines() if line.strip()}
    if "_dl_find_object" not in asked:
        sys.exit(f"{path} does not look for modules: is it still the whole walk?")
    if asked - ALLOWED:
        sys.exit("A walk calls what may lock or allocate: " + ", ".join(sorted(asked - ALLOWED)))
    code = output_of(objdump, "-dC", "--no-show-raw-insn", path)
    if "allocscope_test_walk" not in code or code.count("\n") < 500:
        sys.exit(f"{path} holds too little code")
    found = [line for line in code.splitlines() if FORBIDDEN.search(line)]
    if found:
        sys.exit("A walk must not do this:\n" + "\n".join(found))
    print("asks for " + ", ".join(sorted(asked)))


main()
