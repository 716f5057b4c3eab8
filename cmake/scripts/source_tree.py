"""The repository as the scripts see it: texts by path, and the small grammar of our headers."""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = "include/allocscope/"

# Folders that hold no source of ours.
SKIPPED = {"build", ".git", ".cache", "__pycache__", "fixtures", "corpus"}
# A folder of crash inputs or recorded outputs is data, not text that we wrote.
TEXT_ENDINGS = (".hpp", ".cpp", ".h", ".c", ".py", ".cmake", ".md", ".txt", ".in", ".json", ".sh",
                ".toml")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"][ \t]*(//.*)?$', re.M)


class Problem:
    """What is wrong, why the rule exists, and the edit that mends it."""

    def __init__(self, path, line, what, why, fix):
        self.path, self.line, self.what, self.why, self.fix = path, line, what, why, fix

    def __str__(self):
        return (f"{self.path}:{self.line}: {self.what}\n"
                f"    why: {self.why}\n    fix: {self.fix}")


class Tree:
    """Texts by path. The self-tests build one from a dictionary, without files."""

    def __init__(self, files, root=None):
        self.files = files
        self.root = root

    def headers(self):
        """(path, text) of each header of the library, sorted."""
        return [(path, self.files[path]) for path in sorted(self.files)
                if path.startswith(HEADERS) and path.endswith(".hpp")]

    def with_ending(self, *endings):
        return [(path, self.files[path]) for path in sorted(self.files) if path.endswith(endings)]


def read_repository(root=ROOT):
    files = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED
                            and (not name.startswith(".") or name == ".ci"))
        for name in names:
            path = pathlib.Path(folder, name)
            relative = path.relative_to(root).as_posix()
            if name.endswith(TEXT_ENDINGS) or relative.startswith(".ci/"):
                try:
                    files[relative] = path.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    files[relative] = path.read_text(encoding="latin-1")
    return Tree(files, root)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def room_of(path):
    """include/allocscope/tables/x.hpp -> tables; a header beside the rooms -> root."""
    parts = path[len(HEADERS):].split("/")
    return parts[0] if len(parts) > 1 else "root"


def includes_of(text):
    """(line, bracket, name, note) for each #include line."""
    for found in INCLUDE.finditer(text):
        yield line_of(text, found.start()), found.group(1), found.group(2), found.group(3) or ""


def own_includes_of(text):
    """(line, path in the repository) for each include of one of our headers."""
    for line, _, name, _ in includes_of(text):
        if name.startswith("allocscope/"):
            yield line, "include/" + name


def guard_of(path):
    """The guard that a header at this path must have."""
    inner = path[len("include/"):] if path.startswith("include/") else path
    return re.sub(r"[^A-Z0-9]", "_", inner.upper())


def condition_depth(text, line):
    """How many #if are open at a line; 1 is the guard alone."""
    depth = 0
    for before in text.split("\n")[:line - 1]:
        found = re.match(r"[ \t]*#[ \t]*(if|endif)", before)
        if found:
            depth += 1 if found.group(1) == "if" else -1
    return depth


def without_comments_and_texts(text):
    """The same number of lines, with comments and the insides of literals blanked."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)

    def blank(found):
        # An apostrophe inside a number (1'000) is a separator, not a literal.
        start = found.start()
        if found.group(0)[0] == "'" and start > 0 and text[start - 1].isalnum():
            return found.group(0)
        return re.sub(r"[^\n]", " ", found.group(0))

    return pattern.sub(blank, text)


def reachable(tree, first):
    """Our headers that `first` includes, directly or not, itself included."""
    seen, waiting = set(), [first]
    while waiting:
        path = waiting.pop()
        if path in seen or path not in tree.files:
            continue
        seen.add(path)
        waiting.extend(target for _, target in own_includes_of(tree.files[path]))
    return seen
