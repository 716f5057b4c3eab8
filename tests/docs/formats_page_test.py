#!/usr/bin/env python3
"""docs/formats.md and `allocscope run --help` name every format of formats/format_list.hpp."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMAT = re.compile(r'^ +\{"(\w+)", "(\.[\w.]+)", write_\w+_body, \w+, \w+, [\w:]+\},$', re.M)


def main():
    listed = FORMAT.findall((ROOT / "include/allocscope/formats/format_list.hpp").read_text())
    assert ("pprof", ".pb.gz") in listed and len(listed) >= 11, listed
    page = (ROOT / "docs/formats.md").read_text()
    source = (ROOT / "tools/run/run_options.cpp").read_text()
    shown = re.search(r'"  --format NAME(.*?)"  --children', source, re.S).group(1)
    problems = []
    for name, ending in listed:
        if f"| `{ending}` `{name}` |" not in page:
            problems.append(f"docs/formats.md has no line for `{ending}` `{name}`")
        if not re.search(rf"[ .]{name}\b", shown) or f"{ending}" not in shown:
            problems.append(f"allocscope run --help does not name {name} and {ending}")
    print("\n".join(problems) or "every format is on the page and in the help")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
