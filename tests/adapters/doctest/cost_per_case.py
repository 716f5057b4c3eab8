#!/usr/bin/env python3
"""cost_per_case.py [--cases N] [--rounds N] [--compiler COMPILER]: what the check of a case costs.

Compiles a suite of small cases twice, without and with ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE(), both
with the hooks, runs both in turn, and prints medians of the processor time of the whole program.
Not a ctest entry: tests never assert a time.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
KINDS = {
    "nothing but an assertion":
        "TEST_CASE(\"case {n}\") {{ const int n = {n}; CHECK(n == {n}); }}\n",
    "ten strings and three assertions":
        "TEST_CASE(\"case {n}\") {{ std::vector<std::string> many(10, std::string(50, 'a'));\n"
        "  CHECK(many.size() == 10); many.push_back(\"{n}\"); CHECK(many.back() == \"{n}\");\n"
        "  CHECK(many.front().size() == 50); }}\n",
    "two subcases":
        "TEST_CASE(\"case {n}\") {{ std::vector<int> many(10);\n"
        "  SUBCASE(\"a\") {{ many.resize(20); }}\n"
        "  SUBCASE(\"b\") {{ many.clear(); CHECK(many.empty()); }} }}\n",
}
FLAGS = ["-std=c++17", "-O2", "-g", "-I", str(ROOT / "include")]


def build(compiler, folder, kind, cases):
    source = folder / "suite.cpp"
    head = ("#ifdef CHECKED\n#include <allocscope/integrations/doctest.hpp>\n"
            "ALLOCSCOPE_DOCTEST_CHECK_EVERY_CASE();\n#else\n#include <doctest/doctest.h>\n#endif\n"
            "#include <string>\n#include <vector>\n")
    source.write_text(head + "".join(KINDS[kind].format(n=n) for n in range(cases)))
    programs = []
    for name, more in (("plain", []), ("checked", ["-DCHECKED"])):
        program = folder / name
        subprocess.run([compiler, *FLAGS, "-O0", *more, source, folder / "main.o",
                        folder / "hooks.o", "-o", program, "-pthread"], check=True)
        programs.append(program)
    return programs


def seconds(program):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "--minimal"], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--compiler", default=os.environ.get("ALLOCSCOPE_CXX", "g++"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for stem, text in (
                ("main", "#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN\n"
                         "#include <doctest/doctest.h>\n"),
                ("hooks", "#include <allocscope/define_once/operator_new_delete.hpp>\n")):
            (folder / f"{stem}.cpp").write_text(text)
            subprocess.run([arguments.compiler, *FLAGS, "-c", folder / f"{stem}.cpp",
                            "-o", folder / f"{stem}.o"], check=True)
        print(f"{arguments.cases} cases, medians of {arguments.rounds} runs of each program")
        for kind in KINDS:
            programs = build(arguments.compiler, folder, kind, arguments.cases)
            runs = [[seconds(program) for program in programs] for _ in range(arguments.rounds)]
            plain, checked = (statistics.median(column) for column in zip(*runs))
            extra = statistics.median(b - a for a, b in runs)
            print(f"{kind:34} {plain * 1e3:8.2f} ms  checked {checked * 1e3:8.2f} ms"
                  f"  {extra / arguments.cases * 1e6:6.2f} us a case")


if __name__ == "__main__":
    main()
