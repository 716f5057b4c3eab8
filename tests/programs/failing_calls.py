#!/usr/bin/env python3
"""failing_calls.py LIBRARY [--full]

Runs a program under `allocscope run` again and again. Each time another system call that the
preloaded library makes fails, and no other. The program has to end as it does bare, with the same
output; and the report has to be complete, or say that something is missing. LIBRARY is the library
with calls that go where the loader leads them, which tests/programs/CMakeLists.txt builds.

--full     every call with each of seven errors; otherwise the errors take turns

The last line is "N passed, N failed", the failing calls being counted. Exit code 77 when there is
no allocscope.
"""
import argparse
import errno
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from hazards import compile_source
from judges import cannot_judge, find_allocscope, judges, quiet_child

ERRORS = ("ENOMEM", "EAGAIN", "EINTR", "EPERM", "ENOSYS", "EMFILE", "ENOSPC")
CANNOT_RUN_HERE = 77


def command_whose_calls_can_fail(folder, library):
    """The command, beside a library whose calls go where the loader leads them."""
    shutil.copy(library, folder / "liballocscope_preload.so")
    return shutil.copy(find_allocscope(), folder)


class examiner:
    def __init__(self, folder, library):
        self.folder = pathlib.Path(folder)
        self.judges = judges(folder, command_whose_calls_can_fail(self.folder, library))
        self.library = self.judges.build_library("failing_calls")
        self.program = self.folder / "victim"
        compile_source("failing_calls_victim", self.program)
        self.log = self.folder / "calls"
        self.reports = self.folder / "reports"
        self.reports.mkdir()
        self.bare = self.finish([str(self.program)], {})
        self.said = 0  # how often a report or the command said that something is missing

    def finish(self, command, variables):
        done = subprocess.run(command, capture_output=True, timeout=60, preexec_fn=quiet_child,
                              env={"PATH": os.environ["PATH"], **variables}, check=False)
        return done.returncode, done.stdout, done.stderr

    def run(self, failing, error):
        """How the command ended; the names of the library's calls; what the reports of the program
        and its child say: totals, and whether something is said to be missing."""
        for each in (self.log, *self.reports.iterdir()):
            each.unlink(missing_ok=True)
        ended = self.finish(
            [self.judges.allocscope, "run", "--children", "follow", "--format", "json", "--output",
             str(self.reports / "%p.json"), "--", str(self.program)],
            {"LD_PRELOAD": str(self.library),
             "FAILING_CALLS": f"{self.log}:{failing}:{getattr(errno, error)}"})
        calls = self.log.read_text().splitlines() if self.log.exists() else []
        reports = [json.loads(each.read_text()) for each in self.reports.iterdir()]
        # What was alive at most depends on how the pages of a thread's tables lie.
        totals = sorted(sorted({**each["totals"], "peak_bytes": 0}.items()) for each in reports)
        return ended, calls, totals, any(any(each["lost"].values()) for each in reports)

    def problem_of(self, failing, error, whole):
        """What is wrong when this call fails, in words, or None."""
        ended, _, totals, is_lossy = self.run(failing, error)
        if ended[:2] != self.bare[:2]:
            return f"the program ends {ended} instead of {self.bare}"
        is_said = is_lossy or ended[2]
        self.said += bool(is_said)
        if totals != whole and not is_said:
            return f"{totals} instead of {whole}, and nobody says why"
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    if find_allocscope() is None:
        print("there is no allocscope to examine: set ALLOCSCOPE or ALLOCSCOPE_BUILD")
        return CANNOT_RUN_HERE
    is_full = arguments.full or "ALLOCSCOPE_TEST_SOAK" in os.environ
    right = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        here = examiner(folder, arguments.library)
        ended, calls, whole, is_lossy = here.run(0, ERRORS[0])
        if len(whole) != 2 or ended != here.bare or is_lossy or len(calls) < 20:
            raise cannot_judge(f"without a failing call: {ended}, {len(calls)} calls, {whole}")
        print(f"{len(calls)} calls: " + ", ".join(
            f"{calls.count(name)} {name}" for name in sorted(set(calls))), flush=True)
        for number in range(1, len(calls) + 1):
            for error in ERRORS if is_full else (ERRORS[number % len(ERRORS)],):
                problem = here.problem_of(number, error, whole)
                right, wrong = right + (problem is None), wrong + (problem is not None)
                if problem:
                    print(f"wrong: call {number} ({calls[number - 1]}) fails with {error}: "
                          f"{problem}", flush=True)
    print(f"{here.said} times something was said to be missing\n{right} passed, {wrong} failed")
    return 0 if wrong == 0 and right > 0 and here.said > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
