"""What could go wrong in one line, and which tests see it.

<room>.toml beside this file has the mutants of the headers in that room, tools.toml those of the
command. run.py tries each; apply_test.py holds that each line is there still. A mutant:

    file    the name of a header, or of a file of tools/
    line    the whole line, without its margin and the comment behind it; there once, or
    after   the first such line behind this one
    becomes what stands there instead; empty: nothing
    tests   as ctest names them; one of them has to fail
    user    what the mistake would do to somebody who uses the library

Not in the lists, because nothing comes of it: without the question for the session in remove_record
and remove_sample the death of an older object is counted in the cohort of its birth, which belongs
to no open window. A generation of the tables that stays the same: the boundary clock has moved as
well, and makes a thread forget all that is of the older tables.
"""
import dataclasses
import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = pathlib.Path(__file__).parent
KEYS = {"name", "file", "line", "becomes", "after", "tests", "user"}


class cannot_apply(Exception):
    """The line is not there once."""


@dataclasses.dataclass
class mutant:
    name: str
    file: str
    line: str
    becomes: str
    tests: list
    user: str
    after: str = ""
    room: str = ""


def read_lists(folder=LISTS):
    mutants = []
    for path in sorted(folder.glob("*.toml")):
        with open(path, "rb") as file:
            entries = tomllib.load(file)["mutant"]
        for entry in entries:
            unknown = entry.keys() - KEYS
            if unknown:
                raise ValueError(f"mutant \"{entry.get('name')}\" has unknown keys: {unknown}")
        mutants += [mutant(**entry, room=path.stem) for entry in entries]
    return mutants


def code_of(line):
    """The line without its margin and the comment behind it."""
    return line.split("  // ")[0].strip()


def file_named(tree, name):
    """The name of a file is unique in include/ and tools/: it is found wherever its room is."""
    found = [path for folder in ("include", "tools")
             for path in (pathlib.Path(tree) / folder).rglob(name)]
    if len(found) != 1:
        raise cannot_apply(f"{len(found)} files have the name {name}")
    return found[0]


def room_of(tree, path):
    """The list that a file's mutants are in."""
    top, *folders, _ = path.relative_to(tree).parts
    return top if top == "tools" else folders[1] if len(folders) > 1 else "root"


def mutated(text, wanted):
    """The text with the one line changed."""
    lines = text.split("\n")
    first = 0
    if wanted.after:
        anchors = [i for i, line in enumerate(lines) if code_of(line) == code_of(wanted.after)]
        if len(anchors) != 1:
            raise cannot_apply(f"{len(anchors)} lines are: {wanted.after}")
        first = anchors[0] + 1
    places = [i for i in range(first, len(lines)) if code_of(lines[i]) == code_of(wanted.line)]
    if not places or len(places) > 1 and not wanted.after:
        raise cannot_apply(f"{len(places)} lines are: {wanted.line}")
    margin = lines[places[0]][:len(lines[places[0]]) - len(lines[places[0]].lstrip())]
    lines[places[0]] = margin + wanted.becomes
    return "\n".join(lines)


def apply(tree, wanted):
    """Changes the file below the folder `tree`; returns its path."""
    path = file_named(tree, wanted.file)
    path.write_text(mutated(path.read_text(), wanted))
    return path


def sources_of(test, root=ROOT):
    """(sources, plugins) of a test, from the name that ctest has for it. A script is its own
    source: one that builds what it needs against the headers it is given, as
    tests/linking/toolchain.py says."""
    group, _, topic = test.rpartition("/")
    folder = root / "tests" / test
    if (folder / "main.cpp").exists():
        plugins = sorted(folder.glob("plugin_*.cpp"))
        return [path for path in sorted(folder.glob("*.cpp")) if path not in plugins], plugins
    for name in (f"{topic}_test.cpp", f"{topic}.py", f"{topic}.cpp", f"{topic}_test.py"):
        if (root / "tests" / group / name).exists():
            return [root / "tests" / group / name], []
    raise cannot_apply(f"there is no test {test}")
