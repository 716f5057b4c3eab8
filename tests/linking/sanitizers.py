"""A program with the hooks links with the sanitizers that no preset builds, and counts all.

The preset asan is clang++'s AddressSanitizer and UndefinedBehaviorSanitizer, tsan g++'s
ThreadSanitizer: here are those of the other compiler. g++'s UndefinedBehaviorSanitizer, with which
the hooks take three times as long to compile, is tried in a soak. clang++ 14 links operators of its
own into a program with ThreadSanitizer, and no program can define them a second time. clang leaves
them out, as docs/limits.md says.
"""
import os
import sys

from flags_and_linkers import EVERYTHING
from toolchain import LIBRARIES, SKIPPED, WARNINGS, bench, check_all, expect_in, run

# compiler, sanitizers, and the command that links
IS_SOAK = "ALLOCSCOPE_TEST_SOAK" in os.environ
CASES = [
    ("g++", "address,undefined" if IS_SOAK else "address", ["g++"]),
    ("clang++", "thread", ["clang", "-lstdc++", "-lm"]),
]


def check(tools, compiler, sanitizers, linker, *libraries):
    flags = ["-O0", "-g1", f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all"]
    program = tools.link(linker, tools.folder(f"sanitizers {compiler} {sanitizers}") / "probe",
                         flags[2], tools.compile(compiler, "probe.cpp", *flags, *WARNINGS),
                         *libraries)
    output = run([program]).stdout
    expect_in("not recording: \"\"\n", output)
    expect_in(EVERYTHING, output)


def main():
    tools = bench()
    found = [(compiler, sanitizers, linker) for compiler, sanitizers, linker in CASES
             if compiler in tools.compilers
             and tools.can_link(linker[0], f"-fsanitize={sanitizers}", *linker[1:], *LIBRARIES)]
    if not found:
        print("skipped: no compiler with sanitizers found")
        sys.exit(SKIPPED)
    check_all([(f"{compiler} {sanitizers}",
                lambda c=compiler, s=sanitizers, how=linker: check(tools, c, s, *how))
               for compiler, sanitizers, linker in found])


if __name__ == "__main__":
    main()
