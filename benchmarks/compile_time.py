#!/usr/bin/env python3
"""What does #include <allocscope/allocscope.hpp> add to the compilation of a file?

Compiles an empty file and one with only the include in it, in turns, at -O0, and prints the median
difference for each compiler. Processor time of the compiler and the programs it starts is compared:
waiting for a processor is not in it. Two hyper-threads of one core still slow each other, so read
the rows of one run against each other. Beside it stands what the common std headers cost.

define_once is the one file of a program that compiles the whole machinery; it is also measured as
users build it, -O2 -g, in at most three runs, and left out by --smoke.

    compile_time.py [--smoke] [--tsv] [--runs N] [--compilers g++,clang++] [--include FOLDER ...]

Two folders after --include compare two states of the headers: the same rows for each, their runs
in turns, so that a change of the machine's load meets both.
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile

TARGET_MS = 60
INCLUDE_FOLDER = pathlib.Path(__file__).resolve().parent.parent / "include"
SOURCES = {
    "empty": "",
    "allocscope.hpp": "#include <allocscope/allocscope.hpp>\n",
    "<vector>": "#include <vector>\n",
    "<string>": "#include <string>\n",
    "<iostream>": "#include <iostream>\n",
    "define_once": "#include <allocscope/define_once/operator_new_delete.hpp>\n",
}
UNOPTIMISED = ("-O0",)
AS_USERS_BUILD = ("-O2", "-g", "-fno-omit-frame-pointer")
MOST_LONG_RUNS = 3


def compile_once(compiler, flags, include, source, folder):
    """Milliseconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([compiler, "-std=c++17", *flags, "-I", str(include), "-c", str(source),
                    "-o", os.path.join(folder, "out.o")], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def cases(includes, smoke):
    """(name, source, flags, include folder), the folders in turns."""
    made = []
    for name in SOURCES:
        if name == "empty" or (name == "define_once" and smoke):
            continue
        for include in includes:
            label = f" of {include}" if len(includes) > 1 else ""
            made.append((name + label, name, UNOPTIMISED, include))
    for include in [] if smoke else includes:
        label = f" of {include}" if len(includes) > 1 else ""
        made.append((f"define_once -O2 -g{label}", "define_once", AS_USERS_BUILD, include))
    return made


def measure(compiler, runs, includes, smoke):
    """{name: [milliseconds more than the empty file compiled right before]}"""
    wanted = cases(includes, smoke)
    differences = {name: [] for name, _, _, _ in wanted}
    paths = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (source, text) in enumerate(SOURCES.items()):
            paths[source] = pathlib.Path(folder, f"source_{number}.cpp")
            paths[source].write_text(text, encoding="ascii")
        for run in range(runs):
            for name, source, flags, include in wanted:
                if flags is AS_USERS_BUILD and run >= MOST_LONG_RUNS:
                    continue
                empty = compile_once(compiler, flags, include, paths["empty"], folder)
                full = compile_once(compiler, flags, include, paths[source], folder)
                differences[name].append(full - empty)
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--tsv", action="store_true")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--compilers", default="g++,clang++")
    parser.add_argument("--include", nargs="+", type=pathlib.Path, default=[INCLUDE_FOLDER])
    options = parser.parse_args()
    runs = 1 if options.smoke else options.runs
    headlines = []
    question = "What does the include add to the compilation of a file?"
    print(f"about\tcompile_time\t{question}\t" if options.tsv else question)
    for compiler in filter(shutil.which, options.compilers.split(",")):
        differences = measure(compiler, runs, options.include, options.smoke)
        for name, seen in differences.items():
            middle = statistics.median(seen)
            low, _, high = statistics.quantiles(seen, n=4) if len(seen) > 1 else [middle] * 3
            target = TARGET_MS if name.startswith("allocscope.hpp") else 0
            verdict = ("met" if middle <= target else "missed") if target else ""
            if options.tsv:
                print(f"row\tcompile_time\t{compiler}, {name}\tms\t{middle:.4f}\t{low:.4f}\t"
                      f"{high:.4f}\t\t\t\t{target:.4f}\t{verdict}")
                continue
            print(f"  {compiler + ', ' + name:<32} {middle:8.1f} ms"
                  f"  quartiles {low:.1f} .. {high:.1f}"
                  + (f"  target {target} ms  {verdict}" if target else ""))
            if target:
                headlines.append(f"{compiler} {middle:.0f} ms (target {target} ms, {verdict})")
    if not options.tsv:
        print("headline: #include <allocscope/allocscope.hpp> adds " + "; ".join(headlines))


if __name__ == "__main__":
    main()
