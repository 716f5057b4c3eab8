"""Each mutant still has its one line, its tests exist, and it is in the list of its room. Whether
the tests kill it, run.py finds out."""
import sys

from mutant_list import (ROOT, cannot_apply, file_named, mutant, mutated, read_lists, room_of,
                         sources_of)


def self_test():
    one = mutant("x", "a.hpp", "b;", "", [], "")
    assert mutated("a;\n  b;  // why\nc;", one) == "a;\n  \nc;"
    for text in ("a;", "b;\nb;"):
        try:
            mutated(text, one)
        except cannot_apply:
            continue
        raise AssertionError(text)
    one.after = "a;"
    assert mutated("b;\na;\nb;\nb;", one) == "b;\na;\n\nb;"


def main():
    self_test()
    problems = []
    mutants = read_lists()
    for each in mutants:
        try:
            path = file_named(ROOT, each.file)
            text = path.read_text()
            if mutated(text, each) == text:
                raise cannot_apply("it changes nothing")
            if each.room != room_of(ROOT, path):
                raise cannot_apply(f"it is in {each.room}.toml, not {room_of(ROOT, path)}.toml")
            if not each.tests:
                raise cannot_apply("no test is named")
            for test in each.tests:
                sources_of(test)
        except cannot_apply as error:
            problems.append(f"mutant \"{each.name}\" ({each.file}): {error}\n"
                            "    why: a mutant that does not apply no longer shows that the tests"
                            " can fail\n"
                            f"    fix: in tests/mutants/{each.room}.toml name the line that has the"
                            " same duty now")
    if len({each.name for each in mutants}) != len(mutants):
        problems.append("two mutants have the same name")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(mutants)} mutants apply")


if __name__ == "__main__":
    main()
