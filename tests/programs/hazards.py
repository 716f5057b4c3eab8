#!/usr/bin/env python3
"""hazards.py [--full] [--shim] [--list] [--record MODE] [part of a name ...]

Builds the programs of hazards/ and runs each of them twice under allocscope: what its totals grow
by from no round to many is known exactly, whichever way the process ends.

--full     as many rounds as can be of use: 10,000 forks, 1,000,000 signals
--shim     counting_shim.cpp counts instead, to see whether the answers are right
--record   exact (default), sampled or counters: the totals are the same in all of them

The last line is "N passed, N failed". Exit code 0 when none failed, 77 when there is no allocscope.
"""
import argparse
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from judges import COMPILER, HERE, NAMES, cannot_judge, find_allocscope, judges
from lists import read_list

SOURCES = HERE / "hazards"
FIELDS = {"name", "hazards", "libraries", "beside", "rounds", "full", "rounds_are_a_macro",
          "arguments", "environments", "processes", "flags", "answer", "answers", "ends", "endings"}
CANNOT_RUN_HERE = 77


def compile_source(name, target, *flags):
    subprocess.run([COMPILER, "-std=c++17", "-O1", "-fno-builtin", "-w",
                    str(SOURCES / f"{name}.cpp"), "-o", str(target), *flags, "-pthread", "-ldl"],
                   check=True)


def build(program, folder, rounds):
    """The program, for this number of rounds if it is a macro."""
    macro = [f"-DROUNDS={rounds}"] if program.get("rounds_are_a_macro") else []
    mark = f"_{rounds}" if macro else ""
    target = folder / f"{program['name']}{mark}"
    if target.exists():
        return target
    links = []
    for number, text in enumerate(program.get("libraries", [])):
        name, _, definition = text.partition("=")
        library = folder / f"lib{name}{number}{mark}.so"
        compile_source(name, library, "-shared", "-fPIC", *macro,
                       *([f"-D{definition}"] if definition else []))
        links.append(str(library))
    for text in program.get("beside", []):
        name, _, flag = text.partition("=")
        source = name if (SOURCES / f"{name}.cpp").exists() else "dynamic_end"
        compile_source(source, folder / name, *([flag] if flag else []))
    # Each library has to stay, whether or not a symbol of it is used.
    compile_source(program["name"], target, *program.get("flags", []), "-Wl,-z,now",
                   "-Wl,--no-as-needed", *links, f"-Wl,-rpath,{folder}")
    return target


class left_out(Exception):
    """The C library of this system does not let the program do what it is about."""


class examiner:
    def __init__(self, folder, judge, record, is_full):
        self.folder = pathlib.Path(folder)
        self.judges = judges(folder, find_allocscope())
        self.judge = judge
        self.record = record
        self.is_full = is_full
        if judge == "shim":
            self.judges.build_shim()

    def run(self, program, rounds, argument, environment, judge=""):
        words = [str(build(program, self.folder, rounds))] + ([argument] if argument else [])
        return self.judges.judge(judge or self.judge, words, record=self.record,
                                 environment={"HAZARD_ROUNDS": f"{rounds:06d}", **environment})

    def problem_of_followed(self, program):
        """As problem_of, for every process that the program forks."""
        reports = self.folder / "reports"
        reports.mkdir()
        rounds = program["rounds"]
        done = subprocess.run(
            [self.judges.allocscope, "run", "--children", "follow", "--output",
             str(reports / "%p.json"), "--", str(build(program, self.folder, rounds))],
            capture_output=True, env={**os.environ, "HAZARD_ROUNDS": str(rounds)}, timeout=600)
        if done.returncode != 0:
            return f"ends with {done.returncode}: {done.stderr[-300:]!r}"
        totals = [json.loads(path.read_text())["totals"] for path in reports.iterdir()]
        if len(totals) != program["processes"]:
            return f"{len(totals)} processes have a report"
        expected = [rounds * each for each in program["answer"]]
        seen = [[each[name] for name in NAMES] for each in totals]
        # The first process has what it needs besides.
        first = [a + b for a, b in zip(expected, self.run(program, 0, "", {}).counts)]
        if first not in seen:
            return f"no report has {first}"
        seen.remove(first)
        wrong = [each for each in seen if each != expected]
        return f"{wrong[0]} in {len(wrong)} reports, not {expected}" if wrong else None

    def problem_of(self, program, argument, environment):
        """What is wrong in words, or None."""
        rounds = program.get("full", program["rounds"]) if self.is_full else program["rounds"]
        base = self.run(program, 0, argument, environment)
        seen = self.run(program, rounds, argument, environment)
        ends = program.get("endings", {}).get(argument, program.get("ends", 0))
        for each in (base, seen):
            code = each.code if each.code >= 0 else 128 - each.code
            if code != ends:
                alone = self.run(program, rounds, argument, environment, "bare")
                if alone.code == each.code:
                    raise left_out(f"ends with {code} alone, too")
                return f"ends with {code} instead of {ends}: {each.stderr[-300:]!r}"
            if each.counts is None:
                return f"there are no totals: {each.stderr[-300:]!r}"
        answer = program.get("answers", {}).get(argument, program["answer"])
        if answer == "printed":
            printed = re.search(rb"answer: (\d+) (\d+) (\d+)", seen.stdout)
            expected = [int(each) for each in printed.groups()]
            base_printed = re.search(rb"answer: (\d+) (\d+) (\d+)", base.stdout)
            expected = [a - int(b) for a, b in zip(expected, base_printed.groups())]
        else:
            expected = [rounds * each for each in answer]
        grown = [after - before for after, before in zip(seen.counts, base.counts)]
        jumps = re.search(rb"jumps: (\d+)", seen.stdout)
        most = int(jumps[1]) if jumps else 0
        if grown[0] == expected[0] and grown == expected or most and all(
                0 <= a - b <= most * size
                for a, b, size in zip(grown, expected, (1, 1, 48))):
            return None
        return f"{grown}, and it should be {expected}" + (f", {most} jumps" if most else "")


def cases_of(here, programs):
    """(title, program, what says what is wrong) of every run."""
    for program in programs:
        for argument in program.get("arguments", [""]):
            for environment in program.get("environments", [{}]):
                yield (" ".join([program["name"], argument, *environment]).strip(), program,
                       functools.partial(here.problem_of, program, argument, environment))
        if "processes" in program and here.judge == "allocscope":
            yield (f"{program['name']} followed", program,
                   functools.partial(here.problem_of_followed, program))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--shim", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--record", default="exact", choices=("exact", "sampled", "counters"))
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    programs = read_list(HERE / "hazards.toml", "program", FIELDS, arguments.names)
    if arguments.list:
        print("\n".join(f"{each['name']}: {each['hazards']}" for each in programs))
        return 0
    if not arguments.shim and find_allocscope() is None:
        print("there is no allocscope to examine: set ALLOCSCOPE or ALLOCSCOPE_BUILD")
        return CANNOT_RUN_HERE
    is_full = arguments.full or "ALLOCSCOPE_TEST_SOAK" in os.environ
    right = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        here = examiner(folder, "shim" if arguments.shim else "allocscope", arguments.record,
                        is_full)
        for title, program, examine in cases_of(here, programs):
            try:
                problem = examine()
            except left_out as why:
                print(f"left out {title} ({program['hazards']}): {why}", flush=True)
                continue
            except (cannot_judge, subprocess.TimeoutExpired) as error:
                problem = str(error)
            right, wrong = right + (problem is None), wrong + (problem is not None)
            print(f"{'wrong' if problem else 'right'} {title} ({program['hazards']})"
                  + (f": {problem}" if problem else ""), flush=True)
    print(f"\n{right} passed, {wrong} failed")
    return 0 if wrong == 0 and right > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
