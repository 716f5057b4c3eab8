#!/usr/bin/env python3
"""exactness.py [--quick] [--json PATH] [--list] [--packages] [--differences] [part of a name ...]

Runs the programs of exactness.toml and compares what allocscope counts with what two judges count
that do not know of it: Valgrind's "total heap usage" and counting_shim.cpp. Allocations, frees and
bytes must be equal exactly, or differ by what the list explains.

--quick        the dozen that says so in the list; Valgrind only for those with "valgrind"
--differences  where the two went apart: the sizes asked for, from both sides
--packages     the Debian packages that a full run needs
--json PATH    every number

A few programs depend on how many digits the number of their process has, or on the minute: run
those that failed once more by their names, on a quiet machine.
Prints a markdown table; the last line is "N passed, N failed, N left out".
Exit code 0 when nothing failed, 77 when there is nothing to compare with.
"""
import argparse
import ctypes
import difflib
import functools
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import inputs
from judges import HERE, NAMES, PATH, cannot_judge, find_allocscope, judges
from lists import read_list

MOST_EVENTS = 3_000_000
CANNOT_RUN_HERE = 77
FIELDS = {"name", "package", "command", "setup", "stdin", "quick", "differs", "time_stands_still",
          "environment", "unaware", "exit"}
LOADER = "/lib64/ld-linux-x86-64.so.2"
# A request to Valgrind: four rotations of rdi by 128 bits together, and xchg rbx, rbx. All that is
# nothing to a processor, so the one who asks learns that Valgrind is not there.
REQUEST = bytes.fromhex("48c1c703 48c1c70d 48c1c73d 48c1c733 4887db")
NOTHING = b"\x90" * len(REQUEST)


class left_out(Exception):
    pass


def resolve(command):
    """The words of a command, the first as an absolute path, unless the setup has made it."""
    words = shlex.split(command)
    if words[0].startswith("./"):
        return words
    found = shutil.which(words[0], path=PATH)
    if found is None:  # cc1 and its like
        asked = subprocess.run(["gcc", f"-print-prog-name={words[0]}"], capture_output=True,
                               text=True)
        found = shutil.which(asked.stdout.strip())
    if found is None:
        raise left_out(f"{words[0]} is not installed")
    return [found, *words[1:]]


def write_unaware(name, folder):
    """A copy of a library that never learns that it runs under Valgrind."""
    for path in pathlib.Path("/usr/lib/x86_64-linux-gnu"), pathlib.Path("/usr/lib64"):
        if (path / name).exists():
            code = (path / name).read_bytes()
            if REQUEST not in code:
                sys.exit(f"{name} asks Valgrind nothing")
            (folder / name).write_bytes(code.replace(REQUEST, NOTHING))
            return
    raise left_out(f"{name} is not installed")


class workshop:
    """Runs one program after the other, each time in the same folder, newly filled."""

    def __init__(self, folder, all_judges):
        self.judges = all_judges
        self.pristine = folder / "pristine"
        self.prepared = folder / "prepared"
        self.place = folder / "place"
        self.unaware = folder / "unaware"
        self.pristine.mkdir()
        inputs.write_all(self.pristine)

    def prepare(self, program):
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        shutil.rmtree(self.prepared, ignore_errors=True)
        shutil.copytree(self.pristine, self.prepared)
        shutil.rmtree(self.unaware, ignore_errors=True)
        self.unaware.mkdir()
        for name in program.get("unaware", []):
            write_unaware(name, self.unaware)
        if "setup" in program:
            done = subprocess.run(["bash", "-ec", program["setup"]], cwd=self.prepared, text=True,
                                  capture_output=True,
                                  env={**os.environ, "HOME": str(self.prepared), "LC_ALL": "C"})
            if done.returncode != 0:
                raise left_out(f"its setup fails: {done.stderr.strip()[-200:]}")
            inputs.set_times(self.prepared)

    def run(self, judge, program, events=0):
        inputs.restore(self.place, self.prepared)
        stdin = self.place / program["stdin"] if "stdin" in program else None
        library = str(self.judges.build_library("frozen_time")) \
            if program.get("time_stands_still") else ""
        environment = dict(program.get("environment", {}))
        if "unaware" in program:
            environment["LD_LIBRARY_PATH"] = str(self.unaware)
        return self.judges.judge(judge, resolve(program["command"]), library, cwd=self.place,
                                 stdin=stdin, environment=environment, events=events)


def signal_stack_beyond_valgrinds(at_least):
    """sysconf(_SC_SIGSTKSZ) is four times what the kernel says that a signal needs, but 8 KiB under
    Valgrind, which does not hand that on. at_least: a program that takes more, if that is less."""
    at_minsigstksz = 51
    least = ctypes.CDLL(None).getauxval(at_minsigstksz)
    return max(4 * least, 8192, at_least) - max(8192, at_least)


def library_folders(watched_by):
    """In how many folders the loader looks for a library on each path that a library names: one for
    each level of the processor, and one for each choice of its older names for processors."""
    said = subprocess.run([*watched_by, LOADER, "--help"], capture_output=True, text=True)
    levels, _, older = said.stdout.partition("Legacy HWCAP subdirectories")
    return levels.count("(supported, searched)") + 2 ** older.count("supported, searched)")


@functools.lru_cache
def bytes_of_folders(valgrind):
    """What the loader takes for the marks of such folders beyond what it takes under Valgrind,
    whose processor is another."""
    nothing_added = [valgrind, "--tool=none", "-q"]
    return 4 * (library_folders([]) - library_folders(nothing_added))


def bytes_of(cause, words):
    """The bytes of a cause, which may be a word for what this machine or this run decides."""
    size = cause.get("bytes_allocated", 0)
    if size == "signal_stack":
        return signal_stack_beyond_valgrinds(cause.get("at_least", 0))
    if size == "library_folders":
        return bytes_of_folders(words["valgrind"])
    return words[size] if isinstance(size, str) else size


def explained_by(causes, subject, truth, words):
    """Every difference between the two that these causes together can make."""
    possible = {(0, 0, 0)}
    for each in causes:
        if each["seen_by"] not in (subject, truth, "any"):
            continue
        one = [each.get("allocations", 0), each.get("frees", 0), bytes_of(each, words)]
        most = each.get("up_to", 0)
        times = range(-most, most + 1) if most else (each.get("times", 1),)
        possible = {tuple(a + number * b for a, b in zip(before, one))
                    for before in possible for number in times}
    return possible


def verdict_of(counts, truth, explained):
    """(word, what is shown) for one comparison."""
    if counts is None or truth is None:
        return "failed", "no counts"
    difference = tuple(mine - theirs for mine, theirs in zip(counts, truth))
    shown = "/".join(f"{each:+d}" for each in difference)
    if difference == (0, 0, 0):
        return ("equal", "equal") if difference in explained else \
            ("failed", "equal, but the list explains a difference")
    return ("explained" if difference in explained else "failed"), shown


def examine(shop, program, subject, truths):
    """A row of the table: what each judge counted, and what follows."""
    shop.prepare(program)
    row = {"name": program["name"], "judges": {}, "verdicts": {}, "word": "equal"}
    mine = shop.run(subject, program)
    row["judges"][subject] = mine.counts
    if mine.code not in (0, 1, program.get("exit")):
        raise left_out(f"exit code {mine.code}: {mine.stderr.decode(errors='replace')[-200:]}")
    words = {"rounded": 0, "valgrind": shop.judges.valgrind}
    for truth in truths:
        theirs = shop.run(truth, program)
        row["judges"][truth] = theirs.counts
        if truth == "shim":
            words["rounded"] = theirs.rounded
        explained = explained_by(program.get("differs", []), subject, truth, words)
        word, shown = verdict_of(mine.counts, theirs.counts, explained)
        if theirs.code != mine.code:
            word, shown = "failed", f"exit code {mine.code}, under {truth} {theirs.code}"
        row["verdicts"][truth] = shown
        if word == "failed" or row["word"] == "equal":
            row["word"] = word
    return row


def show_differences(shop, program):
    """The events of both sides, where they differ."""
    shop.prepare(program)
    mine = shop.run("shim", program, MOST_EVENTS)
    theirs = shop.run("valgrind", program, MOST_EVENTS)
    print(f"== {program['name']}: shim {mine.counts}, Valgrind {theirs.counts}")
    lines = difflib.unified_diff(theirs.events[:60_000], mine.events[:60_000], "valgrind", "shim",
                                 lineterm="", n=3)
    for number, line in enumerate(lines):
        if number > 200:
            print("...")
            break
        print(line)


def print_row(row, subject):
    counts = row["judges"][subject]
    shown = " | ".join(f"{each:,}" for each in counts) if counts else "- | - | -"
    verdicts = ", ".join(f"{judge}: {text}" for judge, text in row["verdicts"].items())
    print(f"| {row['name']} | {shown} | {verdicts} | {row['word']} |", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--packages", action="store_true")
    parser.add_argument("--differences", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--subject", choices=("allocscope", "shim"), default="allocscope")
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    programs = read_list(HERE / "exactness.toml", "program", FIELDS, arguments.names,
                         arguments.quick)
    if arguments.packages or arguments.list:
        shown = {each["package"] for each in programs} if arguments.packages else \
            [each["name"] for each in programs]
        print("\n".join(sorted(shown)))
        return 0
    allocscope, valgrind = find_allocscope(), shutil.which("valgrind.bin")
    if arguments.subject == "allocscope" and allocscope is None and not arguments.differences:
        print("there is no allocscope to examine: set ALLOCSCOPE or ALLOCSCOPE_BUILD")
        return CANNOT_RUN_HERE
    with tempfile.TemporaryDirectory() as folder:
        all_judges = judges(folder, allocscope, valgrind)
        all_judges.build_shim()
        shop = workshop(pathlib.Path(folder), all_judges)
        if arguments.differences:
            for each in programs:
                show_differences(shop, each)
            return 0
        return compare_all(shop, programs, arguments, valgrind)


def compare_all(shop, programs, arguments, valgrind):
    subject = arguments.subject
    print(f"| program | allocations | frees | bytes | {subject} against | verdict |\n"
          "|---|---:|---:|---:|---|---|", flush=True)
    rows = []
    for program in programs:
        truths = ["shim"] if subject == "allocscope" else []
        if valgrind and (not arguments.quick or program["quick"] == "valgrind"):
            truths.append("valgrind")
        try:
            row = examine(shop, program, subject, truths)
            print_row(row, subject)
        except (left_out, cannot_judge, subprocess.TimeoutExpired) as error:
            row = {"name": program["name"], "word": "left out", "why": str(error)}
            print(f"| {program['name']} | - | - | - | {error} | left out |", flush=True)
        rows.append(row)
    for program in programs:
        for each in program.get("differs", []):
            numbers = "/".join(str(each.get(name, 0)) for name in NAMES)
            times = f" up to {each['up_to']} times" if "up_to" in each else \
                f" {each['times']} times" if "times" in each else ""
            print(f"\n{program['name']}, {numbers}{times}: {each['because'].strip()}")
    count = {word: sum(row["word"] == word for row in rows)
             for word in ("equal", "explained", "failed", "left out")}
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows, "count": count}, indent=1) + "\n")
    print(f"\n{count['equal']} are equal, {count['explained']} differ as explained\n"
          f"{count['equal'] + count['explained']} passed, {count['failed']} failed, "
          f"{count['left out']} left out")
    return 0 if count["failed"] == 0 and count["equal"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
