"""Rows of allocscope::allocator<T> show T: in every container, by each compiler, optimised or not,
with debug information or without, and also where the linker makes one function of two that are
equal.
"""
import itertools

from toolchain import WARNINGS, bench, check_all, expect, run

ORDER = "[app::order]"
PAIR = "[std::pair<const int, app::order>]"
# Of libstdc++: the types of the rows, the order of rows left aside.
WANTED = {
    "vector": [ORDER],
    "vector of the same size": ["[app::offer]"],
    "vector of wide": ["[app::wide]"],
    "vector of pointers": ["[app::order*]"],
    "deque": [ORDER, "[app::order*]"],
    "list": [ORDER],
    "forward_list": [ORDER],
    "set": [ORDER],
    "multiset": [ORDER],
    "map": [PAIR],
    "multimap": [PAIR],
    "unordered_set": [ORDER, "[hash buckets]"],
    "unordered_map": [PAIR, "[hash buckets]"],
    "string": ["[char]"],
    "allocate_shared": [ORDER],
}
FOLDING = ["-fuse-ld=gold", "-Wl,--icf=all"]
LAST = "equal: 1, too many are refused: 1"


def check(tools, compiler, standard, flags, linking=()):
    if linking and not tools.can_link(compiler, *linking):
        return "skipped: there is no such linker"
    folder = tools.folder(f"typed {compiler} {standard} {flags} {linking}")
    program = tools.link(compiler, folder / "program",
                         tools.compile(compiler, "typed_rows.cpp", *flags, *WARNINGS,
                                       standard=standard), tools.hooks(compiler), *linking)
    lines = run([program]).stdout.splitlines()
    seen = {}
    for line in lines[:-1]:
        name, rest = line.split(":", 1)
        types, left = rest.rsplit(",", 1)
        expect(left, " 0 left", f"{name}: what is left")
        seen[name] = sorted(set(types.strip().replace("] [", "]\0[").split("\0")))
    for name, wanted in WANTED.items():
        expect(seen.get(name), sorted(wanted), f"types in the rows of {name}")
    expect(lines[-1], LAST, "the last line")
    return ""


def main():
    tools = bench()
    cases = []
    optimised = ["-O2", "-ffunction-sections"]  # one object, linked with and without folding
    for compiler, (standard, flags) in itertools.product(
            tools.compilers, (("c++17", ["-O0"]), ("c++17", ["-O2", "-g"]), ("c++17", optimised),
                              ("c++20", ["-O2"]))):
        cases.append((f"{compiler} {standard} {' '.join(flags)}",
                      lambda c=compiler, s=standard, f=flags: check(tools, c, s, f)))
    for compiler in tools.compilers:
        cases.append((f"{compiler}, equal functions are one",
                      lambda c=compiler: check(tools, c, "c++17", optimised, FOLDING)))
    check_all(cases)


if __name__ == "__main__":
    main()
