"""Calls to which the compiler gives no line, or that of a brace, stand on the line of their text.

g++ says that what an expression makes on the way - an aggregate in an argument list, what a lambda
captures, the frame of a coroutine - is made at the closing brace of the function. clang -O2 writes
line 0 where it merged two branches. odd_lines.cpp says in comments what belongs on which line.
"""
import itertools
import re

from toolchain import SOURCES, WARNINGS, bench, check_all, failure, run


def lines_of_source(has_coroutines):
    """{name: (lines, types)}"""
    wanted = {}
    for number, text in enumerate((SOURCES / "odd_lines.cpp").read_text().splitlines(), 1):
        found = re.search(r"// line: (\w+) (.*)", text)
        if found and (has_coroutines or found[1] not in ("coroutine", "loop")):
            lines, _ = wanted.setdefault(found[1], ([], found[2].split(", ")))
            lines.append(number)
    return wanted


def check(tools, compiler, level, standard):
    main = tools.compile(compiler, "odd_lines.cpp", level, "-g", *WARNINGS, standard=standard)
    folder = tools.folder(f"lines {compiler} {level}")
    program = tools.link(compiler, folder / "odd", main, tools.hooks(compiler))
    printed = run([program], cwd=SOURCES).stdout
    rows = [line.split(" ") for line in printed.splitlines()]
    lines = {}
    for row in rows:
        lines.setdefault(int(row[0]), []).append(" ".join(row[1:-1]))
    brace = [n for n in lines if (SOURCES / "odd_lines.cpp").read_text().splitlines()[n - 1].strip()
             == "}" or n == 0]
    missing = []
    for name, (places, types) in lines_of_source(standard == "c++20").items():
        known = [kind for place in places for kind in lines.get(place, [])]
        # Where branches are merged nobody knows whose type it is.
        is_there = all(kind in known or kind == "*" or (name == "either" and "?" in known)
                       for kind in types) and len(known) >= len(types)
        if not is_there:
            missing.append(f"{name} at {places}: {types}")
    if brace or missing:
        raise failure(f"at a brace or at line 0: {brace}, missing: {missing}\n{printed}")


def main():
    tools = bench()
    cases = []
    for compiler, level in itertools.product(tools.compilers, ("-O0", "-O2", "-O3")):
        standard = "c++17" if "clang" in compiler else "c++20"
        cases.append((f"{compiler} {level}",
                      lambda c=compiler, l=level, s=standard: check(tools, c, l, s)))
    check_all(cases)


if __name__ == "__main__":
    main()
