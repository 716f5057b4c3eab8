#!/usr/bin/env python3
"""Holds what must not compile.

    compile_fail.py FILE...

A file is compiled twice: as it is, which must pass (so that a typo cannot look like success), and
with -DALLOCSCOPE_BAD, which must fail with messages that every line `// expect: <regex>` matches.
Flags for the second time only stand in a line `// flags: <flags>`. The compiler is $ALLOCSCOPE_CXX,
else g++.
"""

import os
import re
import subprocess
import sys

from source_tree import ROOT

FLAGS = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-I", str(ROOT / "include")]


def complaint(compiler, path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    expected = re.findall(r"^// expect: (.+)$", text, re.M)
    flags = re.findall(r"^// flags: (.+)$", text, re.M)
    if not expected:
        return "has no line `// expect: <regular expression of the message>`"
    if "ALLOCSCOPE_BAD" not in text:
        return "has no `#ifdef ALLOCSCOPE_BAD` around the line that must not compile"

    def compile_with(*more):
        return subprocess.run([compiler, *FLAGS, *more, path], capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C"})

    good = compile_with()
    if good.returncode != 0:
        return "must compile without ALLOCSCOPE_BAD, but:\n" + good.stderr
    bad = compile_with("-DALLOCSCOPE_BAD", *" ".join(flags).split())
    if bad.returncode == 0:
        return "compiles with ALLOCSCOPE_BAD, but must not"
    for message in expected:
        if not re.search(message, bad.stderr):
            return f"fails, but not with /{message}/:\n" + bad.stderr
    return None


def main(paths):
    compiler = os.environ.get("ALLOCSCOPE_CXX", "g++")
    failures = 0
    for path in paths:
        wrong = complaint(compiler, path)
        failures += wrong is not None
        print(f"{path}: {wrong or 'ok'}")
    return 1 if failures or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
