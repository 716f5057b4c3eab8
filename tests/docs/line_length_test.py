#!/usr/bin/env python3
"""No line of the documents is longer than 120 characters, except in tables and code."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 120


def long_lines(path):
    is_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        if len(line) > LONGEST and not is_code and not line.startswith("|"):
            yield f"{path.relative_to(ROOT)}:{number}: {len(line)} characters, {LONGEST} at most"


def main():
    paths = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "include").rglob("*.md")]
    assert len(paths) > 20, paths
    problems = [problem for path in sorted(paths) for problem in long_lines(path)]
    print("\n".join(problems) or f"all lines of {len(paths)} documents are short")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
