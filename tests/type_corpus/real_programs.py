"""real_programs.py [options] --allocscope PROGRAM --cache FOLDER BUILD... -- COMMAND...

Judges the rows that `allocscope run` prints of a program that somebody else wrote, without marks in
its source. Each BUILD is a folder with a compile_commands.json; COMMAND is run for each, with the
folder in place of {build}. Nothing of allocscope says what is true (stack_judge.py).

A row is right if all its stacks are. Its line may also be one at which another build has the same
type, since compilers place an expression at its first or its last token. "undecided": nothing says
what the type is, as for memory of malloc; then the other builds are asked what that line allocates,
because clang's -g1 does not name inlined functions in full. "doubtful": they know other types
there. FOLDER keeps what clang notes and what was recorded, so
that other programs need another one. Needs clang++ and llvm-symbolizer; no test runs it.
"""

import argparse
import collections
import json
import os
import pathlib
import pickle
import re
import shlex
import subprocess
import sys

import clang_notes
import saved_stacks
from stack_judge import Judge, Symbolizer, demangled
from type_names import is_same, plain

ORDER = ["wrong", "doubtful", "elsewhere", "unknown", "undecided ?", "undecided", "right"]


def read_notes(build, compiler, cache):
    """Of all files of the build."""
    commands = json.loads((build / "compile_commands.json").read_text())
    cache.mkdir(parents=True, exist_ok=True)
    kept = cache / "notes"
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    waiting = []
    for number, each in enumerate(commands):
        words = shlex.split(each["command"]) if "command" in each else each["arguments"]
        target = cache / f"{number}.ll"
        if target.exists():
            continue
        words_kept, skip = [], False
        for word in words[1:]:
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MT", "-MQ"):
                skip = True
            elif not re.match(r"-(c|O.|g.*|flto.*|M.*|fcoroutines|W.*)$", word):
                words_kept.append(word)
        waiting.append(([compiler, *words_kept, "-w", "-g", "-O0", "-S", "-emit-llvm", "-o",
                         str(target)], each["directory"]))
    running = []
    while waiting or running:
        while waiting and len(running) < 2:
            command, folder = waiting.pop()
            running.append(subprocess.Popen(command, cwd=folder))
        running.pop(0).wait()
    all_notes = []
    for number in range(len(commands)):
        path = cache / f"{number}.ll"
        if path.exists():
            with open(path, encoding="utf-8", errors="replace") as lines:
                all_notes.append(clang_notes.Notes(lines))
        else:
            print("not compiled:", commands[number]["file"], file=sys.stderr)
    merged = clang_notes.merged(all_notes)
    kept.write_bytes(pickle.dumps(merged))
    return merged


def is_file(told, true):
    return true == told or true.endswith("/" + told)


def record(build, command, options):
    saved = options.cache / f"{build.parent.name}_{build.name}.allocscope"
    if not saved.exists():
        done = subprocess.run(
            [options.allocscope, "run", "--frames", "128", "--output", saved, "--",
             *[word.replace("{build}", str(build)) for word in command]],
            input=options.input, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
            cwd=options.folder, timeout=600, text=True, errors="replace")
        if not saved.exists():
            sys.exit(f"no report of {build}: {done.stderr[-800:]}")
    return saved_stacks.read(saved)


def judge_build(build, command, options, judge, symbolizer):
    stacks = record(build, command, options)
    symbolizer.read({(module, offset) for stack in stacks
                     for module, offset, _, inlined in stack.frames if not inlined})
    names = demangled({each.get("FunctionName", "") for told in symbolizer.known.values()
                       for each in told})
    seen = [(stack, judge.logical(stack, symbolizer, names)) for stack in stacks]
    judge.find_root(frame for _, frames in seen for frame in frames)
    judged = []
    for stack, frames in seen:
        place = judge.place(frames)
        size = stack.bytes_allocated // max(stack.allocations, 1)
        types, why = judge.types(frames, size)
        judged.append((stack, frames, place, types, why))
    return judged


def verdict_of(stack, place, types, why, elsewhere, judge):
    told = plain(stack.type)
    is_type = any(is_same(told, each) for each in types)
    if place is None:
        is_place = None
    else:
        is_place = is_file(stack.file, place.file) and (
            stack.line in (place.line, judge.opened_at(place)) if place.line
            else stack.line >= place.declared[1])  # clang has merged code of several lines
        if not is_place and is_file(stack.file, place.file) and judge.ends_block(place):
            is_place = place.declared[1] <= stack.line <= place.line
        if not is_place:
            others = elsewhere.get((os.path.basename(stack.file), stack.line), ())
            is_place = any(is_same(told, each) or told == "?" for each in others)
    if is_place is False:
        return "elsewhere"
    others = ()
    if why == "nothing":
        others = elsewhere.get((os.path.basename(stack.file), stack.line), ())
    if stack.type == "?" or stack.type.startswith("begins with "):
        return "unknown" if types or others else "undecided ?"
    if not types:
        if any(is_same(told, each) for each in others):
            return "right"
        return "doubtful" if others else "undecided"
    return "right" if is_type else "wrong"


def report(build, judged, elsewhere, options, judge):
    rows = collections.defaultdict(list)
    for stack, frames, place, types, why in judged:
        rows[stack.file, stack.line, stack.type].append(
            (verdict_of(stack, place, types, why, elsewhere, judge), stack, frames, place, types,
             why))
    counts, objects = collections.Counter(), collections.Counter()
    for (file, line, type_), members in sorted(rows.items()):
        worst = min((each[0] for each in members), key=ORDER.index)
        counts[worst] += 1
        for each in members:
            objects[each[0]] += each[1].allocations
        if worst in options.show:
            _, stack, frames, place, types, why = next(each for each in members if each[0] == worst)
            true = f"{place.file}:{place.line}" if place else "?"
            print(f"  {worst}: {file}:{line}:{type_} [{stack.type_source}]"
                  f"\n      true {true}: {' | '.join(sorted(types)) or '(' + why + ')'}")
            for frame in frames[:options.frames]:
                print(f"        {frame.name[:110]} {frame.file}:{frame.line}")

    def shares(of):
        total = sum(of.values()) or 1
        return "  ".join(f"{each} {of[each]} ({100 * of[each] / total:.2f}%)" for each in
                         reversed(ORDER) if of[each])

    print(f"{build}: {sum(counts.values())} rows: {shares(counts)}\n    objects: {shares(objects)}",
          flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--allocscope", type=os.path.abspath, required=True)
    parser.add_argument("--compiler", default="clang++", help="writes the notes")
    parser.add_argument("--symbolizer", default="llvm-symbolizer")
    parser.add_argument("--cache", type=lambda path: pathlib.Path(path).absolute(), required=True)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--input", default="", help="what the program reads")
    parser.add_argument("--show", default="wrong,doubtful,elsewhere")
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("builds", nargs="+", type=lambda path: pathlib.Path(path).absolute())
    at = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:at])
    options.show = options.show.split(",")
    options.cache.mkdir(parents=True, exist_ok=True)
    command = sys.argv[at + 1:]
    judge = Judge(*read_notes(options.builds[0], options.compiler, options.cache / "notes"))
    symbolizer = Symbolizer(options.symbolizer)
    all_judged = {build: judge_build(build, command, options, judge, symbolizer)
                  for build in options.builds}
    elsewhere = collections.defaultdict(set)
    for judged in all_judged.values():
        for _, _, place, types, _ in judged:
            if place:
                elsewhere[os.path.basename(place.file), place.line] |= types
    for build, judged in all_judged.items():
        report(build, judged, elsewhere, options, judge)


if __name__ == "__main__":
    main()
