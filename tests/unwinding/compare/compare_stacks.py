"""Compares the stacks of allocscope with those of backtrace(3), frame by frame, in real programs.

    compare_stacks.py BUILD              everything; millions of captures, some minutes
    compare_stacks.py BUILD --small      what ctest runs: a C++ program without frame pointers

BUILD holds libcompare_stacks.so and compared_workload. Prints a table and each kind of difference;
fails when fewer frames are equal than docs/unwinding.md promises.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

SQL = """
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000)
    insert into t select x, printf('%d', x * 7919 % 1000) from c;
create index i on t(b);
select count(*), sum(length(b)) from t group by b % 10 order by 2;
with recursive c(x) as (select 1 union all select x + 1 from c where x < 100000)
    select length(group_concat(x)) from c group by x % 977;
"""

PYTHON = """
import collections, decimal, json, re, sqlite3, threading, xml.etree.ElementTree as tree
def work():
    made = [{'key %d' % i: [i, str(i) * 200, {'x': i * 1.5}]} for i in range(20000)]
    json.loads(json.dumps(made))
    sorted((str(i * 7919 % 1000) for i in range(30000)), key=lambda text: text * 300)
    for i in range(5000):
        re.sub(r'([a-z]+)(\\d+)', lambda found: found.group(2) * 300, 'abc123 def456 ' * 3)
    node = tree.fromstring('<a>' + '<b c="d">text</b>' * 20000 + '</a>')
    database = sqlite3.connect(':memory:')
    database.execute('create table t(a)')
    database.executemany('insert into t values(?)', ((i,) for i in range(50000)))
    database.create_function('f', 1, lambda value: 'v' * 600 + str(value))
    database.execute('select f(a) from t order by 1').fetchall()
    str(decimal.Decimal(2) ** 20000)
threads = [threading.Thread(target=work) for _ in range(2)]
for each in threads: each.start()
work()
for each in threads: each.join()
"""


def run(command, library, folder, text=None):
    """One program with the library; its totals by process, and its differences."""
    output = pathlib.Path(folder) / "seen"
    output.unlink(missing_ok=True)
    preloaded = pathlib.Path(folder) / library.name  # for the loader a space ends a name
    if not preloaded.exists():
        preloaded.symlink_to(library)
    environment = dict(os.environ, LD_PRELOAD=str(preloaded),
                       ALLOCSCOPE_COMPARE_OUTPUT=str(output))
    done = subprocess.run(command, env=environment, input=text, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    totals, differences = [0] * 6, []
    for line in output.read_text().splitlines():
        if line.startswith("total "):
            totals = [a + int(b) for a, b in zip(totals, line.split()[1:7])]
        else:
            differences.append(line)
    return totals, differences


def compile_workload(folder, name, command):
    program = pathlib.Path(folder) / name
    subprocess.run(command + ["-std=c++17", "-pthread", "-DALLOCSCOPE_COMPARE_REGEX",
                              str(HERE / "workload.cpp"), "-o", str(program)], check=True)
    return [str(program), "20"]


def all_cases(folder):
    """Name, goal in percent, command, text for its input."""
    kept, left_out = "-fno-omit-frame-pointer", "-fomit-frame-pointer"
    flavours = [("g++ -O2, frame pointers", 99.9, ["g++", "-O2", kept]),
                ("g++ -O2, none", 99.9, ["g++", "-O2", left_out]),
                ("g++ -O0", 99.9, ["g++", "-O0"]),
                ("clang++ -O2, none", 99.9, ["clang++", "-O2", left_out])]
    if "avx2" in pathlib.Path("/proc/cpuinfo").read_text():
        flavours.append(("g++ -O3 -mavx2, none", 99.9, ["g++", "-O3", "-mavx2", left_out]))
    for index, (name, goal, command) in enumerate(flavours):
        if shutil.which(command[0]):
            yield (f"C++ workload: {name}", goal,
                   compile_workload(folder, f"workload{index}", command), None)
    yield "sqlite3", 99.5, ["sqlite3", ":memory:"], SQL
    yield "python3", 99.5, ["/usr/bin/python3", "-c", PYTHON], None
    source = str(HERE / "workload.cpp")
    yield ("cc1plus (g++ -O2 -c)", 99.5,
           ["g++", "-std=c++17", "-O2", "-DALLOCSCOPE_COMPARE_REGEX", "-c", source, "-o",
            f"{folder}/workload.o"], None)
    for arguments in ["genrsa 2048", "dgst -sha256 /bin/bash",
                      "speed -seconds 1 rsa2048 ecdsap256 sha256"]:
        yield f"openssl {arguments}", 99.5, ["openssl"] + arguments.split(), None


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--small", action="store_true")
    options = options.parse_args()
    library = options.build.resolve() / "libcompare_stacks.so"
    failed = False
    print("| program | captures | frames | equal, walked | equal, by the memo | memo hits |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        small = [("C++ workload", 99.9, [str(options.build.resolve() / "compared_workload")], None)]
        for name, goal, command, text in small if options.small else all_cases(folder):
            totals, differences = run(command, library, folder, text)
            captures, frames, by_walk, by_memo, hits, updates = totals
            least = min(by_walk, by_memo) * 100 / max(1, frames)
            too_few = captures < 10000 and options.small
            print(f"| {name} | {captures:,} | {frames:,} | {by_walk * 100 / max(1, frames):.4f} % "
                  f"| {by_memo * 100 / max(1, frames):.4f} % "
                  f"| {(hits + updates) * 100 / max(1, captures):.0f} % |", flush=True)
            for each in differences[:20]:
                print("    " + each)
            if least < goal or too_few:
                print(f"    too little: {least:.4f} % of frames equal, {goal} % wanted; "
                      f"{captures} captures")
                failed = True
    sys.exit(1 if failed else 0)


main()
