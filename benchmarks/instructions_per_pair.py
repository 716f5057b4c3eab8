#!/usr/bin/env python3
"""How many instructions does one malloc/free pair take in each mode?

Counts with Valgrind's callgrind, which no other load on the machine disturbs: a loop is run with
some steps and with more, and the difference is divided by the difference in steps, so that start
and end of the process and of the window drop out. Instructions are not time - a cache miss is
none - but they are the same in every run: the way to judge a small change of the hot path.

    instructions_per_pair.py BUILD_FOLDER [--smoke] [--tsv] [--loops churn,peers,innermost]

BUILD_FOLDER is the one that has one_loop in it.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

MODES = ["bare", "library", "off", "counters", "sampled", "exact 1", "exact 8", "exact 16",
         "exact 24"]
# Callgrind leaves the program's own operator new in place; the option says so also for tools and
# versions that would put Valgrind's there.
VALGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
            "--soname-synonyms=somalloc=nouserintercepts"]


def instructions(program, loop, mode, steps):
    done = subprocess.run(VALGRIND + [program, loop, *mode.split(), str(steps)],
                          capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"{program} {loop} {mode} {steps} failed under valgrind:\n{done.stderr[-2000:]}")
    return int(found.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build_folder", type=pathlib.Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--tsv", action="store_true")
    parser.add_argument("--loops", default="churn,peers,innermost")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed. On Debian: apt-get install valgrind")
    program = str(options.build_folder.resolve() / "one_loop")
    # Multiples of 4096: the loop through 4096 stacks runs whole rounds.
    few, many = (4096, 8192) if options.smoke else (10 * 4096, 60 * 4096)
    question = "How many instructions does one malloc/free pair take?"
    print(f"about\tinstructions_per_pair\t{question}\t" if options.tsv else question)
    for loop in options.loops.split(","):
        bare = None
        for mode in MODES:
            count = (instructions(program, loop, mode, many)
                     - instructions(program, loop, mode, few)) / (many - few)
            bare = bare or count
            if options.tsv:
                print(f"row\tinstructions_per_pair\t{loop}, {mode}\tinstructions\t{count:.4f}"
                      "\t0\t0\t\t\t\t0\t", flush=True)
            else:
                print(f"  {loop + ', ' + mode:<24} {count:8.1f} instructions  {count / bare:5.2f}x"
                      f"  +{count - bare:.1f}", flush=True)


if __name__ == "__main__":
    main()
