"""Translation units with different knobs link, agree about every byte, and stay themselves.

The part that is compiled without exceptions must not make the other part abort: at -O0 the linker
keeps one copy of each inline function, and it must not matter which.
"""
import itertools

from toolchain import WARNINGS, bench, check_all, expect, expect_in, run

WITH = ["-DALLOCSCOPE_CONFIG_NO_EXCEPTIONS=0"]
WITHOUT = ["-fno-exceptions", "-DALLOCSCOPE_CONFIG_NO_EXCEPTIONS=1"]


def check(tools, compiler, optimisation, first_is_without, standards):
    base = [optimisation, "-g", *WARNINGS]
    flags = [WITHOUT, WITH] if first_is_without else [WITH, WITHOUT]
    parts = [tools.compile(compiler, "knobs_part.cpp", *base, f"-DPART={number}", *extra,
                           standard=standard)
             for number, extra, standard in zip((1, 2), flags, standards)]
    folder = tools.folder(f"knobs {compiler} {optimisation} {first_is_without} {standards}")
    program = tools.link(compiler, folder / "program", *parts,
                         tools.compile(compiler, "knobs_main.cpp", *base), tools.hooks(compiler))
    output = run([program]).stdout
    lines = output.splitlines()
    expect(lines[0], lines[1], "the layout seen by the second part")
    expect(lines[2:4], ["1 allocations, 1 rows"] * 2, "what the windows saw")
    expect_in("bad options throw", output)


def main():
    tools = bench()
    cases = []
    for compiler, first_is_without in itertools.product(tools.compilers, (False, True)):
        for optimisation, standards in (("-O0", ("c++17", "c++17")), ("-O2", ("c++17", "c++20"))):
            cases.append((f"{compiler} {optimisation} {standards[1]}, the"
                          f" {'first' if first_is_without else 'second'} part without exceptions",
                          lambda c=compiler, o=optimisation, f=first_is_without, s=standards:
                          check(tools, c, o, f, s)))
    check_all(cases)


if __name__ == "__main__":
    main()
