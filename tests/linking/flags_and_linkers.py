"""No flag, optimisation or linker removes or bypasses the hooks.

The same program built in many ways must count the same. The few pairs of new and delete that nobody
looks at are the exception: a compiler may remove those, and must not when it does not optimise (see
compile_matrix.py).
"""
from toolchain import LIBRARIES, WARNINGS, bench, check_all, expect_in, failure, run

EVERYTHING = "seen 1008 allocations, 1001 frees, 7 live, 7 in rows\n"
# -g1, as all that is asked of the debug information here is a line: half the time to compile.
BASE = ["-O2", "-g1", "-fno-omit-frame-pointer"]
SECTIONS = ["-ffunction-sections", "-fdata-sections"]

# name, compile flags, link flags
COMMON = [
    ("-O2", BASE, []),
    ("-O2 -rdynamic", BASE, ["-rdynamic"]),
    ("-O2 stripped", BASE, ["-s"]),
    ("-O2 --as-needed -z now", BASE, ["-Wl,--as-needed", "-Wl,-z,now"]),
    ("-O2 -Bsymbolic", BASE, ["-Wl,-Bsymbolic"]),
    ("-O2 -static", BASE, ["-static"]),
    ("-O2 -static-pie", BASE, ["-static-pie"]),
    ("-O2 -static-libstdc++", BASE, ["-static-libstdc++", "-static-libgcc"]),
    ("-O2 lld", BASE, ["-fuse-ld=lld"]),
    ("-O2 gold", BASE, ["-fuse-ld=gold"]),
]
# With -flto g++ compares our declarations with its own, in a file before ours that has it call what
# they declare.
MISMATCH = "-Werror=lto-type-mismatch"
# Each of these compiles the hooks anew, which takes most of the time: not all with both compilers.
AGGRESSIVE = ["-O3", "-g1", *SECTIONS, "-fno-plt", "-fno-pie", "-fvisibility=hidden",
              "-fvisibility-inlines-hidden", "-D_FORTIFY_SOURCE=2"]
BY_COMPILER = {
    "g++": [
        ("-O2 -flto", [*BASE, "-flto"], ["-O2", "-flto", MISMATCH]),
        ("-O3 --gc-sections -fno-plt non-PIE hidden", AGGRESSIVE,
         ["-Wl,--gc-sections", "-no-pie"]),
        ("-O3 lld --icf=all", AGGRESSIVE,
         ["-Wl,--gc-sections", "-no-pie", "-fuse-ld=lld", "-Wl,--icf=all"]),
        ("-O3 gold --icf=all", AGGRESSIVE,
         ["-Wl,--gc-sections", "-no-pie", "-fuse-ld=gold", "-Wl,--icf=all"]),
    ],
    "clang++": [("-O2 -flto lld", [*BASE, "-flto"], ["-O2", "-flto", "-fuse-ld=lld"])],
}


def check(tools, compiler, name, compile_flags, link_flags):
    if not tools.can_link(compiler, *link_flags, *LIBRARIES):
        return "skipped, this tool chain cannot link so"
    warnings = [] if "-flto" in compile_flags else WARNINGS
    sources = [*(["own_static.cpp"] if MISMATCH in link_flags else []), "probe.cpp"]
    program = tools.link(compiler, tools.folder(f"flags {compiler} {name}") / "probe", *link_flags,
                         *[tools.compile(compiler, source, *compile_flags, *warnings)
                           for source in sources])
    output = run([program]).stdout
    expect_in("not recording: \"\"\n", output)
    expect_in(EVERYTHING, output)
    rows = [line for line in output.splitlines() if line.startswith("row ")]
    if sum(int(row.split()[1]) for row in rows) != 7:
        raise failure(f"the rows do not hold the 7 objects:\n{output}")
    for row in rows:
        place = row.split(maxsplit=2)[2]
        if "probe" not in place:
            raise failure(f"neither the file nor, without symbols, the module is named:\n{output}")
    return rows[0]


def main():
    tools = bench()
    cases = [(f"{compiler}: {case[0]}",
              lambda compiler=compiler, case=case: check(tools, compiler, *case))
             for compiler in tools.compilers
             for case in COMMON + BY_COMPILER.get(compiler, [])]
    check_all(cases)


if __name__ == "__main__":
    main()
