"""A program with the hooks links with clang's sanitizers as docs/limits.md says, and counts all.

clang++ 14 links operators of its own into a program with ThreadSanitizer, and no program can define
them a second time. clang leaves them out.
"""
import sys

from flags_and_linkers import EVERYTHING
from toolchain import LIBRARIES, SKIPPED, WARNINGS, bench, check_all, expect_in, run

# sanitizer, and the command that links
CASES = [
    ("address", ["clang++"]),
    ("undefined", ["clang++"]),
    ("thread", ["clang", "-lstdc++", "-lm"]),
]


def check(tools, sanitizer, linker, *libraries):
    flags = ["-O0", "-g1", f"-fsanitize={sanitizer}"]
    program = tools.link(linker, tools.folder(f"sanitizer {sanitizer}") / "probe", flags[-1],
                         tools.compile("clang++", "probe.cpp", *flags, *WARNINGS), *libraries)
    output = run([program]).stdout
    expect_in("not recording: \"\"\n", output)
    expect_in(EVERYTHING, output)


def main():
    tools = bench()
    found = [(sanitizer, linker) for sanitizer, linker in CASES
             if tools.can_link(linker[0], f"-fsanitize={sanitizer}", *linker[1:], *LIBRARIES)]
    if "clang++" not in tools.compilers or not found:
        print("skipped: no clang with sanitizers found")
        sys.exit(SKIPPED)
    check_all([(sanitizer, lambda sanitizer=sanitizer, linker=linker:
                check(tools, sanitizer, *linker)) for sanitizer, linker in found])


if __name__ == "__main__":
    main()
