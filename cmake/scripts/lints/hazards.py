"""tests/hazards.toml: what it names as evidence exists."""

import re

from source_tree import Problem

LIST = "tests/hazards.toml"
LIMITS = "docs/limits.md"
ENTRY = re.compile(r"^([A-K]\d+) = \[(.*?)\]$", re.M | re.S)
NAME_IN_CMAKE = re.compile(r"\b[a-z_]+/[\w${}]+")
LEAST_LETTERS = 4  # of a name behind the slash; what has fewer fits every test of its folder
SOURCES = ("{}/main.cpp", "{}_test.cpp", "{}.cpp", "{}_test.py", "{}.py", "{}.toml")
# The lists that name each command or program of a test.
OF_MANY = ("programs/hazards", "programs/transparency")


def names_in_cmake(tree):
    """Of the tests that a CMakeLists.txt makes by itself, some in a loop: expressions."""
    found = set()
    for path, text in tree.with_ending("CMakeLists.txt"):
        if path.startswith("tests/"):
            found.update(NAME_IN_CMAKE.findall(text))
    patterns = []
    for name in found:
        letters = re.sub(r"\$\{\w+\}|[^a-z]", "", name.partition("/")[2])
        if len(letters) >= LEAST_LETTERS:
            words = re.split(r"\$\{\w+\}", name)
            patterns.append(re.compile(r"\w+".join(re.escape(word) for word in words)))
    return patterns


def sources_of(tree, test):
    """The texts of a test, found by its name."""
    places = [pattern.format("tests/" + test) for pattern in SOURCES]
    topic = test.split("/")[-1]
    return [text for path, text in tree.files.items() if path in places
            or path.startswith(f"tests/{test}/") or path.endswith(f"/{topic}/main.cpp")]


def is_there(tree, generated, evidence):
    kind, _, part = evidence.partition(": ")
    if kind == "limits":
        return f"\n| {part}" in tree.files.get(LIMITS, "")
    if kind == "not here":
        return bool(part)
    if kind in OF_MANY:
        # The name of a command, of a program, or of a way to run it; not what a script contains.
        return f'"{part}' in tree.files.get(f"tests/{kind}.toml", "")
    texts = sources_of(tree, kind)
    if part:
        return any(part in text for text in texts)
    if kind.startswith("lint/"):
        return any(f'"{kind[5:]}": (' in text for path, text in tree.files.items()
                   if path.startswith("cmake/scripts/lints/"))
    return bool(texts) or any(name.fullmatch(kind) for name in generated)


def hazards(tree):
    problems = []
    generated = names_in_cmake(tree)
    text = tree.files.get(LIST, "")
    rows = {}
    for entry in ENTRY.finditer(text):
        rows.setdefault(entry.group(1)[0], []).append(int(entry.group(1)[1:]))
        line = text.count("\n", 0, entry.start()) + 1
        _, *evidence = re.findall(r'"([^"]*)"', entry.group(2))
        wrong = [each for each in evidence if not is_there(tree, generated, each)]
        wrong += [] if evidence else ["nothing"]
        problems += [Problem(LIST, line, f"{entry.group(1)} rests on {each}, which is not there",
                             "a hazard without evidence comes back unseen",
                             f"name the test, or the row of {LIMITS}, that has this duty now")
                     for each in wrong]
    return problems + [
        Problem(LIST, 1, f"{letter} has the numbers {numbers}",
                "a row that is written wrongly, or left out, would be checked by nobody",
                "write NUMBER = [\"hazard\", evidence] for each, in order, from 1")
        for letter, numbers in rows.items() if numbers != list(range(1, len(numbers) + 1))]


CHECKS = {
    "hazards": (hazards, [
        {LIST: 'A1 = ["early", "process/gone"]\n'},
        {LIST: 'A1 = ["early", "a/b"]\n', "tests/CMakeLists.txt": "NAME ${group}/${topic}\n"},
        {LIST: 'A1 = ["early"]\n'},
        {LIST: 'A1 = ["early", "lint/gone"]\n', "cmake/scripts/lints/texts.py": "gone"},
        {LIST: 'A2 = ["early", "not here: nothing begins"]\n'},
        {LIST: 'A1 = ["early", "process/early: late"]\n', "tests/process/early/main.cpp": "soon"},
        {LIST: 'A1 = ["early", "limits: Late"]\n', LIMITS: "\n| Early | is seen |\n"},
        {LIST: 'A1 = ["early", "programs/hazards: late"]\n',
         "tests/programs/hazards.toml": 'name = "early"\n', "tests/programs/hazards.py": "late"},
    ], {LIST: 'A1 = ["early", "process/early: soon", "limits: Early",\n      "a/b_over_c"]\n',
        "tests/process/early/main.cpp": "soon", LIMITS: "\n| Early | is seen |\n",
        "tests/a/CMakeLists.txt": "add_test(NAME a/${topic}_over_${other})\n"}),
}
