#!/usr/bin/env python3
"""What does recording a whole program cost, and how long does it take to start?

    whole_programs.py ALLOCSCOPE [--rounds N] [--programs sqlite3,xz,...] [--peers | --in-library]

Runs programs of Debian bare, under `allocscope run` in each mode, and, with --peers, under
heaptrack and with jemalloc (alone, and with its profiler, a sample every 512 KiB) where they are
installed. The runs of one round follow each other, and the order is turned
from round to round, so that a change of the machine's speed meets all alike. Prints the median of
the ratios to the bare run of the same round: of processor time (user and system, of the command and
all it starts) and of instructions in user mode where perf can count them. Totals alone are printed,
so that no places are named, but in the last column: there the command names them when the program
has ended.

Attached but idle is a child that is not followed: it has the library, and records nothing.

--in-library asks something else: how much time does the program spend in our library for each
second elsewhere? perf looks at a clock 5000 times a second where the program is, so both are of one
run, and a machine that gets slower in between changes nothing: two medians of six rounds differ by
0.003. The time that the program itself loses, because the library's memory takes the place of its
own in the caches, is not in it.
"""
import argparse
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

JEMALLOC = pathlib.Path("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
SQL = """create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 400000)
insert into t select x, hex(x * 7919) from c;
create index i on t(b);
select count(*), sum(length(b)) from t where b like '%41%';
select count(*) from (select distinct substr(b, 1, 6) from t);
"""
PYTHON = """words = {}
for i in range(400000):
    words[i] = str(i) * 2
print(len(sorted(words.values())))
"""
CPLUSPLUS = "".join(f"#include <{name}>\n" for name in
                    ("regex", "map", "string", "vector", "iostream", "functional")) + """
int main() {
    std::map<std::string, std::vector<int>> all;
    for (int i = 0; i < 10; ++i) all[std::to_string(i)].push_back(i);
    return std::regex_match("abc", std::regex("[a-c]+")) ? 0 : 1;
}
"""


def programs(folder):
    """Name, command, environment of each program that is installed."""
    (folder / "words.py").write_text(PYTHON)
    (folder / "one.cpp").write_text(CPLUSPLUS)
    (folder / "random").write_bytes(random.Random(1).randbytes(4_000_000))
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True,
                              check=True).stdout.strip()
    subprocess.run(["g++", "-E", str(folder / "one.cpp"), "-o", str(folder / "one.ii")], check=True)
    found = {
        "sqlite3": (["sqlite3", ":memory:", SQL], {}),
        "cppcheck": (["cppcheck", "-q", "--language=c++", str(folder / "one.ii")], {}),
        "xz": (["xz", "-k", "-c", "-1", str(folder / "random")], {}),
        # Another seed is another program: a tenth more or fewer instructions.
        "python3": (["/usr/bin/python3", str(folder / "words.py")],
                    {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}),
        "cc1plus": ([compiler, "-fpreprocessed", "-quiet", "-O1", str(folder / "one.ii"), "-o",
                     "/dev/null"], {}),
    }
    return {name: each for name, each in found.items() if shutil.which(each[0][0])}


def modes(program, folder, has_peers):
    out = str(folder / "report.txt")
    run = [program, "run", "--summary"]
    found = {"bare": [],
             "idle": run + ["--", "sh", "-c", '"$@"; exit $?', "sh"],
             "sampled": run + ["--record", "sampled", "--"],
             "counters": run + ["--record", "counters", "--"],
             "exact 16": run + ["--frames", "16", "--"],
             "named": [program, "run", "--output", out, "--frames", "16", "--"]}
    if has_peers and shutil.which("heaptrack"):
        found["heaptrack"] = ["heaptrack", "-o", str(folder / "heaptrack")]
    if has_peers and JEMALLOC.exists():
        preloaded = ["env", f"LD_PRELOAD={JEMALLOC}"]
        found["jemalloc"] = preloaded
        found["jemalloc prof"] = [*preloaded, "MALLOC_CONF=prof:true,lg_prof_sample:19"]
    return found


def cost(command, environment):
    """Processor time in seconds, instructions in user mode (0: not counted). Both are not a number
    when the command failed, which is said."""
    perf = ["perf", "stat", "-x,", "-e", "instructions:u", "-o", "perf.out"]
    counted = shutil.which("perf") is not None
    before = os.times()
    done = subprocess.run(perf + command if counted else command, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False,
                          env={**os.environ, **environment})
    after = os.times()
    if done.returncode != 0:
        print(f"{command} ended with {done.returncode}", file=sys.stderr)
        return math.nan, math.nan
    seconds = (after.children_user + after.children_system - before.children_user
               - before.children_system)
    number = 0
    if counted:
        for line in pathlib.Path("perf.out").read_text().splitlines():
            if "instructions" in line and line.split(",")[0].isdigit():
                number = int(line.split(",")[0])
    return seconds, number


def turned(ways, number):
    order = list(ways)
    return order[number % len(order):] + order[:number % len(order)]


def measure(name, command, environment, ways, rounds):
    seconds = {way: [] for way in ways}
    instructions = {way: [] for way in ways}
    for number in range(rounds):
        taken = {way: cost(ways[way] + command, environment) for way in turned(ways, number)}
        for way in ways:
            seconds[way].append(taken[way][0] / max(taken["bare"][0], 1e-9))
            instructions[way].append(taken[way][1] / max(taken["bare"][1], 1))
    times = " | ".join(f"{statistics.median(seconds[way]):.3f}" for way in ways)
    counts = " | ".join(f"{statistics.median(instructions[way]):.3f}" for way in ways)
    print(f"| {name}, time | {times} |", flush=True)
    if any(count > 0 for count in instructions["bare"]):
        print(f"| {name}, instructions | {counts} |", flush=True)


def time_in_library(command, environment):
    """For each second of user time elsewhere in the program, how many in our library?"""
    done = subprocess.run(["perf", "record", "-q", "-F", "5000", "-e", "cpu-clock:u", "-o",
                           "perf.data", *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{command} under perf ended with {done.returncode}:\n{done.stderr[-1000:]}")
    lines = subprocess.run(["perf", "report", "-i", "perf.data", "--no-children", "--sort", "dso",
                            "-n", "-t", "|"], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    inside = elsewhere = 0
    for line in lines:
        if line.count("|") != 2 or line.startswith("#"):
            continue
        _, samples, module = (word.strip() for word in line.split("|"))
        if module.startswith("liballocscope_preload"):
            inside += int(samples)
        elif module != "allocscope":  # the command
            elsewhere += int(samples)
    return inside / elsewhere


def measure_in_library(name, command, environment, ways, rounds):
    shares = {way: [] for way in ways}
    for number in range(rounds):
        for way in turned(ways, number):
            shares[way].append(time_in_library(ways[way] + command, environment))
    cells = " | ".join(f"{statistics.median(shares[way]):.3f}" for way in ways)
    print(f"| {name} | {cells} |", flush=True)


def start(program, folder, rounds):
    """Milliseconds that a program which does nothing takes more under the library."""
    away = []
    for _ in range(rounds):
        taken = {}
        for way, words in (("bare", ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true;"
                                     " done"]),):
            taken[way] = cost(words, {})[0]
            taken["under"] = cost([program, "run", "--output", str(folder / "report.txt"), "--",
                                   *words], {})[0]
        away.append(100 * (taken["under"] - taken["bare"]))
    print(f"\nstart, attached but idle: {statistics.median(away):.2f} ms more than bare")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--programs", default="")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--peers", action="store_true")
    what.add_argument("--in-library", action="store_true")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.chdir(folder)
        ways = modes(program, folder, arguments.peers)
        if arguments.in_library:
            if shutil.which("perf") is None:
                sys.exit("perf is needed; Debian: apt-get install linux-perf")
            ways = {way: ways[way] for way in ("sampled", "counters", "exact 16")}
        print("| program | " + " | ".join(ways) + " |\n|" + "---|" * (len(ways) + 1))
        for each, (command, environment) in programs(folder).items():
            if not arguments.programs or each in arguments.programs.split(","):
                how = measure_in_library if arguments.in_library else measure
                how(each, command, environment, ways, arguments.rounds)
        if not arguments.in_library:
            start(program, folder, 3 * arguments.rounds)


main()
