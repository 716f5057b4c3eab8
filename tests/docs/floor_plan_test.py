#!/usr/bin/env python3
"""include/allocscope/README.md shows the rooms and headers that are there, and no others.

Each room has a heading with its floor, as in ROOMS of cmake/scripts/lints/rooms.py, and below it
one line for each of its headers, with the sentence of the header's card. --update writes these
lines.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOUSE = ROOT / "include" / "allocscope"
PAGE = HOUSE / "README.md"
HEADING = re.compile(r"^### (?:(\d+) )?(\w+)(?::.*)?$")
ITEM = re.compile(r"^- `(\w+\.hpp)`: .+$")

sys.path.insert(0, str(ROOT / "cmake" / "scripts"))
from lints.rooms import ROOMS  # noqa: E402


def headers_of(room):
    folder = HOUSE if room == "root" else HOUSE / room
    return {path.name: path for path in folder.glob("*.hpp")}


def words_of(header):
    """The sentence of the card: `// file.hpp - the sentence.`"""
    first = header.read_text(encoding="utf-8").split("\n", 1)[0]
    words = first.split(" - ", 1)[1]
    return words if words.endswith("...") else words.rstrip(".")


def items_of(room):
    return [f"- `{name}`: {words_of(path)}" for name, path in sorted(headers_of(room).items())]


def sections_of(text):
    """The page in pieces: (floor, room or None, lines)."""
    pieces = [(None, None, [])]
    for line in text.split("\n"):
        heading = HEADING.match(line)
        if heading:
            pieces.append((heading.group(1), heading.group(2), []))
        elif line.startswith("## "):
            pieces.append((None, None, []))
        pieces[-1][2].append(line)
    return pieces


def updated(room, lines):
    """The lines of a room's section with one line for each of its headers."""
    others = [line for line in lines if not ITEM.match(line)]
    while others and not others[-1]:
        others.pop()
    return [*others, "", *items_of(room), ""]


def problems_of(text):
    seen = {}
    for floor, room, lines in sections_of(text):
        if room is None:
            continue
        seen[room] = floor
        if room != "root" and room not in ROOMS:
            yield f"{room}/ has no floor in ROOMS"
            continue
        if room != "root" and str(ROOMS[room][0]) != floor:
            yield f"{room}/ is on floor {ROOMS[room][0]}, not {floor}"
        listed = [ITEM.match(line).group(1) for line in lines if ITEM.match(line)]
        for name in sorted(set(listed) ^ set(headers_of(room))):
            yield (f"{room}/{name} is not there" if name in listed else
                   f"{room}/{name} is not listed") + ": --update mends it"
        if len(listed) != len(set(listed)):
            yield f"{room}/ lists a header twice"
        for line in sorted(set(lines) - set(items_of(room))):
            if ITEM.match(line):
                yield f"{room}/ has other words than the card: {line}: --update mends it"
    for room in sorted({"root", *ROOMS} - set(seen)):
        yield f"the room {room}/ has no section"


def main():
    text = PAGE.read_text(encoding="utf-8")
    assert list(problems_of("### 0 attic: x\n"))[0].startswith("attic/ has no floor")
    assert "base/none.hpp is not there" in "\n".join(problems_of("### 0 base\n- `none.hpp`: x\n"))
    assert "other words" in "\n".join(problems_of("### 0 base\n- `options.hpp`: x\n"))
    if "--update" in sys.argv:
        lines = [line for _, room, part in sections_of(text)
                 for line in (part if room is None else updated(room, part))]
        text = "\n".join(lines).rstrip("\n") + "\n"
        PAGE.write_text(text, encoding="utf-8")
    problems = list(problems_of(text))
    print("\n".join(problems) if problems else "the floor plan shows the house")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
