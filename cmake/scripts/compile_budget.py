#!/usr/bin/env python3
"""What the once-per-program header costs its users: functions and bytes of code, room by room.

    compile_budget.py              compare with the numbers in compile_budget.tsv
    compile_budget.py --renew      write them anew
    compile_budget.py --self-test  a changed number is found

Compiles a file that includes define_once/operator_new_delete.hpp alone, with -O2 and with -O0, and
counts the functions of the object and the bytes of their code by the room of the header where they
stand. The numbers are exact and differ between compilers, so they hold for one version of g++;
others are not compared. A room's bytes may differ by one percent, so that mending a condition does
not renew the numbers; its functions may not differ. Compile time follows them: about 110 KB of code
a second at -O0 and in the cold rooms, 15 KB a second at -O2.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from source_tree import HEADERS, ROOT

SOURCE = "#include <allocscope/define_once/operator_new_delete.hpp>\n"
LEVELS = ("-O2", "-O0")
NUMBERS = pathlib.Path(__file__).with_name("compile_budget.tsv")
TOLERANCE = 0.01  # of a room's recorded bytes
CANNOT_RUN_HERE = 77
SYMBOL = re.compile(r"^[0-9a-f]+ ([0-9a-f]+) ([tTwWuV]) (\S+)(?:\t(.+):\d+)?$")


def compiler_version(compiler):
    if shutil.which(compiler) is None:
        return None
    return subprocess.run([compiler, "-dumpfullversion"], check=True, capture_output=True,
                          text=True).stdout.strip()


def room_of_source(path):
    if path is None:
        return "compiler"  # a function without a line, as the initialisation of the file
    found = re.search(re.escape(HEADERS) + r"(\w+)/\w+\.hpp$", path)
    if found:
        return found.group(1)
    return "std" if "/c++/" in path else "root"


def measure(compiler, level):
    """{room: (functions, bytes)} of the object."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "once.cpp")
        pathlib.Path(source).write_text(SOURCE, encoding="utf-8")
        target = os.path.join(folder, "once.o")
        subprocess.run([compiler, "-std=c++17", level, "-g1", "-fno-omit-frame-pointer",
                        "-I", str(ROOT / "include"), "-c", source, "-o", target], check=True)
        listed = subprocess.run(["nm", "-S", "-l", target], check=True, capture_output=True,
                                text=True).stdout
    sums = collections.defaultdict(lambda: [0, 0])
    for line in listed.splitlines():
        found = SYMBOL.match(line)
        if found is None or found.group(2) in "uV":
            continue
        here = sums[room_of_source(found.group(4))]
        here[0] += 1
        here[1] += int(found.group(1), 16)
    return {room: tuple(sum_) for room, sum_ in sums.items()}


def read_numbers(text):
    """(version, {(level, room): (functions, bytes)})"""
    version, numbers = None, {}
    for line in text.splitlines():
        if line.startswith("# g++ "):
            version = line[len("# g++ "):]
        elif line and line[0] != "#":
            level, room, functions, size = line.split("\t")
            numbers[level, room] = (int(functions), int(size))
    return version, numbers


def written(version, numbers):
    lines = ["# Written by cmake/scripts/compile_budget.py --renew: level, room, functions, bytes.",
             f"# g++ {version}"]
    for level in LEVELS:
        rooms = sorted(room for at, room in numbers if at == level)
        lines += [f"{level}\t{room}\t{numbers[level, room][0]}\t{numbers[level, room][1]}"
                  for room in rooms]
    return "\n".join(lines) + "\n"


def differences(wanted, seen):
    """A sentence for each room whose numbers are further from the recorded ones than allowed."""
    sentences = []
    for level, room in sorted(set(wanted) | set(seen)):
        before, now = wanted.get((level, room), (0, 0)), seen.get((level, room), (0, 0))
        if before[0] != now[0] or abs(now[1] - before[1]) > TOLERANCE * before[1]:
            sentences.append(f"{level} {room}/: {now[0]} functions with {now[1]} bytes, recorded"
                             f" are {before[0]} with {before[1]}")
    return sentences


def self_test():
    numbers = {("-O2", "naming"): (3, 400), ("-O0", "naming"): (5, 900)}
    more = dict(numbers)
    more["-O2", "naming"] = (4, 400)
    within, beyond = dict(numbers), dict(numbers)
    within["-O2", "naming"] = (3, 404)
    beyond["-O2", "naming"] = (3, 395)
    checks = {
        "what is written is read back": read_numbers(written("1.2", numbers)) == ("1.2", numbers),
        "equal numbers are no difference": differences(numbers, numbers) == [],
        "one function more is": len(differences(numbers, more)) == 1,
        "one percent of the bytes is none": differences(numbers, within) == [],
        "more than one percent is": len(differences(numbers, beyond)) == 1,
        "a new room is": len(differences({}, numbers)) == 2,
        "a header is counted for its room":
            room_of_source("/x/include/allocscope/naming/name_book.hpp") == "naming",
        "the standard library is told apart":
            room_of_source("/usr/include/c++/12/bits/stl_vector.h") == "std",
    }
    for sentence, holds in checks.items():
        print(("ok      " if holds else "FAILED  ") + sentence)
    return 0 if all(checks.values()) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    version = compiler_version(arguments.compiler)
    recorded, wanted = read_numbers(NUMBERS.read_text(encoding="utf-8")
                                    if NUMBERS.is_file() else "")
    if version is None or (version != recorded and not arguments.renew):
        print(f"skipped: the numbers were recorded with g++ {recorded}, this is {version}")
        return CANNOT_RUN_HERE
    seen = {(level, room): sums for level in LEVELS
            for room, sums in measure(arguments.compiler, level).items()}
    if arguments.renew:
        NUMBERS.write_text(written(version, seen), encoding="utf-8")
    problems = differences(read_numbers(NUMBERS.read_text(encoding="utf-8"))[1], seen)
    for level in LEVELS:
        sums = [sums for (at, _), sums in seen.items() if at == level]
        print(f"{level}: {sum(s[0] for s in sums)} functions, {sum(s[1] for s in sums)} bytes")
    for problem in problems:
        print(problem)
    if problems:
        print("    why: every program that uses allocscope compiles this; what windows and rows do"
              " not need belongs behind a door of its own\n"
              "    fix: move it there, or record the new numbers and say in the commit what they"
              " buy: python3 cmake/scripts/compile_budget.py --renew")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
