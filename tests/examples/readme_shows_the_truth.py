"""readme_shows_the_truth.py [--update] --root FOLDER

README.md shows examples/01_quick_start.cpp word for word, the command that builds it, and the
output that the test examples/01_quick_start has just compared with what it prints. The reports in
README.md and in the page about memory are whole reports of examples/09_what_holds_memory.output,
and what they show of that program stands in it. --update copies those reports into the two pages.
"""
import argparse
import pathlib
import re
import sys

COMMAND = ("c++ -std=c++17 -O2 -g -Iinclude examples/01_quick_start.cpp"
           " -o quick_start && ./quick_start")
LINES_AT_MOST = 150
HOW_TO = "docs/how_to/what_holds_my_memory.md"
REPORTER = "examples/09_what_holds_memory"


def blocks(text):
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def reports_of(text):
    """The output in pieces, each one report of one snapshot."""
    return [part.rstrip("\n") for part in re.split(r"^(?=allocscope )", text, flags=re.M) if part]


def problems_of_page(root, page):
    """What a page shows of the reporter and its reports, and is not so."""
    source = [line.strip() for line in (root / f"{REPORTER}.cpp").read_text().splitlines()]
    reports = reports_of((root / f"{REPORTER}.output").read_text())
    shown = 0
    for language, text in blocks((root / page).read_text()):
        if text.startswith("allocscope "):
            shown += 1
            if text.rstrip("\n") not in reports:
                yield f"a report in {page} is not in {REPORTER}.output: --update copies it again"
        elif language == "cpp" and "by_bytes" in text:
            # A page says `window.stats()` where the program kept that snapshot in a variable.
            for line in text.replace("text(window.stats()", "text(now").splitlines():
                if line.strip() and line.strip() not in source:
                    yield f"{page}: not in {REPORTER}.cpp: {line.strip()}"
    if shown == 0:
        yield f"{page} shows no report"


def update_page(root, page):
    """Each report on the page becomes the one that has the same first line now."""
    reports = {report.split("\n", 1)[0]: report
               for report in reports_of((root / f"{REPORTER}.output").read_text())}
    text = (root / page).read_text()
    for first, report in reports.items():
        block = rf"^```\n{re.escape(first)}\n.*?^```$"
        text = re.sub(block, lambda _, new=report: f"```\n{new}\n```", text, flags=re.M | re.S)
    (root / page).write_text(text)


def main():
    assert reports_of("allocscope a\n x\n\nallocscope b\n") == ["allocscope a\n x", "allocscope b"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--root", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    root = arguments.root
    if arguments.update:
        update_page(root, "README.md")
        update_page(root, HOW_TO)
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
    for page in ("README.md", HOW_TO):
        problems += problems_of_page(root, page)
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
