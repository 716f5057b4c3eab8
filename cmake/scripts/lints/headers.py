"""The form of a header: card, guard, name, size, macros."""

import re

from lints.rooms import ROOMS, SHARED
from source_tree import (HEADERS, Problem, guard_of, line_of, reachable, room_of,
                         without_comments_and_texts)

MOST_LINES = 600
MANY_LINES = 400


def room_line_of(path):
    room, name = room_of(path), path.rsplit("/", 1)[1]
    if room == "root":
        return ("// Room:     root (floor 0), malloc-safe" if name in SHARED
                else "// Room:     root, a door (above all floors)")
    if room not in ROOMS:
        return None
    floor, inside, _ = ROOMS[room]
    return f"// Room:     {room} (floor {floor}), {'malloc-safe' if inside else 'not malloc-safe'}"


def cards(tree):
    why = "a reader learns from the card who may call this and what it costs"
    problems = []
    for path, text in tree.headers():
        name = path.rsplit("/", 1)[1]
        card = []
        for line in text.split("\n"):
            if not line.startswith("//"):
                break
            card.append(line)
        if not card or not re.fullmatch(rf"// {re.escape(name)} - .+", card[0]):
            problems.append(Problem(path, 1, "does not begin with its card", why,
                                    f"// {name} - one sentence that says what it is."))
            continue
        room_line = room_line_of(path)
        # More may follow the fixed words ("malloc-safe except ..."), and one header of a room below
        # the line may be the exception.
        true_lines = (room_line, (room_line or "").replace("malloc-safe",
                                                           "not for use inside a hook: "))
        if room_line and not any(line.startswith(true_lines) for line in card):
            problems.append(Problem(path, 3, "the card has no true Room line", why, room_line))
        for word in ("Called:", "Threads:", "Memory:"):
            if not any(re.match(rf"// {word} +\S", line) for line in card):
                problems.append(Problem(path, 3, f"the card has no line `// {word}`", why,
                                        f"add `// {word:<9} ...` under the Room line"))
    return problems


def callers(tree):
    """`Called:` names headers and rooms; each must include this header, directly or not."""
    problems, reached = [], {}
    for path, text in tree.headers():
        card = text[:text.find("\n\n")]
        called = re.search(r"^// Called:(.*(?:\n//  .*)*)", card, re.M)
        # What the engine table leads to is called from other modules.
        if called is None or "through" in called.group(1):
            continue
        for name in re.findall(r"\b(\w+/(?:\w+\.hpp)?)(?!\w)", called.group(1)):
            if name.split("/")[0] not in ROOMS:
                continue
            users = [user for user, _ in tree.headers()
                     if user.startswith(HEADERS + name) and user != path]
            for user in users:
                if user not in reached:
                    reached[user] = reachable(tree, user)
            if not any(path in reached[user] for user in users):
                problems.append(Problem(
                    path, text[:called.start()].count("\n") + 1,
                    f"is said to be called by {name}, which does not include it",
                    "a reader follows the card to the caller", "name who really includes it"))
    return problems


def guards(tree):
    problems = []
    for path, text in tree.headers() + tree.with_ending(".hpp"):
        if not path.startswith((HEADERS, "tests/", "examples/", "benchmarks/")):
            continue
        code = without_comments_and_texts(text)
        if re.search(r"^\s*#\s*pragma\s+once", code, re.M):
            problems.append(Problem(
                path, 1, "uses #pragma once",
                "a program that includes the single file and a split header would see it twice",
                f"#ifndef {guard_of(path)} ... #define ... #endif"))
            continue
        first = re.search(r"^\s*#\s*(\w+)[ \t]*(\w*)", code, re.M)
        found = first.group(2) if first and first.group(1) == "ifndef" else ""
        defined = re.search(rf"^\s*#\s*define\s+{found or '-'}\s*$", code, re.M)
        if path.startswith(HEADERS):
            is_right = found == guard_of(path) and defined
        else:
            is_right = found.startswith("ALLOCSCOPE_") and defined
        if not is_right:
            problems.append(Problem(
                path, line_of(text, first.start(1)) if first else 1,
                f"the guard is {found or 'missing'}", "a guard that follows the path is unique",
                f"#ifndef {guard_of(path)}\n         #define {guard_of(path)}"))
        elif path.startswith(HEADERS) and not text.rstrip().endswith(
                f"#endif  // {guard_of(path)}"):
            problems.append(Problem(path, text.count("\n"), "the last line does not name the guard",
                                    "the reader of a diff must see that the file ends here",
                                    f"#endif  // {guard_of(path)}"))
    return sorted(set(problems), key=str)


def unique_stems(tree):
    # A door may share its name with a file in the room behind it.
    problems, seen = [], {}
    for path, _ in tree.headers():
        name = path.rsplit("/", 1)[1]
        if room_of(path) in ("root", "integrations", "define_once"):
            continue
        if name in seen:
            problems.append(Problem(
                path, 1, f"has the same name as {seen[name]}",
                "people and debuggers name a file without its folder",
                "rename one of them after the idea that only it has"))
        seen[name] = path
    return problems


def sizes(tree):
    problems = []
    for path, text in tree.with_ending(".hpp", ".cpp"):
        lines = text.count("\n")
        if path.startswith("single_include/") or lines <= MANY_LINES:
            continue
        if lines > MOST_LINES:
            problems.append(Problem(path, lines, f"has {lines} lines",
                                    f"one idea fits into {MANY_LINES}; {MOST_LINES} is the limit",
                                    "split it by ideas and name each file after its own"))
        else:
            print(f"note: {path} has {lines} lines: is it still one idea?")
    return problems


def macros(tree):
    problems = []
    for path, text in tree.with_ending(".hpp", ".cpp"):
        if path.startswith("single_include/"):
            continue
        code = without_comments_and_texts(text)
        for found in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", code, re.M):
            name = found.group(1)
            foreign = not path.startswith(HEADERS) and name.startswith(
                ("DOCTEST_", "CATCH_CONFIG_", "_GNU_SOURCE"))
            if not name.startswith("ALLOCSCOPE_") and not foreign:
                problems.append(Problem(
                    path, line_of(text, found.start(1)), f"defines the macro {name}",
                    "macros know no namespaces: only the prefix keeps them apart from a user's",
                    f"#define ALLOCSCOPE_{name.upper().lstrip('_')}, or a constexpr or function"))
        for found in re.finditer(r"_PRAGMA\(GCC optimize\(.*?\)\)[ \t]*\S", text):
            problems.append(Problem(
                path, line_of(text, found.start()), "something follows this pragma in its macro",
                "g++ 16 forgets the rest of the macro when the pragma changes the level",
                "put the pragma last"))
    return problems


CARD = ("// a.hpp - a sample.\n//\n// Room:     base (floor 0), malloc-safe\n// Called:   never\n"
        "// Threads:  any\n// Memory:   none\n")
A = HEADERS + "base/a.hpp"
GUARDED = "#ifndef ALLOCSCOPE_BASE_A_HPP\n#define ALLOCSCOPE_BASE_A_HPP\n{}"
END = "#endif  // ALLOCSCOPE_BASE_A_HPP\n"
CHECKS = {
    "cards": (cards, [
        {A: "#ifndef X\n"},
        {A: CARD.replace("a.hpp", "b.hpp")},
        {A: CARD.replace("(floor 0), malloc-safe", "(floor 0), not malloc-safe")},
        {A: CARD.replace("Threads:", "Thread:")},
    ], {A: CARD}),
    "callers": (callers, [
        {A: CARD.replace("never", "by tables/b.hpp"), HEADERS + "tables/b.hpp": ""},
        {A: CARD.replace("never", "by whoever\n//           asks, and by tables/")},
    ], {A: CARD.replace("never", "by tables/b.hpp and\n//           tables/"),
        HEADERS + "tables/b.hpp": "#include <allocscope/base/a.hpp>\n"}),
    "guards": (guards, [
        {A: "#pragma once\n"},
        {A: "struct a {};\n"},
        {A: GUARDED.format(END).replace("_BASE_A", "_A")},
        {A: GUARDED.format("#endif\n")},
        {A: "#ifndef ALLOCSCOPE_BASE_A_HPP\n" + END},
        {"tests/support/a.hpp": "#ifndef A_HPP\n#define A_HPP\n#endif\n"},
    ], {A: CARD + GUARDED.format(END)}),
    "unique_stems": (unique_stems, [{A: "", HEADERS + "tables/a.hpp": ""}],
                     {A: "", HEADERS + "tables/b.hpp": "", HEADERS + "a.hpp": ""}),
    "sizes": (sizes, [{A: "\n" * (MOST_LINES + 1)}], {A: "\n" * MANY_LINES}),
    "macros": (macros, [
        {A: "#define CHECK(x) x\n"},
        {"tests/a.cpp": "  # define N 1\n"},
        {A: "#define ALLOCSCOPE_A \\\n  A_PRAGMA(GCC optimize(__VA_ARGS__)) \\\n  namespace a {\n"},
    ], {A: "#define ALLOCSCOPE_A A_PRAGMA(GCC optimize(__VA_ARGS__))\n// #define B 1\n",
        "tests/a.cpp": "#define DOCTEST_CONFIG_IMPLEMENT\n"}),
}
