#!/usr/bin/env python3
"""Every program in README.md and docs/ compiles, runs, and prints what the page says.

A program is a ```cpp block with a main() and an #include. Where the next fenced block of the page
has no language or `text`, that is its whole output; a line "..." in it stands for any lines. The
program is saved under the name that the output mentions (quick_start.cpp:9:...), so that its rows
can be compared. Each is compiled against include/ and against single_include/, with $ALLOCSCOPE_CXX
or g++.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```([\w+-]*)[^\n]*\n(.*?)^```[ \t]*$", re.M | re.S)
# A page is read by somebody who compiles as the page says: with debug information, as C++17.
FLAGS = ["-std=c++17", "-g", "-O0", "-Wall", "-Wextra"]


def programs_of(page):
    """(line, source, expected output or None) of each program on a page."""
    text = page.read_text(encoding="utf-8")
    blocks = list(FENCE.finditer(text))
    for number, block in enumerate(blocks):
        is_program = re.search(r"^#include", block.group(2), re.M) and re.search(
            r"\bint main\(", block.group(2))
        if block.group(1) in ("cpp", "c++") and is_program:
            following = blocks[number + 1] if number + 1 < len(blocks) else None
            expected = None
            if following is not None and following.group(1) in ("", "text"):
                expected = following.group(2)
            yield text.count("\n", 0, block.start()) + 1, block.group(2), expected


def matches(printed, expected):
    """True when the lines are the same; "..." stands for any number of lines."""
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n"
                      for line in expected.rstrip("\n").split("\n"))
    return re.fullmatch(pattern, printed) is not None


def failure_of(page, line, source, expected, include):
    where = f"{page.relative_to(ROOT)}:{line} against {include}/"
    named = re.search(r"\b(\w+\.cpp)\b", expected or "")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, named.group(1) if named else "program.cpp")
        path.write_text(source, encoding="utf-8")
        build = subprocess.run(
            [os.environ.get("ALLOCSCOPE_CXX", "g++"), *FLAGS, "-I", str(ROOT / include),
             str(path), "-o", "program", "-ldl", "-pthread"],
            cwd=folder, capture_output=True, text=True)
        if build.returncode != 0:
            return f"{where}: does not compile\n{build.stderr}"
        if expected is None:
            return None
        run = subprocess.run([str(pathlib.Path(folder, "program"))], cwd=folder, timeout=600,
                             capture_output=True, text=True)
        if run.returncode != 0 or not matches(run.stdout, expected):
            return (f"{where}: prints something else (exit code {run.returncode})\n"
                    f"--- the page says\n{expected}--- it prints\n{run.stdout}{run.stderr}")
    return None


def main():
    assert matches("a\nb\nc\n", "a\n...\nc\n") and not matches("a\nb\n", "a\nc\n")
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    jobs = [(page, *program, include) for page in pages if page.is_file()
            for program in programs_of(page) for include in ("include", "single_include")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        failures = [text for text in pool.map(lambda job: failure_of(*job), jobs) if text]
    print("\n".join(failures))
    print(f"{len(jobs)} programs, {len(failures)} failures")
    if not jobs:
        print("README.md must show at least one whole program")
    return 1 if failures or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
