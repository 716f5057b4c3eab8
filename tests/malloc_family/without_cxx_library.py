"""without_cxx_library.py HEADERS FOLDER

The symbols of malloc alone make a shared library that needs the C library only, runs in programs
that know nothing of C++, and has little storage for each thread. Under a sanitizer none of them is
defined.
"""
import os
import pathlib
import re
import subprocess
import sys

SOURCE = "#include <allocscope/define_once/malloc_definitions.hpp>\n"


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    headers, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    compiler = [os.environ.get("ALLOCSCOPE_CXX", "c++"), "-std=c++17", f"-I{headers}"]
    source = folder / "malloc_alone.cpp"
    library = folder / "malloc_alone.so"
    source.write_text(SOURCE, encoding="ascii")
    run(*compiler, "-O2", "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra",
        "-Werror", str(source), "-o", str(library), "-nodefaultlibs", "-lm", "-lc", "-Wl,-z,defs")
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", str(library)))
    foreign = [name for name in needed if not re.match(r"lib[cm]\.so|ld-linux", name)]
    if foreign:
        sys.exit(f"it needs more than the C library: {foreign}")
    if "GLIBC_PRIVATE" in run("readelf", "-V", str(library)):
        sys.exit("it uses names that glibc may change in any release")
    tls = re.search(r"TLS +\S+ \S+ \S+ \S+ (\S+)", run("readelf", "-lW", str(library)))
    if tls and int(tls.group(1), 16) > 256:
        sys.exit(f"{int(tls.group(1), 16)} bytes of each thread's static storage")
    if "__tls_get_addr" in run("readelf", "-rW", str(library)):
        sys.exit("a thread's first use of its storage would allocate")
    here = run("sort", __file__)
    there = run("sort", __file__, env={**os.environ, "LD_PRELOAD": str(library)})
    if here != there:
        sys.exit("sort has another result with the library preloaded")
    sanitized = folder / "malloc_sanitized.o"
    run(*compiler, "-fsanitize=address", "-c", str(source), "-o", str(sanitized))
    defined = re.findall(r" T (\w+)", run("nm", str(sanitized)))
    if "malloc" in defined or "free" in defined:
        sys.exit("malloc is replaced under AddressSanitizer")
    print("a library with malloc alone")


if __name__ == "__main__":
    main()
