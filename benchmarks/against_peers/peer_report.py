"""Writes what run.py measured as one markdown page, docs/against_peers.md."""
import shutil
import statistics
import subprocess

from peer_tools import FIFTIETH, FULL, LOOPS, PEAK_LOOPS, RIVALS, TENTH

INTRO = """# Against its peers

The same loops ran under allocscope and under the tools that one would use instead. In each round,
every tool ran once in its own process, with plain `malloc` before each third one. A figure is the
median over the rounds of the ratio to the plain runs just before and after it. Times are real times
of the loop alone, without the start of the tool and without its report. Loops:

- churn: 1024 blocks of 16 to 512 bytes are alive, and a random one is replaced, through 256 stacks
  about 20 frames deep; the same on two threads; the same with another thread that frees the blocks.
- containers: a map, a hash map and a vector of strings grow, then everything is destroyed.
- large blocks: blocks of 64 KiB to 4 MiB are replaced, or grow by half with their contents copied.

All memory comes from `operator new`. allocscope was compiled in; it records `operator new` and
`delete` here, and the peers record `malloc` and its family.
"""
LEFT_OUT = """
What the figures do not show:

- All peers but LeakSanitizer work on a program that was built without them, and cost nothing while
  nobody uses them. The same is true of `allocscope run`, which was not measured here
  (performance.md has it, for whole programs). If allocscope is compiled in and not used, its cost
  is that of the row without a window.
- The peers also record calls of `malloc` by C libraries. `operator_new_delete.hpp` does not, but
  `malloc_family.hpp` and `allocscope run` do.
- LeakSanitizer and memcheck tell a block that nothing points to from one that is still in use, and
  memcheck finds wrong reads and writes. allocscope lists what is alive.
- heaptrack keeps all events over time, can be attached to a running process and has a graphical
  viewer; massif keeps the heap at its peak; dhat shows who reads and writes the blocks.
- On the other hand, only allocscope has windows over a part of the program, which can overlap, be
  read at any time, and be asserted on in a test; rows with the type; and an interval beside each
  sampled row. The sampled modes of the peers give estimates, too, but print no interval.
"""


def times_as_text(ratio):
    """Three digits: 1.08x, 23.4x, 512x."""
    return "" if ratio is None else f"{ratio:.{2 if ratio < 10 else 1 if ratio < 100 else 0}f}x"


def work_as_text(tool):
    return ("", "a tenth", "a fiftieth at least")[tool.work]


def ratio_tables(tools):
    loops = " | ".join(LOOPS)
    lines = ["## Time", "", "Ratio to the same loop on plain `malloc`; below 1 is faster.", "",
             f"| | {loops} | work |", "|---" * (len(LOOPS) + 2) + "|"]
    for tool in tools:
        if tool.problem:
            lines.append(f"| {tool.name} | {tool.problem} |" + " |" * len(LOOPS))
            continue
        cells = [times_as_text(tool.median(loop, "ratio")) for loop in LOOPS]
        lines.append(f"| {tool.name} | {' | '.join(cells)} | {work_as_text(tool)} |")
    profilers = [tool for tool in tools if tool.allocator and not tool.problem
                 and tool.median("churn", "own") is not None]
    if profilers:
        lines += ["", "jemalloc and tcmalloc are other allocators. This is what profiling adds, as "
                  "a ratio to the same", "allocator without profiling:", "", f"| | {loops} |",
                  "|---" * (len(LOOPS) + 1) + "|"]
        for tool in profilers:
            cells = [times_as_text(tool.median(loop, "own")) for loop in LOOPS]
            lines.append(f"| {tool.name} | {' | '.join(cells)} |")
    return lines + [""]


def peak_table(tools):
    lines = ["## Peak memory", "",
              "The most memory that was resident until the loop ended: ratio to plain `malloc`, "
              "and the difference.", "", f"| | {' | '.join(PEAK_LOOPS)} | work |",
              "|---" * (len(PEAK_LOOPS) + 2) + "|"]
    report_mib = []
    for tool in tools:
        if tool.problem:
            continue
        cells = []
        for loop in PEAK_LOOPS:
            more = tool.median(loop, "peak_kib") - tool.median(loop, "plain_kib")
            cells.append(f"{times_as_text(tool.peak_ratio(loop))}, {more / 1024:+.1f} MiB")
            if tool.mode not in ("none", "off"):
                report_mib.append((tool.median(loop, "report_kib")
                                   - tool.median(loop, "peak_kib")) / 1024)
        lines.append(f"| {tool.name} | {' | '.join(cells)} | {work_as_text(tool)} |")
    if report_mib and max(report_mib) >= 1:
        lines += ["", "Printing allocscope's rows reads the program's debug information: up to "
                  f"{max(report_mib):.0f} MiB more here, once.",
                  "The peers find names in another process, and LeakSanitizer at the exit; this "
                  "is in no figure."]
    return lines + [""]


def is_below(theirs, ours):
    """Clearly: the medians by more than a fiftieth, and the middle halves apart."""
    def quartiles(values):
        if len(values) < 2:
            return values * 3
        return statistics.quantiles(values, n=4, method="inclusive")

    theirs, ours = quartiles(theirs), quartiles(ours)
    return theirs[1] < 0.98 * ours[1] and theirs[2] < ours[0]


def who_is_ahead(tools):
    named = {tool.name: tool for tool in tools if not tool.problem}
    lines = ["## Where a peer is ahead", "",
             "The table has cases in which a peer is better by more than a fiftieth, and by more "
             "than the rounds differ.", "Either its ratio to plain `malloc` is better, or the "
             "ratio to its own allocator, shown in parentheses.",
             "", "| | | the peer | allocscope |", "|---|---|---|---|"]
    for our_name, rivals in RIVALS.items():
        for name in rivals:
            if our_name not in named or name not in named:
                continue
            mode, peer = named[our_name], named[name]
            for loop in LOOPS:
                ours, own = mode.all(loop, "ratio"), peer.all(loop, "own")
                if is_below(peer.all(loop, "ratio"), ours) or (own and is_below(own, ours)):
                    theirs = times_as_text(peer.median(loop, "ratio"))
                    behind = f" ({times_as_text(statistics.median(own))})" if own else ""
                    lines.append(f"| {name} | time, {loop} | {theirs}{behind} | `{mode.mode}` "
                                 f"{times_as_text(statistics.median(ours))} |")
            for loop in PEAK_LOOPS:
                theirs, ours = peer.peak_ratio(loop), mode.peak_ratio(loop)
                if theirs < 0.98 * ours:
                    lines.append(f"| {name} | peak memory, {loop} | {times_as_text(theirs)} | "
                                 f"`{mode.mode}` {times_as_text(ours)} |")
    if lines[-1].startswith("|---"):
        lines[-2:] = ["There is no such case in this run."]
    return lines + [""] + LEFT_OUT.strip().split("\n") + [""]


def versions_and_commands(tools, compiled_with):
    lines = ["## How it was run", "",
             f"Compiled with `{compiled_with}`; `leak_sanitizer` also with "
             "`-fsanitize=leak`, `recorded` with", "`-I include` and a file that includes "
             "`allocscope/define_once/operator_new_delete.hpp`.", "",
             "| | version | command |", "|---|---|---|"]
    for tool in tools:
        version = "this repository's" if tool.program == "recorded" else tool.problem
        if not version and shutil.which("dpkg-query"):
            done = subprocess.run(["dpkg-query", "-W", "-f=${Package} ${Version}", tool.package],
                                  capture_output=True, text=True, check=False)
            version = done.stdout.strip()
        lines.append(f"| {tool.name} | {version or 'unknown'} | `{tool.shown_command()}` |")
    lines += ["", "LOOP, THREADS and STEPS:", ""]
    for loop, (kind, threads, steps) in LOOPS.items():
        lines.append(f"- {loop}: `{kind} {threads} {steps[FULL]}`, a tenth `{steps[TENTH]}`, "
                     f"a fiftieth `{steps[FIFTIETH]}`")
    return lines + [""]


def all_figures(tools):
    lines = ["## All figures", "",
             "plain: one step on plain `malloc`, in the runs beside this tool.", "",
             "| | loop | rounds | plain | ratio | lowest .. highest | peak |",
             "|---|---|---|---|---|---|---|"]
    for tool in (tool for tool in tools if not tool.problem):
        for loop in LOOPS:
            ratios = [run["ratio"] for run in tool.runs[loop]]
            lines.append(
                f"| {tool.name} | {loop} | {len(ratios)} | {tool.median(loop, 'plain_ns'):.1f} ns "
                f"| {times_as_text(statistics.median(ratios))} | {times_as_text(min(ratios))} .. "
                f"{times_as_text(max(ratios))} | {tool.median(loop, 'peak_kib') / 1024:.1f} MiB |")
    return lines


def write(tools, plain, machine, command, compiled_with, is_quick):
    """The page. `tools` are ours and the peers, each with its runs or with its problem."""
    lines = INTRO.strip().split("\n")
    lines += ["", f"Machine: {machine}.", "", f"Command: `{command}`.", ""]
    if is_quick:
        lines += ["A quick run: it shows that everything works, its figures mean nothing.", ""]
    lines += ratio_tables(tools) + peak_table(tools) + who_is_ahead(tools)
    lines += versions_and_commands([plain, *tools], compiled_with) + all_figures(tools)
    return "\n".join(lines) + "\n"
