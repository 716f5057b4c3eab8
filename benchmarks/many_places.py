#!/usr/bin/env python3
"""How long does the first report on very many places take, and how much memory?

    many_places.py [--include FOLDER] [--compiler CXX] [--functions N] [--check]

Generates four units with N functions of 100 allocations each, every one at a line of its own,
compiles them with -O2 -g and prints what the first and the second report take. N = 250 makes
100,000 lines, and a third more rows, because a string has two allocations; compiling them takes
minutes.

--check counts the instructions of both reports on 4,000 lines with Valgrind's callgrind, and fails
if they are more than 1 % above the number at GOLDEN, or below: a saving is kept by renewing the
number. With another compiler the exit code is 77.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from instructions_per_pair import VALGRIND, collected, compiler_version

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNITS, CALLS = 4, 100
# Millions of instructions of both reports on 4,000 lines, with this compiler.
GOLDEN, GOLDEN_COMPILER, FUNCTIONS_OF_CHECK = 316.6, "g++ 12.2.0", 10
HEAD = """#include <memory>
#include <string>
extern void keep(const void*);
namespace {
struct item {
    long number;
    explicit item(long i) : number(i) {}
};
}
"""
EXPRESSIONS = ["new item(%d)", "new std::string(%d, 'a')", "std::make_unique<item>(%d).release()"]
MAIN = """#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>
#include <cstdio>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>
%(declarations)s
void keep(const void* p) { __asm__ volatile("" : : "r"(p) : "memory"); }
static double seconds() {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           double(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}
static long mebibytes() {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss >> 10;
}
static double mebibytes_now() {
    long pages = 0, resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%%ld %%ld", &pages, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    return double(resident) * double(sysconf(_SC_PAGESIZE)) / (1 << 20);
}
int main() {
    const allocscope::scope window{"many places"};
%(calls)s
    const long before = mebibytes();
    const double before_now = mebibytes_now();
    for (const char* which : {"first", "second"}) {
        const double begin = seconds();
        const allocscope::snapshot seen = window.stats();
        std::printf("%%s report: %%zu rows, %%.2f s of processor time, %%ld MiB more at most\\n",
                    which, seen.size(), seconds() - begin, mebibytes() - before);
    }
    std::printf("kept without a snapshot: %%.1f MiB\\n", mebibytes_now() - before_now);
}
"""


def unit(number, functions):
    lines = [HEAD]
    for function in range(functions):
        lines.append(f"__attribute__((noinline)) void work_{number}_{function}() {{")
        for call in range(CALLS):
            lines.append(f"    keep({EXPRESSIONS[call % len(EXPRESSIONS)] % (call + 20)});")
        lines.append("}")
    lines.append(f"void unit_{number}() {{")
    lines += [f"    work_{number}_{function}();" for function in range(functions)]
    lines.append("}\n")
    return "\n".join(lines)


def build(folder, compiler, include, functions):
    (folder / "main.cpp").write_text(MAIN % {
        "declarations": "\n".join(f"void unit_{i}();" for i in range(UNITS)),
        "calls": "\n".join(f"    unit_{i}();" for i in range(UNITS))}, encoding="utf-8")
    sources = ["main.cpp"]
    for number in range(UNITS):
        sources.append(f"unit_{number}.cpp")
        (folder / sources[-1]).write_text(unit(number, functions), encoding="utf-8")
    subprocess.run([compiler, "-std=c++17", "-O2", "-g", "-I", include, *sources, "-o", "program",
                    "-pthread"], cwd=folder, check=True)


def check(folder):
    """Whether both reports take as many instructions as they should."""
    # Which functions of libc for texts are used depends on the processor.
    plain = os.environ | {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-BMI2"}
    counted = collected([*VALGRIND, "--toggle-collect=*engine_stats*", folder / "program"],
                        plain) / 1e6
    print(f"both reports on {UNITS * CALLS * FUNCTIONS_OF_CHECK} lines: {counted:.1f} million"
          f" instructions, GOLDEN is {GOLDEN}")
    if abs(counted / GOLDEN - 1) <= 0.01:
        return 0
    print("slower" if counted > GOLDEN else f"faster: keep it, renew the number in {__file__}")
    return 1


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--include", default=str(ROOT / "include"))
    asked.add_argument("--compiler", default="g++")
    asked.add_argument("--functions", type=int, default=250)
    asked.add_argument("--check", action="store_true")
    wanted = asked.parse_args()
    if wanted.check and (compiler_version() != GOLDEN_COMPILER or not shutil.which("valgrind")):
        print(f"skipped: it takes valgrind and {GOLDEN_COMPILER}; this is {compiler_version()}")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder, wanted.compiler, wanted.include,
              FUNCTIONS_OF_CHECK if wanted.check else wanted.functions)
        # The sources must still be there when it runs: types are read from them.
        if wanted.check:
            return check(folder)
        return subprocess.run([folder / "program"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
