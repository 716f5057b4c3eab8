#!/usr/bin/env python3
"""How long does the first report on very many places take, and how much memory?

    many_places.py [--include FOLDER] [--compiler CXX] [--functions N]

Generates four units with N functions of 100 allocations each, every one at a line of its own,
compiles them with -O2 -g and prints what the first and the second report take. N = 250 makes
100,000 lines; compiling them takes minutes.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNITS, CALLS = 4, 100
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


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--include", default=str(ROOT / "include"))
    asked.add_argument("--compiler", default="g++")
    asked.add_argument("--functions", type=int, default=250)
    wanted = asked.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "main.cpp").write_text(MAIN % {
            "declarations": "\n".join(f"void unit_{i}();" for i in range(UNITS)),
            "calls": "\n".join(f"    unit_{i}();" for i in range(UNITS))}, encoding="utf-8")
        sources = ["main.cpp"]
        for number in range(UNITS):
            sources.append(f"unit_{number}.cpp")
            (folder / sources[-1]).write_text(unit(number, wanted.functions), encoding="utf-8")
        subprocess.run([wanted.compiler, "-std=c++17", "-O2", "-g", "-I", wanted.include, *sources,
                        "-o", "program", "-pthread"], cwd=folder, check=True)
        # The sources must still be there when it runs: types are read from them.
        return subprocess.run([folder / "program"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
