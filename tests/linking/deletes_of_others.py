"""Blocks that are allocated through our operators and freed through others, and the reverse.

Where both sides are ours the numbers are exact. A library with operators of its own, hidden inside
it, is not seen by operator hooks; its blocks and ours may still cross without harm.
"""
from toolchain import WARNINGS, bench, check_all, expect, failure, run


def pairings(output):
    result = {}
    for line in output.splitlines():
        name, numbers = line.split(": ")
        result[name] = tuple(int(word) for word in numbers.replace(",", "").split()
                             if word.isdigit())
    return result


def check(tools, compiler):
    folder = tools.folder(f"foreign {compiler}")
    flags = ["-O2", "-g", *WARNINGS]
    libraries = []
    for name, link_flags in (("shared", []),
                             ("closed", ["-static-libstdc++", "-static-libgcc",
                                         "-Wl,--exclude-libs,ALL", "-Wl,-Bsymbolic"])):
        part = tools.compile(compiler, "foreign_part.cpp", *flags, "-fPIC",
                             f"-DALLOCATE={name}_allocate", f"-DFREE={name}_free")
        libraries.append(tools.link(compiler, folder / f"lib{name}.so", "-shared", part,
                                    *link_flags))
    program = tools.link(compiler, folder / "program",
                         tools.compile(compiler, "foreign_main.cpp", *flags),
                         tools.hooks(compiler), *libraries, f"-Wl,-rpath,{folder}")
    seen = pairings(run([program]).stdout)
    expect(len(seen), 9, "number of pairings")
    for maker in ("own", "shared"):
        for killer in ("own", "shared"):
            expect(seen[f"{maker} to {killer}"], (1001, 1000, 1), f"{maker} to {killer}")
        allocations, frees, last = seen[f"{maker} to closed"]
        expect((allocations, last), (1001, 1), f"{maker} to closed")
        if frees > 1000:
            raise failure(f"{maker} to closed: more frees than blocks: {frees}")
    for killer in ("own", "shared", "closed"):
        expect(seen[f"closed to {killer}"], (1, 0, 1), f"closed to {killer}")
    return f"own to closed: {seen['own to closed']}"


def main():
    tools = bench()
    check_all([(compiler, lambda compiler=compiler: check(tools, compiler))
               for compiler in tools.compilers])


if __name__ == "__main__":
    main()
