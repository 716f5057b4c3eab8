"""readme_shows_the_truth.py --root FOLDER

README.md shows examples/01_quick_start.cpp word for word, the command that builds it, and the
output that the test examples/01_quick_start has just compared with what it prints.
"""
import argparse
import pathlib
import re
import sys

COMMAND = ("c++ -std=c++17 -O2 -g -Iinclude examples/01_quick_start.cpp"
           " -o quick_start && ./quick_start")
LINES_AT_MOST = 120


def blocks(text):
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    root = parser.parse_args().root
    readme = (root / "README.md").read_text()
    shown = [text for _language, text in blocks(readme)]
    problems = []
    for name in ("01_quick_start.cpp", "01_quick_start.output"):
        if (root / "examples" / name).read_text() not in shown:
            problems.append(f"no block of README.md is exactly examples/{name}:"
                            " copy the file into the block")
    for command in (COMMAND, "cmake -P cmake/test.cmake"):
        if not any(command in text.splitlines() for text in shown):
            problems.append(f"no block of README.md has the line: {command}")
    if len(readme.splitlines()) > LINES_AT_MOST:
        problems.append(f"README.md has more than {LINES_AT_MOST} lines")
    for path in re.findall(r"\]\(([^)#:]+)\)", readme):
        if not (root / path).exists():
            problems.append(f"README.md links to {path}, which does not exist")
    if problems:
        sys.exit("\n".join(problems))
    print("README.md shows what happens")


if __name__ == "__main__":
    main()
