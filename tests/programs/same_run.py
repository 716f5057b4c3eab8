#!/usr/bin/env python3
"""same_run.py [--quick] [--list] [--packages] [--times N] [part of a name ...]

Runs the programs of same_run.toml, whose counts differ from run to run: they have many threads,
compile while they run, or work until a client has had enough. So they cannot be run once under
allocscope and once under another judge. Here both count the same run:

    program -> counting_shim.cpp -> liballocscope_preload.so -> the C library

The shim counts each call and passes it on; the library records what arrives. Allocations, frees and
bytes must be equal exactly, whatever the threads did.

--quick     those that say so in the list
--packages  the Debian packages that a full run needs
--times N   each program so many times; without it, once

The last line is "N passed, N failed, N left out". Exit code 0 when none failed, 77 when there is
nothing to examine.
"""
import argparse
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile

import exactness
import inputs
from judges import HERE, NAMES, cannot_judge, find_allocscope, judges, quiet_child
from lists import read_list

SECONDS = 120
CANNOT_RUN_HERE = 77
FIELDS = {"name", "package", "command", "setup", "stdin", "environment", "client", "exit",
          "in_flight", "quick"}
# The shell is recorded as a program of its own, and becomes the program with the shim in front.
START = 'LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"'


class double_counter:
    def __init__(self, folder, allocscope):
        self.judges = judges(folder, allocscope)
        self.shim = self.judges.build_library("counting_shim", "-DALLOCSCOPE_SHIM_PASSES_ON")
        self.shop = exactness.workshop(folder, self.judges)
        self.reports = folder / "reports"
        self.reports.mkdir()

    def words(self, program):
        return [self.judges.allocscope, "run", "--children", "follow", "--format", "json",
                "--output", str(self.reports / "%p.%n"), "--", "sh", "-c", START, str(self.shim),
                *exactness.resolve(program["command"])]

    def run(self, program):
        """(what the shim counted, what allocscope counted) of one run."""
        shop, place = self.shop, self.shop.place
        inputs.restore(place, shop.prepared)
        for old in self.reports.iterdir():
            old.unlink()
        with open(self.judges.counters, "wb") as file:
            file.truncate(4096)
        variables = self.judges.environment("", place, program.get("environment"))
        source = place / program["stdin"] if "stdin" in program else os.devnull
        with open(source, "rb") as stdin, open(place / "stdout", "wb") as stdout, \
                open(place / "stderr", "wb") as stderr:
            child = subprocess.Popen(self.words(program), cwd=place, env=variables, stdin=stdin,
                                     stdout=stdout, stderr=stderr, start_new_session=True,
                                     preexec_fn=quiet_child)
            try:
                self.be_client(program, variables)
                code = child.wait(SECONDS)
            except subprocess.TimeoutExpired as error:
                raise cannot_judge("it came to no end") from error
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                child.wait()
        if code != program.get("exit", 0):
            said = (place / "stderr").read_text(errors="replace")[-300:]
            raise cannot_judge(f"exit code {code}: {said}")
        return self.counts()

    @staticmethod
    def be_client(program, variables):
        """A program that serves runs while its client does."""
        if "client" not in program:
            return
        alone = {name: value for name, value in variables.items()
                 if name not in ("LD_PRELOAD", "COUNTING_SHIM_FILE")}
        done = subprocess.run(["bash", "-ec", program["client"]], env=alone, cwd=variables["HOME"],
                              capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != 0:
            raise cannot_judge(f"its client fails: {done.stdout[-200:]}{done.stderr[-200:]}")

    def counts(self):
        owner, *shim = struct.unpack_from("4Q", self.judges.counters.read_bytes())
        reports = [each for each in self.reports.glob(f"{owner}.*") if each.name != f"{owner}.sh"]
        if len(reports) != 1:
            there = sorted(each.name for each in self.reports.iterdir())
            raise cannot_judge(f"no report of process {owner}; there are {there}")
        totals = json.loads(reports[0].read_text())["totals"]
        return tuple(shim), tuple(totals[name] for name in NAMES)


def examine(counter, program, times):
    """The word of the table's last column; prints the rows."""
    counter.shop.prepare(program)
    words = set()
    for _ in range(times):
        try:
            shim, ours = counter.run(program)
        except cannot_judge as error:
            shown, word, ours = str(error), "failed", "---"
        else:
            difference = "/".join(f"{a - b:+d}" for a, b in zip(ours, shim))
            most = program.get("in_flight", 0)
            is_near = all(0 <= a - b <= most for a, b in zip(shim[:2], ours))
            is_equal = shim == ours or (is_near and (shim[0] > ours[0] or shim[2] == ours[2]))
            word = "equal" if is_equal and shim[0] > 0 else "failed"
            shown = "equal" if shim == ours else difference
            ours = [f"{each:,}" for each in ours]
        print(f"| {program['name']} | {' | '.join(ours)} | {shown} | {word} |", flush=True)
        words.add(word)
    return "failed" if "failed" in words else "equal"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--packages", action="store_true")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    programs = read_list(HERE / "same_run.toml", "program", FIELDS, arguments.names,
                         arguments.quick)
    if arguments.list or arguments.packages:
        shown = {each["package" if arguments.packages else "name"] for each in programs}
        print("\n".join(sorted(shown)))
        return 0
    allocscope = find_allocscope()
    if allocscope is None:
        print("there is no allocscope to examine: set ALLOCSCOPE or ALLOCSCOPE_BUILD")
        return CANNOT_RUN_HERE
    words = []
    print("| program | allocations | frees | bytes | allocscope against the shim | verdict |\n"
          "|---|---:|---:|---:|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        counter = double_counter(pathlib.Path(folder), allocscope)
        for program in programs:
            try:
                words.append(examine(counter, program, arguments.times))
            except exactness.left_out as error:
                words.append("left out")
                print(f"| {program['name']} | - | - | - | {error} | left out |", flush=True)
    print(f"\n{words.count('equal')} passed, {words.count('failed')} failed, "
          f"{words.count('left out')} left out")
    return 0 if "failed" not in words and "equal" in words else 1


if __name__ == "__main__":
    sys.exit(main())
