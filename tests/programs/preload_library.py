"""preload_library.py LIBRARY

What liballocscope_preload.so brings into every program, read from the file: no library that the
program does not have anyway, no symbol but malloc's family and what AddressSanitizer asks for, no
call that a function of the program could get because it has the name by chance, little thread-local
memory and no call to find it, nothing private of the C library, and nothing that weakens the
process.
"""
import re
import subprocess
import sys

ALWAYS_THERE = {"libc.so.6", "ld-linux-x86-64.so.2"}
FAMILY = {"malloc", "calloc", "realloc", "reallocarray", "free", "posix_memalign", "aligned_alloc",
          "memalign", "valloc", "pvalloc", "malloc_usable_size", "free_sized", "free_aligned_sized"}
FOR_ADDRESS_SANITIZER = {"__asan_default_options"}
MOST_THREAD_LOCAL_BYTES = 256
# Names that the C library keeps for itself, or that clang calls in place of memcmp.
RESERVED = re.compile(r"_|mem|str|bcmp$")


def readelf(option, library):
    return subprocess.run(["readelf", "-W", option, library], check=True, capture_output=True,
                          text=True).stdout


def problems_of(library):
    dynamic, segments = readelf("-d", library), readelf("-l", library)
    symbols = readelf("--dyn-syms", library)
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic))
    if needed - ALWAYS_THERE:
        yield f"it needs {sorted(needed - ALWAYS_THERE)}: other programs would have them, too"
    defined = {line.split()[7].split("@")[0] for line in symbols.splitlines()
               if re.match(r"\s*\d+:", line) and len(line.split()) > 7
               and line.split()[6] != "UND" and line.split()[4] in ("GLOBAL", "WEAK")}
    wanted = FAMILY | FOR_ADDRESS_SANITIZER
    if defined != wanted:
        yield f"it defines {sorted(defined ^ wanted)}, or does not"
    wanted_of_others = re.findall(r" UND (\w+)", symbols)
    for name in wanted_of_others:
        if not RESERVED.match(name):
            yield f"it calls {name}, which the program may have for something else"
    for name in ("__tls_get_addr", "__libc_freeres", "GLIBC_PRIVATE"):
        if name in symbols:
            yield f"it uses {name}"
    thread_local = re.search(r"^  TLS +\S+ \S+ \S+ \S+ (0x\w+)", segments, re.MULTILINE)
    if thread_local and int(thread_local[1], 16) > MOST_THREAD_LOCAL_BYTES:
        yield f"each thread pays {int(thread_local[1], 16)} bytes"
    if "TEXTREL" in dynamic:
        yield "its code is written to when it is loaded"
    if re.search(r"^  GNU_STACK .* RWE ", segments, re.MULTILINE) or " RWE " in segments:
        yield "it asks for memory that can be written to and executed"
    if "GNU_RELRO" not in segments:
        yield "its table of addresses stays writable"


def main():
    problems = list(problems_of(sys.argv[1]))
    print("\n".join(problems) or "it brings nothing but malloc's family")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
