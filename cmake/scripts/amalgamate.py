#!/usr/bin/env python3
"""Makes single_include/ from include/.

    amalgamate.py                      write single_include/
    amalgamate.py --check              fail when single_include/ is not what would be written
    amalgamate.py --line-markers       with #line: errors point into include/ (not to commit)
    amalgamate.py --forwarders FOLDER  one header for each name of the tree that includes the single
                                       file with that part switched on (for the tests)

single_include/allocscope/allocscope.hpp holds every header once. What the everyday door reaches
comes first and is always on. Each further door (report.hpp, define_once/..., integrations/...) is a
thin file beside it that defines a switch and includes the big one; what only some doors need stands
between #if lines that ask for the switches of those doors. Each header keeps its own guard, and the
big file has none, so a second inclusion with another switch adds what the first one left out, and
a program may also mix the single file with the tree. The headers of the ground floor (config.hpp
and its like) are copied as they are, since the tree would find them there when it is mixed in.
"""

import argparse
import pathlib
import re
import sys

from lints.rooms import is_door
from source_tree import (HEADERS, INCLUDE, ROOT, guard_of, line_of, own_includes_of, reachable,
                         read_repository, room_of, Tree)

EVERYDAY = HEADERS + "allocscope.hpp"
OUTPUT = "single_include/allocscope/"
# Switches on every part that may stand in more than one translation unit. For the tests.
EVERYTHING = "ALLOCSCOPE_SINGLE_EVERYTHING"
DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b")


class Refused(Exception):
    """The tree cannot be amalgamated; the text says why and what to edit."""


def refuse(path, line, what, why, fix):
    raise Refused(f"{path}:{line}: {what}\n    why: {why}\n    fix: {fix}")


def doors_of(tree):
    """The headers that a user may include, the everyday door first."""
    included = {target for _, text in tree.headers() for _, target in own_includes_of(text)}

    # What another header includes of these two rooms is a part of a door, and none itself, unless
    # its card tells users to include it.
    def is_for_users(path):
        return is_door(path) or (is_once(path) and (
            path not in included or "include it in" in tree.files[path].split("\n", 1)[0]))

    doors = [path for path, _ in tree.headers() if path != EVERYDAY and is_for_users(path)]
    return [EVERYDAY] + doors


def switch_of(door):
    return "ALLOCSCOPE_SINGLE_" + re.sub(r"_HPP$", "", guard_of(door))[len("ALLOCSCOPE_"):]


def includes_at_the_end(path, text):
    """Lines of the includes after which nothing follows but the end of the guard."""
    guard = guard_of(path)
    last = max((number for number, line in enumerate(text.split("\n"), 1)
                if line.strip() and not line.startswith("//") and guard not in line
                and not INCLUDE.match(line)), default=None)
    return {line for line, _ in own_includes_of(text) if last is not None and line > last}


def is_once(path):
    """True for what a test must not get unasked: the hooks, somebody else's framework."""
    return room_of(path) in ("define_once", "integrations")


def switches_of(doors, paths):
    """The names that switch on a part with these headers."""
    names = [switch_of(door) for door in doors]
    return names if any(is_once(path) for path in paths) else names + [EVERYTHING]


def in_order(tree, doors):
    """All reachable headers, each after what it includes (before what it includes at its end)."""
    order, state = [], {}

    def visit(path, asked_by, line):
        if path not in tree.files:
            refuse(asked_by, line, f"includes <{path[len('include/'):]}>, which does not exist",
                   "the single include must hold every header", "correct or remove this line")
        if state.get(path) == "open":
            refuse(asked_by, line, f"includes <{path[len('include/'):]}> in a circle",
                   "headers are laid end to end", "move what both need into a third header")
        if path in state:
            return
        state[path] = "open"
        includes = list(own_includes_of(tree.files[path]))
        at_the_end = includes_at_the_end(path, tree.files[path])
        for inner_line, target in includes:
            if inner_line not in at_the_end:
                visit(target, path, inner_line)
        state[path] = "done"
        order.append(path)
        for inner_line, target in includes:
            # Definitions that need the declarations above; they are open when they led here.
            if inner_line in at_the_end and state.get(target) != "open":
                visit(target, path, inner_line)

    for door in doors:
        visit(door, door, 1)
    return order


def split_header(path, text, keep_lines):
    """(first line of the card, body without includes, includes to be hoisted)."""
    lines = text.split("\n")
    depth, hoisted, body = 0, [], []
    card_end = 0
    while card_end < len(lines) and lines[card_end].startswith("//"):
        card_end += 1
    if card_end == 0:
        refuse(path, 1, "has no card", "its first line stays in the single include",
               f"begin the file with `// {path.rsplit('/', 1)[1]} - what it is.`")
    for number, line in enumerate(lines[card_end:], card_end + 1):
        directive = DIRECTIVE.match(line)
        if directive:
            depth += -1 if directive.group(1) == "endif" else 1
        found = INCLUDE.match(line)
        if found and found.group(2).startswith("allocscope/"):
            if depth != 1:
                refuse(path, number, "includes a header of ours under a condition",
                       "the single include lays all headers end to end",
                       "put the condition into the included header")
            line = None
        elif found and found.group(1) == '"':
            refuse(path, number, "includes with quotation marks",
                   "only <allocscope/room/file.hpp> can be found and replaced",
                   f"#include <allocscope/.../{found.group(2).rsplit('/', 1)[-1]}>")
        elif found and depth == 1:
            hoisted.append(found.group(2))
            line = None
        if line is not None:
            body.append(line)
        elif keep_lines:
            body.append("")
    text = "\n".join(body).strip("\n")
    if not keep_lines:
        text = re.sub(r"\n{3,}", "\n\n", text)
    return lines[0], text, hoisted


def big_file(tree, line_markers=False):
    doors = doors_of(tree)
    order = in_order(tree, doors)
    users = {path: [] for path in order}
    for door in doors:
        for path in reachable(tree, door):
            users[path].append(door)

    # Neighbours that the same doors need are one part of the file.
    parts = []
    for path in order:
        needed_by = [EVERYDAY] if EVERYDAY in users[path] else sorted(users[path])
        if not parts or parts[-1][0] != needed_by or is_once(path) or is_once(parts[-1][1][-1]):
            parts.append((needed_by, []))
        parts[-1][1].append(path)

    out = ["// allocscope.hpp - the whole of allocscope in one file, for those who copy headers.",
           "//", "// Generated from include/ by cmake/scripts/amalgamate.py: edit there, not here.",
           "// The everyday door comes first; the rest is switched on by the thin files beside it.",
           ""]
    included_above = []  # (set of doors, name)
    for needed_by, paths in parts:
        is_everyday = needed_by == [EVERYDAY]
        bodies, standard = [], set()
        for path in paths:
            first_line, body, hoisted = split_header(path, tree.files[path], line_markers)
            standard.update(hoisted)
            if line_markers:
                offset = tree.files[path].split("\n")
                card = next(i for i, line in enumerate(offset) if not line.startswith("//"))
                start = next(i for i in range(card, len(offset)) if offset[i].strip())
                bodies.append(f'{first_line}\n#line {start + 1} "{path}"\n{body}\n')
            else:
                bodies.append(f"{first_line}\n\n{body}\n")
        # Those for whom an earlier part has it already need not name it again.
        missing = sorted(name for name in standard
                         if not any(name == have
                                    and (above == {EVERYDAY} or above >= set(needed_by))
                                    for above, have in included_above))
        included_above.extend((set(needed_by), name) for name in missing)
        if not is_everyday:
            terms = [f"defined({name})" for name in switches_of(needed_by, paths)]
            out.append("#if " + " || \\\n    ".join(terms))
            out.append("")
        out.extend(f"#include <{name}>" for name in missing)
        if missing:
            out.append("")
        out.extend(bodies)
        if not is_everyday:
            out.append("#endif  // " + ", ".join(switches_of(needed_by, paths)))
            out.append("")
    return "\n".join(out).rstrip("\n") + "\n"


def thin_file(tree, door):
    """The header beside the big one that switches its part on."""
    first_line = tree.files[door].split("\n", 1)[0]
    switch = switch_of(door)
    return (f"{first_line}\n//\n// Generated by cmake/scripts/amalgamate.py: the text is in"
            f" allocscope.hpp beside it.\n\n#ifndef {switch}\n    #define {switch}\n#endif\n"
            "#include <allocscope/allocscope.hpp>\n")


def all_outputs(tree, line_markers=False):
    outputs = {OUTPUT + "allocscope.hpp": big_file(tree, line_markers)}
    for door in doors_of(tree)[1:]:
        outputs[OUTPUT + door[len(HEADERS):]] = thin_file(tree, door)
    for path, text in tree.headers():
        if room_of(path) == "root" and not is_door(path):
            outputs[OUTPUT + path[len(HEADERS):]] = text
    return outputs


def write(root, outputs):
    for path, text in outputs.items():
        target = root / path
        if target.is_file() and target.read_text(encoding="utf-8") == text:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def existing_outputs(root):
    folder = root / OUTPUT
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(folder.rglob("*.hpp"))} if folder.is_dir() else {}


def forwarders(tree, folder):
    """For the tests, which include single headers of the tree: every name leads to all of it."""
    doors = doors_of(tree)
    held = set().union(*(reachable(tree, door) for door in doors))
    everyday = reachable(tree, EVERYDAY)
    outputs = {}
    for path, _ in tree.headers():
        name = path[len("include/"):]
        if path in doors or room_of(path) == "root":
            continue
        if path not in held:
            outputs[name] = (f"// No door leads to {name}: the single include does not hold it.\n"
                             f'#include "{(ROOT / path).as_posix()}"\n')
        elif path in everyday:
            outputs[name] = "#include <allocscope/allocscope.hpp>\n"
        else:
            outputs[name] = (f"#ifndef {EVERYTHING}\n    #define {EVERYTHING}\n#endif\n"
                             "#include <allocscope/allocscope.hpp>\n")
    write(pathlib.Path(folder), outputs)


def self_test():
    def header(path, *lines):
        guard = guard_of(path)
        return "\n".join([f"// {path.rsplit('/', 1)[1]} - a sample.", "//", "// more of the card",
                          "", f"#ifndef {guard}", f"#define {guard}", "", *lines, "",
                          f"#endif  // {guard}", ""])

    def sample(**changed):
        files = {
            "allocscope.hpp": ["#include <allocscope/base/a.hpp>", "#include <cstddef>  // size_t"],
            "base/a.hpp": ["#include <allocscope/base/d.hpp>", "#include <cstdint>  // uint8_t",
                           "struct a {};"],
            "base/b.hpp": ["#include <allocscope/base/a.hpp>", "#include <vector>", "a b();"],
            "base/d.hpp": ["struct d {};", "#include <allocscope/base/d_members.hpp>"],
            "base/d_members.hpp": ["#include <allocscope/base/d.hpp>", "inline int d_of(d);"],
            "report.hpp": ["#include <allocscope/base/b.hpp>"],
            "define_once/hooks.hpp": ["#include <allocscope/base/b.hpp>", "int c() { return 1; }"],
            "integrations/test.hpp": ["#include <allocscope/integrations/part.hpp>"],
            "integrations/part.hpp": ["int part();"]}
        files.update(changed.get("files", {}))
        return Tree({HEADERS + name: header(HEADERS + name, *lines)
                     for name, lines in files.items()})

    def refused(**changed):
        try:
            all_outputs(sample(**changed))
        except Refused:
            return True
        return False

    outputs = all_outputs(sample())
    big = outputs[OUTPUT + "allocscope.hpp"]
    checks = {
        "the same input gives the same output": outputs == all_outputs(sample()),
        "each header once": big.count("struct a {};") == 1 and big.count("a b();") == 1,
        "guards are kept": "#define ALLOCSCOPE_BASE_A_HPP" in big,
        "cards are cut": "more of the card" not in big,
        "own includes are gone": "#include <allocscope/" not in big,
        "the everyday part has no switch": big.index("struct a {};") < big.index("#if defined"),
        "its includes are sorted and on top": big.index("<cstddef>") < big.index("<cstdint>")
                                              < big.index("struct a"),
        "the shared part asks for both switches":
            "#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_HOOKS) || \\\n"
            "    defined(ALLOCSCOPE_SINGLE_REPORT) || \\\n"
            "    defined(ALLOCSCOPE_SINGLE_EVERYTHING)\n\n#include <vector>" in big,
        "the once part asks for its own":
            "#if defined(ALLOCSCOPE_SINGLE_DEFINE_ONCE_HOOKS)\n" in big,
        "a thin file for each door": set(outputs) == {
            OUTPUT + name for name in ("allocscope.hpp", "report.hpp", "define_once/hooks.hpp",
                                       "integrations/test.hpp")},
        "a part is behind the switch of its door":
            "#if defined(ALLOCSCOPE_SINGLE_INTEGRATIONS_TEST)\n\n// part.hpp" in big,
        "a missing header is refused":
            refused(files={"base/a.hpp": ["#include <allocscope/base/none.hpp>"]}),
        "definitions at the end come after": big.index("struct d {") < big.index("int d_of"),
        "a circle is refused": refused(files={"base/a.hpp": ["#include <allocscope/base/b.hpp>"]}),
        "quotation marks are refused": refused(files={"base/a.hpp": ['#include "b.hpp"']}),
        "a conditional include of ours is refused": refused(files={
            "base/b.hpp": ["#if 1", "#include <allocscope/base/a.hpp>", "#endif"]}),
    }
    for sentence, holds in checks.items():
        print(("ok      " if holds else "FAILED  ") + sentence)
    return 0 if all(checks.values()) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--line-markers", action="store_true")
    parser.add_argument("--forwarders", metavar="FOLDER")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    tree = read_repository()
    try:
        if arguments.forwarders:
            forwarders(tree, arguments.forwarders)
            return 0
        outputs = all_outputs(tree, arguments.line_markers)
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    have = existing_outputs(ROOT)
    if arguments.check:
        differing = sorted(path for path in set(outputs) | set(have)
                           if outputs.get(path) != have.get(path))
        for path in differing:
            print(f"{path}: is not what include/ gives\n"
                  "    why: users of the single file must get what the tests test\n"
                  "    fix: python3 cmake/scripts/amalgamate.py")
        return 1 if differing else 0
    for path in set(have) - set(outputs):
        (ROOT / path).unlink()
    write(ROOT, outputs)
    total = sum(text.count("\n") for text in outputs.values())
    print(f"single_include/: {len(outputs)} files, {total} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
