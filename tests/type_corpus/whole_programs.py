"""whole_programs.py [--table] ALLOCSCOPE COMPILER [NAME...]

Records programs as different people write them with `allocscope run` and compares each row with
what is written behind its line. A file programs/NAME.txt holds the sources of a program, each
behind `file: NAME`. Behind `// ->` stand the types that the rows of a line have, separated by `;`:

    2 part | shop::part; ~char      both parts, under one of two names, and perhaps text

A number says how many objects there are: at -O0 exactly, and at most so many where a compiler may
leave some out. `*` is any type. The compiler does not see the marks. A row at a line without a
mark, or with a type that is not there, is wrong; `?` is not known. CI tries the programs that once
had a wrong row, each in one form; a soak all of them in all forms. --table prints the shares of
each form.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).parent / "programs"
MARK = re.compile(r"  // -> (.*)")

# Flags, and the share of rows that must be right: in percent, of all programs.
FORMS = {"g++": [("-g -O0", 98.0), ("-g -O2", 98.0), ("-g -O3", 98.0), ("-g1 -O2", 94.0),
                 ("-g -flto -O2", 98.0)],
         "clang++": [("-g -O0", 98.0), ("-g -O2", 98.0), ("-g1 -O2", 88.0)]}

# Of the rows of all programs, so many percent may be wrong; docs/types_and_places.md says which.
MOST_WRONG = 0.4

# What CI tries: the form in which there was a wrong row.
FOUND = {"expressions": "-g -O3", "generators": "-g -O2", "document": "-g1 -O2",
         "templates": "-g -O0", "entities": "-g -O2", "widgets": "-g1 -O2"}


class Mark:
    def __init__(self, text):
        self.is_optional = text.startswith("~")
        found = re.match(r"~?(?:(\d+) )?(.*)", text)
        self.objects = int(found[1]) if found[1] else None
        self.names = found[2].split(" | ")
        self.seen = 0

    def fits(self, type_):
        return type_ in self.names or self.names == ["*"]


class Program:
    def __init__(self, path):
        first, *lines = path.read_text(encoding="utf-8").splitlines()
        self.name = path.stem
        self.standard = first.removeprefix("standard: ")
        self.files = collections.defaultdict(list)
        for line in lines:
            if line.startswith("file: "):
                file = line.removeprefix("file: ")
            else:
                self.files[file].append(line)

    def marks(self):
        return {(file, number): [Mark(each.strip()) for each in found[1].split(";")]
                for file, lines in self.files.items()
                for number, found in enumerate(map(MARK.search, lines), 1) if found}

    def is_for(self, compiler):
        return self.standard != "c++20" or "clang" not in compiler or "19" in compiler

    def build(self, compiler, flags, folder):
        if self.standard.startswith("gnu"):
            compiler = re.sub(r"g\+\+(?=[-\d]*$)", "g" if "clang" in compiler else "gcc", compiler)
        for file, lines in self.files.items():
            text = "".join(MARK.sub("", line) + "\n" for line in lines)
            (folder / file).write_text(text, encoding="utf-8")
        units = [file for file in self.files if file.endswith((".c", ".cc", ".cpp", ".cxx"))]
        subprocess.run([compiler, f"-std={self.standard}", *flags.split(), "-w", "-D_GNU_SOURCE",
                        *units, "-pthread", "-o", "program"], check=True, cwd=folder, timeout=600)


def record(allocscope, folder):
    subprocess.run([allocscope, "run", "--output", "rows.json", "--", "./program"], check=True,
                   cwd=folder, stdout=subprocess.DEVNULL, timeout=600)
    return json.loads((folder / "rows.json").read_text(encoding="utf-8"))["rows"]


def judge(program, rows, has_all):
    """How many rows are right, unknown and wrong, and what is not right. `has_all`: the compiler
    leaves nothing out."""
    marks = program.marks()
    counts = collections.Counter()
    details = []
    for row in rows:
        file = pathlib.Path(row["file"]).name
        is_ours = any(pathlib.Path(frame["file"]).name in program.files
                      for frame in row["frames"] if frame["file"])
        if not is_ours:
            continue
        type_ = row["type"].replace("(anonymous namespace)::", "")
        marked = marks.get((file, row["line"]), [])
        fitting = next((mark for mark in marked if mark.fits(type_)), None)
        if fitting is not None:
            fitting.seen += row["objects"]
            counts["right"] += 1
            continue
        verdict = "unknown" if type_ == "?" and marked else "wrong"
        counts[verdict] += 1
        details.append(f"{verdict}: {program.name}: {file}:{row['line']}:{row['type']} "
                       f"({row['objects']} in {row['function']}), expected "
                       f"{[mark.names for mark in marked]}")
    for (file, line), marked in marks.items():
        for mark in marked:
            if mark.objects is None or mark.seen == mark.objects:
                continue
            if has_all or mark.seen > mark.objects:
                counts["wrong"] += 1
                details.append(f"wrong: {program.name}: {file}:{line}: {mark.seen} objects of "
                               f"{mark.names}, expected {mark.objects}")
    return counts, details


def check(allocscope, compiler, programs, flags, least, most_wrong):
    """The shares of all programs in this form, and whether they are good enough."""
    total = collections.Counter()
    for program in programs:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program.build(compiler, flags, folder)
            counts, details = judge(program, record(allocscope, folder), "-O0" in flags)
        total += counts
        print("\n".join(details), end="\n" if details else "")
    rows = sum(total.values())
    shares = {each: 100.0 * total[each] / max(rows, 1) for each in ("right", "unknown", "wrong")}
    print(f"{compiler} {flags}: {rows} rows of {len(programs)} programs: "
          + ", ".join(f"{share:.1f}% {each}" for each, share in shares.items()), flush=True)
    return shares["wrong"] <= most_wrong and shares["right"] >= least


def main():
    words = sys.argv[1:]
    wants_all = words[0] == "--table" or "ALLOCSCOPE_TEST_SOAK" in os.environ
    tool, compiler, *names = words[1:] if words[0] == "--table" else words
    allocscope = pathlib.Path(tool).resolve()
    programs = [Program(path) for path in sorted(PROGRAMS.glob("*.txt"))
                if not names or path.stem in names]
    programs = [each for each in programs if each.is_for(compiler)]
    forms = FORMS["clang++" if "clang" in compiler else "g++"]
    is_good = True
    for flags, least in forms:
        chosen = [each for each in programs if wants_all or FOUND.get(each.name) == flags]
        if chosen:
            limits = (least, MOST_WRONG) if wants_all and not names else (90.0, 0.0)
            is_good &= check(allocscope, compiler, chosen, flags, *limits)
    if not is_good:
        sys.exit("a row is wrong, or too few are right")


if __name__ == "__main__":
    main()
