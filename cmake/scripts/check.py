#!/usr/bin/env python3
"""Runs the lints.

    check.py                 all of them, with times
    check.py floors cards    some
    check.py --list          their names
    check.py --self-test     each lint fails on its bad samples and passes its good one
    check.py --fix-format    run clang-format on all sources

Each problem says what is wrong, why the rule exists, and the edit that mends it.
"""

import os
import shutil
import subprocess
import sys
import time

from lints import hazards, headers, rooms, texts
from source_tree import Problem, Tree, read_repository

CHECKS = {**rooms.CHECKS, **headers.CHECKS, **texts.CHECKS, **hazards.CHECKS}
FORMATTERS = ("clang-format-14", "clang-format")


def formatter():
    """clang-format 14: another version would format differently."""
    for name in FORMATTERS:
        program = shutil.which(name)
        if program:
            version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if "version 14." in version:
                return program
    return None


def formatted_files(tree):
    return [path for path, _ in tree.with_ending(".hpp", ".cpp")
            if not path.startswith("single_include/")]


def format_problems(tree, program, names):
    problems = []
    if not names:
        return problems
    run = subprocess.run([program, "--dry-run", "--ferror-limit=1", *names], cwd=tree.root,
                         capture_output=True, text=True)
    for line in run.stderr.split("\n"):
        if "[-Wclang-format-violations]" in line:
            path, number = line.split(":")[:2]
            problems.append(Problem(path, number, "is not formatted",
                                    "nobody should have to discuss layout",
                                    f"clang-format-14 -i {path}"))
    return problems


def check_format(tree):
    program = formatter()
    if program is None:
        print("skipped: clang-format 14 is not installed (apt-get install clang-format-14)")
        sys.exit(77)
    return format_problems(tree, program, formatted_files(tree))


def self_test():
    failures = 0
    for name, (check, bad_samples, good_sample) in CHECKS.items():
        for number, sample in enumerate(bad_samples, 1):
            if not check(Tree(sample)):
                failures += 1
                print(f"FAILED  {name}: finds nothing in its bad sample {number}")
        for problem in check(Tree(good_sample)):
            failures += 1
            print(f"FAILED  {name}: complains about its good sample: {problem}")
        print(f"ok      {name}: {len(bad_samples)} bad samples, 1 good")
    program = formatter()
    if program:
        run = subprocess.run([program, "--dry-run", "-Werror"], input="int  a ;\n", text=True,
                             capture_output=True)
        if run.returncode == 0:
            failures += 1
            print("FAILED  format: clang-format accepts `int  a ;`")
    return 1 if failures else 0


def main(arguments):
    names = [*CHECKS, "format"]
    if arguments == ["--list"]:
        print("\n".join(names))
        return 0
    if arguments == ["--self-test"]:
        return self_test()
    tree = read_repository()
    if arguments == ["--fix-format"]:
        program = formatter()
        if program is None:
            print("clang-format 14 is not installed: apt-get install clang-format-14")
            return 1
        return subprocess.run([program, "-i", *formatted_files(tree)], cwd=tree.root).returncode
    unknown = [name for name in arguments if name not in names]
    if unknown:
        print(f"no such lint: {' '.join(unknown)}. There are: {' '.join(names)}")
        return 2
    count = 0
    for name in arguments or names:
        start = time.monotonic()
        problems = check_format(tree) if name == "format" else CHECKS[name][0](tree)
        for problem in problems:
            print(problem)
        count += len(problems)
        print(f"{name}: {len(problems)} problems, {time.monotonic() - start:.2f} s")
    return 1 if count else 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    sys.exit(main(sys.argv[1:]))
