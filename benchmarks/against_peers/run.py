#!/usr/bin/env python3
"""The same loops under what users would pick instead of allocscope, and under allocscope.

    run.py [--output FILE] [--quick] [--only TEXT] [--compiler g++]

Builds the loops of workloads.cpp three times - plain, with allocscope, with LeakSanitizer - and
runs them in rounds, every tool once in each round, the plain loop between them. A figure is
the median over the rounds of the ratio to the plain runs just before and after. Tools that are not
installed are named as such in the table. --quick shows in moments that everything runs; its figures
mean nothing. A full run takes some six minutes: leave the machine alone meanwhile.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import peer_report  # noqa: E402
from peer_tools import FIFTIETH, FULL, LOOPS, OURS, PEERS, PLAIN, TENTH, Tool  # noqa: E402
from run_all import describe_machine  # noqa: E402

FLAGS = ("-std=c++17 -O2 -g -fno-omit-frame-pointer -falign-functions=64 -falign-loops=32"
         " -pthread").split()
# For work FULL, TENTH, FIFTIETH.
ROUNDS = (7, 5, 3)


def build(compiler, folder):
    """The three programs. Only LeakSanitizer's may be missing."""
    hooks = ["-I", str(HERE.parent.parent / "include"), str(HERE / "with_window.cpp"),
             str(HERE.parent / "replaced_operators.cpp")]
    plain = [str(HERE / "without_window.cpp")]
    recipes = {"plain": plain, "recorded": hooks, "leak_sanitizer": ["-fsanitize=leak", *plain]}
    for name, special in recipes.items():
        command = [compiler, *FLAGS, str(HERE / "workloads.cpp"), *special, "-o",
                   str(folder / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 and name != "leak_sanitizer":
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.quick_divisor = 1

    def run(self, tool, loop, steps):
        """((ns, peak KiB, peak with report KiB), what was wrong)"""
        kind, threads, _ = LOOPS[loop]
        scratch = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        command = [*tool.command, str(self.folder / tool.program), kind, str(threads), str(steps),
                   tool.mode]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=scratch,
                                  env={**os.environ, **tool.environment}, errors="replace")
            left = not tool.leaves or any(name.startswith(tool.leaves)
                                          for name in os.listdir(scratch))
        finally:
            shutil.rmtree(scratch)
        numbers = re.search(r"^(\d+) (\d+) (\d+) \d+$", done.stdout, re.MULTILINE)
        complaint = re.search(r".*(?:cannot be preloaded|Invalid conf pair|"
                              r"encountered a fatal error).*", done.stderr)
        if complaint:
            return None, complaint.group(0).strip()
        if done.returncode != 0 or not numbers:
            last = (done.stderr.strip().split("\n") or [""])[-1]
            return None, f"exit code {done.returncode}: {last}"
        if not left:
            return None, f"wrote no file {tool.leaves}*"
        return tuple(int(number) for number in numbers.groups()), ""

    def examine(self, tool):
        """Sets tool.problem when the tool cannot be measured here."""
        if tool.command and not shutil.which(tool.command[0]):
            tool.problem = "not installed"
        elif not (self.folder / tool.program).exists():
            tool.problem = "not installed"
        else:
            seen, problem = self.run(tool, "churn", 1000)
            if seen is None:
                tool.problem = ("not installed" if "cannot be preloaded" in problem
                                else f"does not work here ({problem})")

    def must_run(self, tool, loop, steps):
        seen, problem = self.run(tool, loop, steps)
        if seen is None:
            sys.exit(f"{tool.shown_command()} failed in {loop}: {problem}")
        return seen

    def measure_group(self, tools, loop, work, shuffler):
        """One round of one loop: plain a b c plain d e f plain; ratios to the plain neighbours."""
        steps = max(LOOPS[loop][2][work] // self.quick_divisor, 64)
        tools = shuffler.sample(tools, len(tools))  # no tool always runs after the same other one
        before = self.must_run(PLAIN, loop, steps)
        times = {}
        for start in range(0, len(tools), 3):
            some = tools[start:start + 3]
            seen = [self.must_run(tool, loop, steps) for tool in some]
            after = self.must_run(PLAIN, loop, steps)
            for tool, run in zip(some, seen):
                plain = (before[0] + after[0]) / 2
                times[tool.name] = run[0]
                tool.runs[loop].append({"ratio": run[0] / plain, "plain_ns": plain / steps,
                                        "peak_kib": run[1], "report_kib": run[2],
                                        "plain_kib": (before[1] + after[1]) / 2})
            before = after
        for tool in tools:
            if tool.allocator in times:
                tool.runs[loop][-1]["own"] = times[tool.name] / times[tool.allocator]

    def measure(self, tools, rounds):
        shuffler = random.Random(1)
        begin = time.monotonic()
        for turn in range(max(rounds)):
            print(f"round {turn + 1} of {max(rounds)}, {time.monotonic() - begin:.0f} s",
                  file=sys.stderr, flush=True)
            for loop in LOOPS:
                for work in (FULL, TENTH, FIFTIETH):
                    group = [tool for tool in tools if tool.work == work]
                    # The allocators of slow profilers once more, with the smaller work.
                    names = {tool.allocator for tool in group}
                    extra = [self.at_another_size(tool, work) for tool in tools
                             if tool.name in names and tool.work != work]
                    if group and turn < rounds[work]:
                        self.measure_group(group + extra, loop, work, shuffler)

    @staticmethod
    def at_another_size(tool, work):
        return Tool(tool.name, tool.package, work, tool.program, tool.mode, tool.environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("against_peers.md"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="only tools whose name contains this")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    options = parser.parse_args()
    machine = describe_machine()
    tools = [tool for tool in OURS + PEERS if options.only in tool.name]
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(pathlib.Path(name))
        bench.quick_divisor = 50 if options.quick else 1
        build(options.compiler, bench.folder)
        for tool in tools:
            bench.examine(tool)
            if tool.problem:
                print(f"{tool.name}: {tool.problem}", file=sys.stderr)
        bench.measure([tool for tool in tools if not tool.problem],
                      (1, 1, 1) if options.quick else ROUNDS)
    command = " ".join(["benchmarks/against_peers/run.py", *sys.argv[1:]])
    compiled_with = " ".join([options.compiler, *FLAGS])
    text = peer_report.write(tools, PLAIN, machine, command, compiled_with, options.quick)
    options.output.write_text(text, encoding="ascii", errors="replace")
    print(f"written to {options.output}")


if __name__ == "__main__":
    main()
