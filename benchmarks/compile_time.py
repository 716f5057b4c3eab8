#!/usr/bin/env python3
"""What does #include <allocscope/allocscope.hpp> add to the compilation of a file?

Compiles an empty file and one with only the include in it, in turns, at -O0, and prints the median
difference for each compiler. Processor time of the compiler and the programs it starts is compared:
it does not move when the machine is busy. Beside it stands what the common std headers cost.

    compile_time.py [--smoke] [--tsv] [--runs N] [--compilers g++,clang++]
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


def compile_once(compiler, source, folder):
    """Milliseconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([compiler, "-std=c++17", "-O0", "-I", str(INCLUDE_FOLDER), "-c", str(source),
                    "-o", os.path.join(folder, "out.o")], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def measure(compiler, runs, folder):
    """{name: [milliseconds more than the empty file compiled right before]}"""
    differences = {name: [] for name in SOURCES if name != "empty"}
    paths = {}
    for number, (name, text) in enumerate(SOURCES.items()):
        paths[name] = pathlib.Path(folder, f"source_{number}.cpp")
        paths[name].write_text(text, encoding="ascii")
    for _ in range(runs):
        for name in differences:
            empty = compile_once(compiler, paths["empty"], folder)
            differences[name].append(compile_once(compiler, paths[name], folder) - empty)
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--tsv", action="store_true")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--compilers", default="g++,clang++")
    options = parser.parse_args()
    runs = 1 if options.smoke else options.runs
    headlines = []
    question = "What does the include add to the compilation of a file?"
    print(f"about\tcompile_time\t{question}\t" if options.tsv else question)
    for compiler in filter(shutil.which, options.compilers.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            differences = measure(compiler, runs, folder)
        for name, seen in differences.items():
            middle = statistics.median(seen)
            low, _, high = statistics.quantiles(seen, n=4) if len(seen) > 1 else [middle] * 3
            target = TARGET_MS if name == "allocscope.hpp" else 0
            verdict = ("met" if middle <= target else "missed") if target else ""
            if options.tsv:
                print(f"row\tcompile_time\t{compiler}, {name}\tms\t{middle:.4f}\t{low:.4f}\t"
                      f"{high:.4f}\t\t\t\t{target:.4f}\t{verdict}")
                continue
            print(f"  {compiler + ', ' + name:<30} {middle:8.1f} ms"
                  f"  quartiles {low:.1f} .. {high:.1f}"
                  + (f"  target {target} ms  {verdict}" if target else ""))
            if target:
                headlines.append(f"{compiler} {middle:.0f} ms (target {target} ms, {verdict})")
    if not options.tsv:
        print("headline: #include <allocscope/allocscope.hpp> adds " + "; ".join(headlines))


if __name__ == "__main__":
    main()
