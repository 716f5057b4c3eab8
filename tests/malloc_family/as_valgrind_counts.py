"""as_valgrind_counts.py HOOKED PLAIN

HOOKED and PLAIN are libc_calls with and without the hooks. What the first one's window saw must be
what Valgrind's "total heap usage" has more for PLAIN with one round than without.
"""
import os
import re
import shutil
import subprocess
import sys

USAGE = re.compile(r"total heap usage: ([\d,]+) allocs, ([\d,]+) frees, ([\d,]+) bytes allocated")
ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "HOME": "/root"}


def valgrind(program, rounds):
    done = subprocess.run(["valgrind", "--run-libc-freeres=no", "--run-cxx-freeres=no", program,
                           str(rounds)], capture_output=True, text=True, check=False,
                          env=ENVIRONMENT)
    found = USAGE.search(done.stderr)
    if not found:
        sys.exit(f"valgrind says nothing about the heap:\n{done.stderr[-2000:]}")
    return [int(number.replace(",", "")) for number in found.groups()]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        sys.exit(77)
    hooked, plain = sys.argv[1:]
    done = subprocess.run([hooked, "1"], capture_output=True, text=True, check=True,
                          env=ENVIRONMENT)
    seen = [int(number) for number in done.stdout.split()]
    none, once = valgrind(plain, 0), valgrind(plain, 1)
    wanted = [after - before for before, after in zip(none, once)]
    print("                 allocations frees bytes")
    print("allocscope      ", *seen)
    print("valgrind        ", *wanted)
    sys.exit(0 if seen == wanted and seen[0] > 500 else 1)


if __name__ == "__main__":
    main()
