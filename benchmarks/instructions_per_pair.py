#!/usr/bin/env python3
"""How many instructions does one malloc/free pair take in each mode?

Counts with Valgrind's callgrind, which no other load on the machine disturbs: a loop is run with
some steps and with more, and the difference is divided by the difference in steps, so that start
and end of the process and of the window drop out. Instructions are not time - a cache miss is
none - but they are the same in every run: the way to judge a small change of the hot path.

    instructions_per_pair.py BUILD_FOLDER [--smoke] [--tsv] [--loops churn,peers,innermost]
    instructions_per_pair.py BUILD_FOLDER --check | --renew --program ALLOCSCOPE

BUILD_FOLDER is the one that has one_loop in it, and for --check one_loop_of_malloc and
one_loop_without_hooks, which ALLOCSCOPE, the command, records. --check compares with
golden_instructions.txt, which says what each mode may cost above bare malloc with one version of
g++. It fails when a mode takes over two instructions more, or fewer (a window that opens, counts
and closes: over forty): a saving is kept by renewing the file. With another compiler the exit
code is 77. CXX, or ALLOCSCOPE_CXX, is the compiler that built one_loop.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

MODES = ["bare", "library", "off", "counters", "sampled", "exact 1", "exact 8", "exact 16",
         "exact 24", "details 16"]
# What --check counts: enough to go through each way of the hot path once. The sampled mode without
# its samples, which fall by chance.
RARELY = f"sampled {1 << 40}"
CHECKED = {"churn": ["off", RARELY, "counters", "exact 1", "exact 16", "exact 24"],
           "peers": ["exact 16"], "innermost": ["exact 16"], "handed": ["counters", "exact 16"],
           "windows": ["off"]}
# A pair of malloc and free, replaced themselves: what it costs above glibc's own.
OF_MALLOC = {"churn": ["off", RARELY, "counters", "exact 16"]}
# The same under `allocscope run`, by the preload library. A child that is not followed has the
# library and is not recorded.
OF_PRELOAD = {"idle": ["--", "sh", "-c", '"$@"; exit $?', "sh"],
              "sampled": ["--record", "sampled", "--sample-bytes", str(1 << 40), "--"],
              "counters": ["--record", "counters", "--"], "exact 16": ["--frames", "16", "--"]}
GOLDEN = pathlib.Path(__file__).resolve().parent / "golden_instructions.txt"
TOLERANCE = 2
TOLERANCE_OF_A_WINDOW = 40  # of thousands
# Callgrind leaves the program's own operator new in place; the option says so also for tools and
# versions that would put Valgrind's there.
VALGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
            "--soname-synonyms=somalloc=nouserintercepts"]


def collected(command, env=None):
    """The instructions that callgrind counts; the command begins with VALGRIND."""
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        words = " ".join(map(str, command))
        sys.exit(f"{words} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return int(found.group(1))


def instructions(program, loop, mode, steps, run=()):
    return collected([*run, *VALGRIND, program, loop, *mode.split(), str(steps)])


def per_pair(program, loop, mode, few, many, run=()):
    return (instructions(program, loop, mode, many, run)
            - instructions(program, loop, mode, few, run)) / (many - few)


def compiler_version():
    compiler = os.environ.get("ALLOCSCOPE_CXX") or os.environ.get("CXX") or "g++"
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    first = (done.stdout.splitlines() or ["unknown"])[0]
    found = re.match(r"(?:\S*g\+\+\S*|c\+\+) \(.*\) ([0-9.]+)", first)
    return f"g++ {found.group(1)}" if found else first


def above_bare(program, command):
    for name, checked, prefix in ((program, CHECKED, ""), (f"{program}_of_malloc", OF_MALLOC,
                                                           "malloc, ")):
        for loop, modes in checked.items():
            bare = per_pair(name, loop, "bare", 4096, 8192)
            for mode in modes:
                yield f"{prefix}{loop}, {mode}", per_pair(name, loop, mode, 4096, 8192) - bare
    name = f"{program}_without_hooks"
    bare = per_pair(name, "churn", "off", 4096, 8192)
    for mode, options in OF_PRELOAD.items():
        run = [command, "run", "--summary", *options]
        yield f"preloaded, churn, {mode}", per_pair(name, "churn", "off", 4096, 8192, run) - bare


def renew(program, command):
    lines = [compiler_version(),
             *(f"{name}\t{count:.1f}" for name, count in above_bare(program, command))]
    GOLDEN.write_text("\n".join(lines) + "\n", encoding="ascii")
    print("\n".join(lines))


def check(program, command):
    golden_compiler, *lines = GOLDEN.read_text(encoding="ascii").splitlines()
    golden = dict(line.split("\t") for line in lines)
    if compiler_version() != golden_compiler:
        print(f"skipped: the numbers are those of {golden_compiler}, this is {compiler_version()}")
        return 77
    counted = dict(above_bare(program, command))
    if set(counted) != set(golden):
        print(f"{GOLDEN.name} does not name the modes that are counted")
    wrong = set(counted) != set(golden)
    print(f"  {'instructions above bare malloc':<32} {'counted':>8} {'golden':>8}")
    for name, count in counted.items():
        difference = count - float(golden.get(name, "nan"))
        verdict = ""
        tolerance = TOLERANCE_OF_A_WINDOW if name.startswith("windows") else TOLERANCE
        if abs(difference) > tolerance:
            verdict = "  slower" if difference > 0 else "  faster: keep it, renew the number"
            wrong = True
        print(f"  {name:<32} {count:8.1f} {golden.get(name, '-'):>8}{verdict}")
    if wrong:
        print(f"To renew: {pathlib.Path(__file__).name} {pathlib.Path(program).parent} --renew"
              f" --program {command}")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build_folder", type=pathlib.Path)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--tsv", action="store_true")
    parser.add_argument("--loops", default="churn,peers,innermost")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--program", help="allocscope itself, for --check and --renew")
    options = parser.parse_args()
    if (options.check or options.renew) and not options.program:
        parser.error("--check and --renew count in allocscope, too: say where it is, --program")
    if not shutil.which("valgrind"):
        print("valgrind is not installed. On Debian: apt-get install valgrind")
        sys.exit(77 if options.check else 1)
    program = str(options.build_folder.resolve() / "one_loop")
    if options.renew:
        renew(program, options.program)
        return
    if options.check:
        sys.exit(check(program, options.program))
    # Multiples of 4096: the loop through 4096 stacks runs whole rounds.
    few, many = (4096, 8192) if options.smoke else (10 * 4096, 60 * 4096)
    question = "How many instructions does one malloc/free pair take?"
    print(f"about\tinstructions_per_pair\t{question}\t" if options.tsv else question)
    for loop in options.loops.split(","):
        bare = None
        for mode in MODES:
            count = per_pair(program, loop, mode, few, many)
            bare = bare or count
            if options.tsv:
                print(f"row\tinstructions_per_pair\t{loop}, {mode}\tinstructions\t{count:.4f}"
                      "\t0\t0\t\t\t\t0\t", flush=True)
            else:
                print(f"  {loop + ', ' + mode:<24} {count:8.1f} instructions  {count / bare:5.2f}x"
                      f"  +{count - bare:.1f}", flush=True)


if __name__ == "__main__":
    main()
