#!/usr/bin/env python3
"""Runs every benchmark and writes tables of its rows, as in docs/performance_tables.md.

    run_all.py BUILD_FOLDER [--processes N] [--output FILE] [--only PROGRAM,...] [--smoke]

Each ratio program is run in several processes, because a process keeps the page placement it was
born with; the numbers are the medians over the processes, and the range over them is the spread.
Leave the machine alone meanwhile. BUILD_FOLDER is the one that has the programs in it.
"""
import argparse
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# In the order of the report. True: one process is enough, the program starts others itself.
PROGRAMS = {
    "noise_floor": False,
    "cost_of_recording": False,
    "cost_of_recording_omit_frame_pointer": False,
    "recording_floor": False,
    "changing_stacks": False,
    "unwinding": False,
    "unoptimised_stacks": False,
    "two_threads": False,
    "peer_churn": False,
    "peer_live": True,
    "sampling": False,
    "cost_of_a_scope": False,
    "cost_of_stats": False,
    "cost_of_converting": True,
    "cost_of_writing": True,
    "memory_overhead": True,
    "stack_depth": False,
    "live_objects": True,
    "many_threads": False,
    "open_windows": False,
}
SCRIPTS = ["compile_time", "instructions_per_pair"]


def first_line_with(path, start):
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith(start):
            return line.split(":", 1)[1].strip()
    return "unknown"


def describe_machine():
    kernel = platform.release().split("-")[0]
    libc = " ".join(platform.libc_ver())
    memory_gib = int(first_line_with("/proc/meminfo", "MemTotal").split()[0]) / 1024 / 1024
    return (f"{first_line_with('/proc/cpuinfo', 'model name')}, {os.cpu_count()} processors, "
            f"{memory_gib:.0f} GiB, Linux {kernel}, {libc}; "
            f"load at the start {os.getloadavg()[0]:.2f}")


def run_once(command):
    """(compiler, question, {row name: fields})"""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed with {done.returncode}:\n{done.stderr[-2000:]}")
    compiler, question, rows = "", "", {}
    for line in done.stdout.splitlines():
        fields = line.split("\t")
        if fields[0] == "about":
            question, compiler = fields[2], fields[3]
        elif fields[0] == "row":
            rows[fields[2]] = fields[3:]
    return compiler, question, rows


def number(text):
    return float(text) if text else 0.0


def shown(value, unit):
    return f"{value:.2f}x" if unit == "x" else f"{value:.4g} {unit}"


def markdown_of(program, runs):
    """The section of one program, from the rows of one or more processes."""
    question = runs[0][1]
    lines = [f"### {question}", "", f"`{program}`", "",
             "| | measured | spread | baseline -> recorded | target | |",
             "|---|---|---|---|---|---|"]
    missed, targets = [], 0
    for name in runs[0][2]:
        rows = [run[2][name] for run in runs]
        unit = rows[0][0]
        values = [number(row[1]) for row in rows]
        value, target = statistics.median(values), statistics.median(number(r[7]) for r in rows)
        if len(rows) > 1:
            spread = f"{min(values):.4g} .. {max(values):.4g}"
        elif number(rows[0][3]) > 0:
            spread = f"{number(rows[0][2]):.4g} .. {number(rows[0][3]):.4g}"
        else:
            spread = ""
        change = ""
        if rows[0][6] and rows[0][5]:
            change = (f"{statistics.median(number(r[5]) for r in rows):.1f} -> "
                      f"{statistics.median(number(r[6]) for r in rows):.1f} ns")
        verdict = ""
        if target > 0:
            targets += 1
            verdict = "met" if value <= target else "**missed**"
            if value > target:
                missed.append(f"{program}: {name}: {shown(value, unit)}, target "
                              f"{shown(target, unit)}")
        lines.append(f"| {name} | {shown(value, unit)} | {spread} | {change} | "
                     f"{shown(target, unit) if target else ''} | {verdict} |")
    return lines + [""], missed, targets


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build_folder", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("benchmarks.md"))
    parser.add_argument("--only", default="")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    wanted = [name for name in [*PROGRAMS, *SCRIPTS]
              if not options.only or name in options.only.split(",")]
    extra = ["--tsv"] + (["--smoke"] if options.smoke else [])
    machine, compiler = describe_machine(), ""
    runs = {name: [] for name in wanted}
    processes = 1 if options.smoke else options.processes
    # Round after round, so that a slow change of the machine meets all programs alike.
    for turn in range(processes):
        for name in wanted:
            if turn > 0 and PROGRAMS.get(name, True):
                continue
            print(f"round {turn + 1}: {name}", file=sys.stderr, flush=True)
            if name not in SCRIPTS:
                path = options.build_folder / name
                if not path.exists():
                    sys.exit(f"{path} is missing. Build the target {name} first")
                command = [str(path.resolve())]
            else:
                command = [sys.executable, str(HERE / f"{name}.py")]
                if name == "instructions_per_pair":
                    if not shutil.which("valgrind"):
                        continue
                    command.append(str(options.build_folder))
            runs[name].append(run_once(command + extra))
            compiler = compiler or runs[name][-1][0]
    missed, targets, sections = [], 0, []
    for name in filter(lambda name: runs[name], wanted):
        lines, missed_here, targets_here = markdown_of(name, runs[name])
        sections += lines
        missed += missed_here
        targets += targets_here
    text = [f"Machine: {machine}. Compiler: {compiler}, flags as in benchmarks/CMakeLists.txt.", "",
            f"Command: `{' '.join(['benchmarks/run_all.py', *sys.argv[1:]])}`. Medians over "
            f"{processes} processes; the spread is from the lowest to the highest of them, or the"
            " quartiles when there was one.", "",
            f"{targets - len(missed)} of {targets} targets met."]
    text += [f"- missed: {line}" for line in missed] + [""] + sections
    options.output.write_text("\n".join(text), encoding="ascii", errors="replace")
    print(f"{targets - len(missed)} of {targets} targets met; written to {options.output}")


if __name__ == "__main__":
    main()
