"""What holds for every text: characters, columns, endings, words, links."""

import posixpath
import re

from source_tree import HEADERS, Problem

MOST_COLUMNS = 100
CODE = (".hpp", ".cpp", ".py", ".cmake", "CMakeLists.txt")
# Put together so that this file does not find itself.
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" "DO", "FIX" "ME", "X" "XX", "not " "implemented"])
                        + r")\b")
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
NAMED_PATH = re.compile(r"`((?:include|tests|cmake|docs|examples|benchmarks|single_include)/"
                        r"[\w./-]+)`")


def plain(tree):
    problems = []
    for path, text in tree.with_ending(*CODE):
        if path.startswith("single_include/"):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            odd = next((character for character in line if not " " <= character <= "~"), None)
            if odd == "\t":
                problems.append(Problem(path, number, "has a tab", "tabs look different everywhere",
                                        "four spaces"))
            elif odd:
                problems.append(Problem(
                    path, number, f"has the character U+{ord(odd):04X}",
                    "sources are ASCII, so that every tool reads them alike",
                    "write it in ASCII, or as \\u escape in a literal"))
            if len(line) > MOST_COLUMNS:
                problems.append(Problem(path, number, f"has {len(line)} columns",
                                        "two files side by side must fit a screen",
                                        f"break the line before column {MOST_COLUMNS + 1}"))
            if line != line.rstrip():
                problems.append(Problem(path, number, "ends with blanks", "they only make diffs",
                                        "remove them"))
    return problems


def environment(tree):
    problems = []
    for path, text in tree.with_ending(".hpp", ".cpp"):
        if not path.startswith((HEADERS, "tools/")):
            continue
        for found in re.finditer(r"(?<!secure_)\bgetenv\s*\(", text):
            problems.append(Problem(
                path, text.count("\n", 0, found.start()) + 1, "calls getenv",
                "in a program with raised privileges the environment is the attacker's",
                "::secure_getenv(...)"))
    return problems


def last_lines(tree):
    problems = []
    for path, text in tree.with_ending(""):
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            problems.append(Problem(path, text.count("\n") + 1, "does not end with one newline",
                                    "a line that is added after it would change it too",
                                    "end the file with exactly one newline"))
    return problems


def words(tree):
    """Nothing unfinished, and no path that only exists on somebody's machine."""
    machine = None
    if tree.root is not None and str(tree.root).count("/") > 1:
        machine = re.compile(rf"(?<![\w./-]){re.escape(str(tree.root))}\b")
    problems = []
    for path, text in tree.with_ending(""):
        for number, line in enumerate(text.split("\n"), 1):
            found = UNFINISHED.search(line)
            if found:
                problems.append(Problem(path, number, f"says {found.group(0)}",
                                        "a promise in a comment is kept by nobody",
                                        "do it, or say plainly what does not work and why"))
            if machine and machine.search(line):
                problems.append(Problem(path, number, "names a path of this machine",
                                        "it exists nowhere else", "write a relative path"))
    return problems


def doc_links(tree):
    problems = []
    folders = {posixpath.dirname(path) for path in tree.files}
    for path in list(folders):
        while path:
            folders.add(path)
            path = posixpath.dirname(path)

    def exists(target):
        # A file that is not a text (a picture) is looked up on the disk.
        return (target in tree.files or target in folders
                or (tree.root is not None and (tree.root / target).exists()))

    for path, text in tree.with_ending(".md"):
        for number, line in enumerate(text.split("\n"), 1):
            wanted = [(found, posixpath.normpath(posixpath.join(posixpath.dirname(path), found)))
                      for found in (link.split("#")[0] for link in LINK.findall(line))
                      if found and not re.match(r"\w+:", found)]
            wanted += [(found, found.rstrip("/")) for found in NAMED_PATH.findall(line)]
            for found, target in wanted:
                if not exists(target):
                    problems.append(Problem(path, number, f"points to {found}, which is not there",
                                            "a reader who follows it is lost",
                                            "correct the path or remove the mention"))
    return problems


A = HEADERS + "base/a.hpp"
CHECKS = {
    "plain": (plain, [{A: "// \u00e9\n"}, {A: "\tint a;\n"}, {A: "x" * 101 + "\n"},
                      {A: "int a; \n"}],
              {A: "x" * 100 + "\n", "README.md": "\u00e9\n"}),
    "environment": (environment, [{HEADERS + "base/a.hpp": "std::getenv(name);\n"},
                                  {"tools/a.cpp": "getenv (\"A\")\n"}],
                    {HEADERS + "base/a.hpp": "::secure_getenv(name);\n",
                     "tests/a.cpp": "getenv(name)\n"}),
    "last_lines": (last_lines, [{A: "int a;"}, {"a.md": "text\n\n"}], {A: "int a;\n"}),
    "words": (words, [{A: "// TO" "DO: later\n"}, {"README.md": "not " "implemented\n"}],
              {A: "// mkstemp(XXXXXX)\n"}),
    "doc_links": (doc_links, [
        {"docs/a.md": "see [b](b.md)\n"},
        {"docs/a.md": "see `include/allocscope/none.hpp`\n"},
    ], {"docs/a.md": "[b](b.md#c) [c](https://example.org) [d](../docs) `docs/b.md` [e](#f)\n",
        "docs/b.md": ""}),
}
